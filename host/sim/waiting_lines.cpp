#include "host/sim/waiting_lines.hpp"

#include <algorithm>

namespace berth::sim {

std::int32_t WaitingLines::line_of(std::int32_t pool, std::int32_t gpus) {
  const std::pair<std::int32_t, std::int32_t> of = one_group_ ? std::pair(0, 0) : std::pair(pool, gpus);
  const auto [found, fresh] = line_at_.try_emplace(of, static_cast<std::int32_t>(lines_.size()));
  if (fresh) {
    Line& line = lines_.emplace_back();
    line.group = line.pool = of.first;
    line.gpus = of.second;
  }
  return found->second;
}

void WaitingLines::make_due(std::int32_t group) {
  if (groups_[at(group)].due) return;
  groups_[at(group)].due = true;
  due_.push_back(group);
}

void WaitingLines::push(std::int32_t line, const JobPlace& place) {
  Line& to = lines_[at(line)];
  if (to.jobs.empty()) groups_[at(to.group)].lines.push_back(line);
  to.jobs.push(place);
  to.look();
  if (to.fresh || to.first.slot != place.slot) return;
  to.fresh = true;
  groups_[at(to.group)].fresh.push_back(line);
  make_due(to.group);
}

void WaitingLines::look_behind_again(std::int32_t pool, const JobPlace& place) {
  const std::int32_t group = one_group_ ? 0 : pool;
  Group& of = groups_[at(group)];
  of.again_behind = of.again ? std::min(of.again_behind, place) : place;
  of.again = true;
  make_due(group);
}

const std::vector<std::int32_t>& WaitingLines::due() {
  last_due_.clear();
  last_due_.swap(due_);
  return last_due_;
}

WaitingLines::Group& WaitingLines::begin(std::int32_t group) {
  group_ = group;
  groups_[at(group)].due = false;
  turns_.clear();
  return groups_[at(group)];
}

void WaitingLines::end(Group& of) {
  for (const std::int32_t line : of.fresh) lines_[at(line)].fresh = false;
  of.fresh.clear();
  of.again = false;
}

void WaitingLines::blocked() {
  remove_turns([gpus = turns_.front().gpus](const Turn& turn) { return turn.gpus >= gpus; });
}

std::int32_t WaitingLines::take_any() {
  for (Line& line : lines_) {
    if (line.jobs.empty()) continue;
    const std::int32_t slot = line.jobs.first().slot;
    line.jobs.pop();
    return slot;
  }
  return -1;
}

}  // namespace berth::sim
