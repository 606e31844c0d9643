#include "host/sim/counts/waiting_lines.hpp"

#include <algorithm>

namespace berth::sim {

std::int32_t WaitingLines::line_of(std::int32_t pool, std::int32_t gpus) {
  if (one_group_) pool = gpus = 0;
  std::vector<std::int32_t>& of_pool = line_at_[to_index(pool)];
  if (of_pool.size() <= to_index(gpus)) of_pool.resize(to_index(gpus) + 1);
  std::int32_t& line = of_pool[to_index(gpus)];
  if (line == 0) line = add_line(pool, gpus) + 1;
  return line - 1;
}

std::int32_t WaitingLines::add_line(std::int32_t pool, std::int32_t gpus) {
  Line& line = lines_.emplace_back();
  line.group = pool;
  line.gpus = gpus;
  heads_.emplace_back();
  return static_cast<std::int32_t>(lines_.size()) - 1;
}

void WaitingLines::make_due(std::int32_t group) {
  if (groups_[to_index(group)].due) return;
  groups_[to_index(group)].due = true;
  due_.push_back(group);
}

void WaitingLines::push(std::int32_t line, const JobPlace& place) {
  Line& to = lines_[to_index(line)];
  if (to.jobs.empty()) groups_[to_index(to.group)].lines.push_back(line);
  to.jobs.push(place);
  to.look();
  if (to.fresh || to.first.job != place.job) return;
  to.fresh = true;
  groups_[to_index(to.group)].fresh.push_back(line);
  make_due(to.group);
}

void WaitingLines::look_behind_again(std::int32_t pool, const JobPlace& place) {
  if (is_empty(pool)) return;  // jobs that are still to come are looked at in any case
  const std::int32_t group = one_group_ ? 0 : pool;
  Group& of = groups_[to_index(group)];
  of.again_behind = of.again ? std::min(of.again_behind, place) : place;
  of.again = true;
  make_due(group);
}

const std::vector<std::int32_t>& WaitingLines::due() {
  last_due_.clear();
  last_due_.swap(due_);
  return last_due_;
}

// Whether a job may fit is unpredictable: the entry is always written, and counted only if it may.
void WaitingLines::add_head(std::int32_t l, const Room& room, bool wanted) {
  const Line& line = lines_[to_index(l)];
  heads_[n_heads_] = {line.first, l, line.gpus};
  n_heads_ += static_cast<std::size_t>(wanted & room.may_do(line.gpus, line.first));
}

template <class Stays>
void WaitingLines::keep_heads(const Stays& stays) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n_heads_; ++i) {
    const LineHead head = heads_[i];
    heads_[kept] = head;
    kept += static_cast<std::size_t>(stays(head));
  }
  n_heads_ = kept;
}

void WaitingLines::begin_heads(std::int32_t group, const Room& room) {
  group_ = group;
  n_heads_ = 0;
  Group& of = groups_[to_index(group)];
  for (const std::int32_t line : of.again ? of.lines : of.fresh) {
    const bool fresh = lines_[to_index(line)].fresh, behind = of.again_behind < lines_[to_index(line)].first;
    add_head(line, room, one_group_ | fresh | behind);
  }
  for (const std::int32_t line : of.fresh) lines_[to_index(line)].fresh = false;
  of.fresh.clear();
  of.due = of.again = false;
}

// There are few, so they are not sorted.
const JobPlace* WaitingLines::next_head() {
  if (n_heads_ == 0) return nullptr;
  const LineHead* next = heads_.data();
  for (std::size_t i = 1; i < n_heads_; ++i) next = heads_[i].first < next->first ? &heads_[i] : next;
  next_ = static_cast<std::size_t>(next - heads_.data());
  return &next->first;
}

void WaitingLines::started(const Room& room) {
  const std::int32_t l = heads_[next_].line;
  heads_[next_] = heads_[--n_heads_];
  Line& line = lines_[to_index(l)];
  line.jobs.pop();
  line.look();
  if (line.jobs.empty()) {
    std::erase(groups_[to_index(group_)].lines, l);
  } else {
    add_head(l, room, true);
  }
}

void WaitingLines::blocked() {
  keep_heads([gpus = heads_[next_].gpus](const LineHead& head) { return head.gpus < gpus; });
}

void WaitingLines::look_behind(const JobPlace& place, const Room& room) {
  keep_heads([&place](const LineHead& head) { return head.first < place; });
  for (const std::int32_t line : groups_[to_index(group_)].lines) add_head(line, room, place < lines_[to_index(line)].first);
}

std::int32_t WaitingLines::take_any() {
  for (Line& line : lines_) {
    if (line.jobs.empty()) continue;
    const std::int32_t job = line.jobs.first().job;
    line.jobs.pop();
    return job;
  }
  return -1;
}

}  // namespace berth::sim
