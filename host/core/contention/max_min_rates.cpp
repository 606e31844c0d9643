#include "host/core/contention/max_min_rates.hpp"

#include <algorithm>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

// This many are always read before the rates are found from nothing.
constexpr std::int64_t kFewRows = 1'000;

}  // namespace

MaxMinRates::MaxMinRates(std::vector<std::int64_t> capacity) : capacity_(std::move(capacity)), links_(capacity_.size()) {
  check_capacities(capacity_);
}

void MaxMinRates::add(std::int32_t id, MaxMinFlow flow) {
  assert(id >= 0 && !is_there(id));
  check_flow(flow, links_.size());
  if (to_index(id) >= flows_.size()) flows_.resize(to_index(id) + 1);
  mark(id);
  Entry& entry = at(id);
  entry.flow = std::move(flow);
  entry.is_there = true;
  for (const LinkPart& row : entry.flow.links) links_[to_index(row.link)].on.push_back({id, std::int64_t{row.part} * entry.flow.weight});
  bound(entry);
  entry.level = entry.least;
  for (const LinkPart& row : entry.flow.links) make_stale(row.link, 0);
  ++n_flows_;
  n_rows_ += static_cast<std::int64_t>(entry.flow.links.size());
  ++n_new_;
}

void MaxMinRates::remove(std::int32_t id) {
  if (!is_there(id)) return;
  mark(id);
  Entry& entry = at(id);
  for (const LinkPart& row : entry.flow.links) {
    std::vector<OnLink>& on = links_[to_index(row.link)].on;
    const auto found = std::find_if(on.begin(), on.end(), [&](const OnLink& one) { return one.flow == id; });
    *found = on.back();
    on.pop_back();
    make_stale(row.link, 0);
  }
  entry.is_there = false;
  entry.level = 0;
  --n_flows_;
  n_rows_ -= static_cast<std::int64_t>(entry.flow.links.size());
}

void MaxMinRates::mark(std::int32_t id) {
  Entry& entry = at(id);
  if (entry.is_changed) return;
  entry.is_changed = true;
  entry.level_before = entry.is_there ? entry.level : -1;
  changed_.push_back(id);
}

// The two smallest levels that a flow's links and its demand give it.
void MaxMinRates::bound(Entry& entry) const {
  entry.least = entry.flow.demand_level();
  entry.least_link = -1;
  entry.second = kNoLevel;
  for (const LinkPart& row : entry.flow.links) {
    const std::int64_t level = links_[to_index(row.link)].level;
    if (level < entry.least) {
      entry.second = entry.least;
      entry.least = level;
      entry.least_link = row.link;
    } else {
      entry.second = std::min(entry.second, level);
    }
  }
}

// The least level that the link cannot exceed: flows that freeze below it stay, and all others rise together.
std::int64_t MaxMinRates::level_asked(std::int32_t link) {
  const std::vector<OnLink>& on = links_[to_index(link)].on;
  const Wide capacity = Wide{capacity_[to_index(link)]} * (kRatesPerByte * kWholePart);
  std::int64_t level = -1;
  for (;;) {
    Wide left = capacity, rising = 0;
    rows_read_ += static_cast<std::int64_t>(on.size());
    for (const OnLink& one : on) {
      const Entry& entry = at(one.flow);
      const std::int64_t bound = entry.least_link == link ? entry.second : entry.least;
      if (bound < level) {
        left -= Wide{one.weight} * bound;
      } else {
        rising += one.weight;
      }
    }
    if (rising == 0) return kNoLevel;
    const auto next = static_cast<std::int64_t>(std::min<Wide>(left / rising, kNoLevel));
    if (next == level || next == kNoLevel) return next;
    level = next;
  }
}

// What changed lies at `key`, so the link's level is above it, before and after.
void MaxMinRates::make_stale(std::int32_t link, std::int64_t key) {
  Link& one = links_[to_index(link)];
  if (one.is_stale) return;  // queued by a key that is not greater: keys only rise
  one.is_stale = true;
  queue_.push({key, link});
}

void MaxMinRates::set_level(std::int32_t link, std::int64_t level, std::int64_t key) {
  links_[to_index(link)].level = level;
  for (const OnLink& one : links_[to_index(link)].on) {
    Entry& entry = at(one.flow);
    const std::int64_t least = entry.least, second = entry.second;
    const std::int32_t least_link = entry.least_link;
    bound(entry);
    if (entry.least == least && entry.second == second && entry.least_link == least_link) continue;
    mark(one.flow);
    entry.level = entry.least;
    rows_read_ += static_cast<std::int64_t>(entry.flow.links.size());
    for (const LinkPart& row : entry.flow.links) {
      if (row.link == link) continue;
      const Link& other = links_[to_index(row.link)];
      const std::int64_t before = least_link == row.link ? second : least;
      const std::int64_t now = entry.least_link == row.link ? entry.second : entry.least;
      // A flow that freezes at the key or above concerns links above the key alone.
      if (before != now && std::max(other.level, other.asked) > key) make_stale(row.link, key);
    }
  }
}

void MaxMinRates::fill() {
  std::vector<MaxMinFlow> flows;
  std::vector<std::int32_t> ids;
  for (std::size_t f = 0; f < flows_.size(); ++f) {
    if (!flows_[f].is_there) continue;
    ids.push_back(static_cast<std::int32_t>(f));
    flows.push_back(flows_[f].flow);
  }
  const std::vector<std::int64_t> levels = max_min_levels(capacity_, flows);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    mark(ids[i]);
    at(ids[i]).least = at(ids[i]).level = levels[i];
    at(ids[i]).least_link = -1;
  }
  // A link's level follows from its flows: those below the highest on it are frozen elsewhere.
  for (std::size_t l = 0; l < links_.size(); ++l) {
    Link& link = links_[l];
    link.is_stale = false;
    link.level = link.asked = [&] {
      Wide left = Wide{capacity_[l]} * (kRatesPerByte * kWholePart), top = 0;
      std::int64_t level = 0;
      for (const OnLink& one : link.on) level = std::max(level, at(one.flow).level);
      for (const OnLink& one : link.on) {
        left -= Wide{one.weight} * at(one.flow).level;
        if (at(one.flow).level == level) top += one.weight;
      }
      return top > 0 && left < top ? level : kNoLevel;
    }();
  }
  for (const std::int32_t id : ids) bound(at(id));
  while (!queue_.empty()) queue_.pop();
  links_settled_ = static_cast<std::int64_t>(links_.size());
}

std::span<const std::int32_t> MaxMinRates::settle() {
  links_settled_ = rows_read_ = 0;
  if (2 * n_new_ > n_flows_) fill();
  while (!queue_.empty()) {
    if (rows_read_ > n_rows_ + kFewRows) {
      fill();
      break;
    }
    const auto [key, link] = queue_.top();
    queue_.pop();
    Link& one = links_[to_index(link)];
    if (one.is_stale) {
      one.is_stale = false;
      one.asked = level_asked(link);
      ++links_settled_;
      if (one.asked != one.level && std::min(one.asked, one.level) > key) queue_.push({std::min(one.asked, one.level), link});
      if (one.asked == one.level || std::min(one.asked, one.level) > key) continue;
    }
    if (one.asked == one.level || std::min(one.asked, one.level) != key) continue;  // out of date
    set_level(link, one.asked < one.level ? one.asked : kNoLevel, key);
    if (one.asked != one.level) queue_.push({one.asked, link});
  }
  n_new_ = 0;
  std::sort(changed_.begin(), changed_.end());
  const auto same = [&](std::int32_t id) {
    Entry& entry = at(id);
    entry.is_changed = false;
    return (entry.is_there ? entry.level : -1) == entry.level_before;
  };
  changed_.erase(std::remove_if(changed_.begin(), changed_.end(), same), changed_.end());
  reported_.swap(changed_);
  changed_.clear();
  return reported_;
}

}  // namespace berth::core
