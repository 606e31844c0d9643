#include "host/core/kept/dead_classes.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/group.hpp"
#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

// All members on one node.
bool on_one_node(const kernel::GroupRow& row) { return row.require_level == 0; }

std::int64_t parts(std::int64_t free, std::int64_t more, std::int64_t needed) {
  return free == kernel::kNoLimit || needed <= 0 ? INT64_MAX : std::max<std::int64_t>(0, free + more) / needed;
}

// The least of `members` and the parts of a resource. A product is faster than a division.
std::int64_t at_most(std::int64_t members, std::int64_t free, std::int64_t more, std::int64_t needed) {
  if (free == kernel::kNoLimit || needed <= 0 || Wide{members} * needed <= Wide{free} + more) return members;
  return std::min(members, parts(free, more, needed));
}

std::int64_t parts_begun(std::int64_t more, std::int64_t needed) { return needed <= 0 ? 0 : (more + needed - 1) / needed; }

}  // namespace

void DeadClasses::Growth::end_node() {
  Node& node = nodes_.back();
  node.end = victims_.size();
  std::sort(victims_.begin() + static_cast<std::ptrdiff_t>(node.begin), victims_.end(),
            [](const Victims& a, const Victims& b) { return b.place < a.place; });
  for (std::size_t i = node.begin + 1; i < node.end; ++i) {
    victims_[i].gpus += victims_[i - 1].gpus;
    victims_[i].cpu += victims_[i - 1].cpu;
    victims_[i].memory += victims_[i - 1].memory;
  }
}

void DeadClasses::Growth::clear() {
  nodes_.clear();
  victims_.clear();
  of_kind_.clear();
  steps_.clear();
}

void DeadClasses::clear() {
  forget();
  kind_ids_.clear();
  kinds_.clear();
  kind_of_.clear();
  group_ids_.clear();
  groups_.clear();
}

void DeadClasses::forget() {
  dead_.clear();
  by_quota_.clear();
  for (Group& group : groups_) {
    group.order.clear();
    group.fresh.clear();
    group.is_changed = false;
  }
  changed_groups_.clear();
}

void DeadClasses::change_group(std::int32_t group) {
  if (!std::exchange(groups_[to_index(group)].is_changed, true)) changed_groups_.push_back(group);
}

std::size_t DeadClasses::listed() const {
  std::size_t places = 0;
  for (const Group& group : groups_) places += group.order.size() + group.fresh.size();
  return places;
}

void DeadClasses::begin_pass(std::size_t classes) {
  dead_.resize(classes);
  n_growths_ = 0;
  turns_.clear();
  ++state_;
  for (const std::int32_t g : changed_groups_) {
    Group& group = groups_[to_index(g)];
    group.is_changed = false;
    std::sort(group.fresh.begin(), group.fresh.end());
    std::erase_if(group.order, [&](const Entry& entry) { return !is_of(entry); });
    std::erase_if(group.fresh, [&](const Entry& entry) { return !is_of(entry); });
    const auto middle = std::ssize(group.order);
    group.order.insert(group.order.end(), group.fresh.begin(), group.fresh.end());
    std::inplace_merge(group.order.begin(), group.order.begin() + middle, group.order.end());
    const auto same = [](const Entry& a, const Entry& b) { return a.of == b.of; };
    group.order.erase(std::unique(group.order.begin(), group.order.end(), same), group.order.end());
    group.fresh.clear();
  }
  changed_groups_.clear();
}

void DeadClasses::set(const kernel::ProblemView& p, const TimedDemands& demands, const WaitingClasses& waiting, std::int32_t of,
                      const OrderPlace& place, std::int64_t missing, bool by_quota) {
  Dead& dead = dead_[to_index(of)];
  if (by_quota && !dead.is_listed) by_quota_.push_back(of);
  leave(dead);
  dead = {place, missing, by_quota, dead.is_listed || by_quota, -1};
  if (missing == kOnlyQuota) return;
  dead.group = group_of(p, demands, waiting.demands(to_index(of)));
  groups_[to_index(dead.group)].fresh.push_back({place, of});
  change_group(dead.group);
}

DeadClasses::Growth& DeadClasses::grow() {
  if (growths_.size() == n_growths_) growths_.emplace_back();
  Growth& growth = growths_[n_growths_++];
  growth.clear();
  return growth;
}

void DeadClasses::begin_turns(const kernel::ProblemView& p, const kernel::PassState& s, const OrderPlace* from) {
  Growth& growth = growths_[n_growths_ - 1];
  if (growth.nodes_.empty()) return;
  growth.of_kind_.resize(kinds_.size());
  first_turns_.clear();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::vector<Entry>& order = groups_[g].order;
    std::size_t at = 0;
    if (from != nullptr) at = to_index(std::lower_bound(order.begin(), order.end(), Entry{*from, 0}) - order.begin());
    if (at == order.size()) continue;
    first_turns_.push_back({order[at].place, n_growths_ - 1, g, at});
    for (const std::int32_t kind : groups_[g].kinds) {
      OrderPlace& first = growth.of_kind_[to_index(kind)].first;
      first = std::min(first, order[at].place);
    }
  }
  for (const Turn& turn : first_turns_) {
    if (!gives_room(p, s, turn)) continue;
    turns_.push_back(turn);
    std::push_heap(turns_.begin(), turns_.end());
  }
}

std::optional<DeadClasses::Woken> DeadClasses::wake_next(const kernel::ProblemView& p, const kernel::PassState& s,
                                                         const OrderPlace* until) {
  while (!turns_.empty() && (until == nullptr || turns_.front().place < *until)) {
    std::pop_heap(turns_.begin(), turns_.end());
    Turn turn = turns_.back();
    turns_.pop_back();
    const std::vector<Entry>& order = groups_[turn.group].order;
    const bool others = !turns_.empty();
    bool goes_on = gives_room(p, s, turn);
    std::optional<Woken> woken;
    while (goes_on && !woken) {
      const Entry& entry = order[turn.at];
      if (is_of(entry)) {
        Dead& dead = dead_[to_index(entry.of)];
        dead.missing -= room(p, s, turn);
        if (dead.missing <= 0) {
          woken = Woken{entry.of, dead.place};
          leave(dead);
        }
      }
      ++turn.at;
      goes_on = turn.at < order.size();
      if (!goes_on) break;
      turn.place = order[turn.at].place;
      if ((until != nullptr && !(turn.place < *until)) || (others && turns_.front().place < turn.place)) break;
      goes_on = gives_room(p, s, turn);
    }
    if (goes_on) {
      turns_.push_back(turn);
      std::push_heap(turns_.begin(), turns_.end());
    }
    if (woken) return woken;
  }
  return std::nullopt;
}

void DeadClasses::wake_by_quota(const kernel::ProblemView& p, const WaitingClasses& waiting, std::span<const std::uint8_t> quota,
                                const OrderPlace* from, std::vector<Woken>& woken) {
  woken.clear();
  std::erase_if(by_quota_, [&](std::int32_t of) {
    Dead& dead = dead_[to_index(of)];
    bool stays = dead.place.job >= 0 && dead.by_quota;
    if (stays && (from == nullptr || !(dead.place < *from))) {
      bool more = false;
      for (std::int32_t q = waiting.queue(to_index(of)); q >= 0; q = p.queue_parent[q]) more = more || quota[to_index(q)] != 0;
      if (more) {
        woken.push_back({of, dead.place});
        leave(dead);
        stays = false;
      }
    }
    dead.is_listed = stays;
    return !stays;
  });
}

// Whether some class of the group may find room, at this place or behind it.
bool DeadClasses::gives_room(const kernel::ProblemView& p, const kernel::PassState& s, const Turn& turn) {
  for (const std::int32_t kind : groups_[turn.group].kinds) {
    if (turn.place < steps_of(p, s, growths_[turn.growth], kind).last) return true;
  }
  return false;
}

// The most members of a class of the group that find room, at this place.
std::int64_t DeadClasses::room(const kernel::ProblemView& p, const kernel::PassState& s, const Turn& turn) {
  Growth& growth = growths_[turn.growth];
  std::int64_t most = 0;
  for (const std::int32_t kind : groups_[turn.group].kinds) {
    const Growth::Steps& steps = steps_of(p, s, growth, kind);
    std::int64_t members = 0;
    for (std::size_t i = steps.begin; i < steps.end; ++i) members += turn.place < growth.steps_[i].place ? growth.steps_[i].members : 0;
    most = std::max(most, members);
  }
  return most;
}

const DeadClasses::Growth::Steps& DeadClasses::steps_of(const kernel::ProblemView& p, const kernel::PassState& s, Growth& growth,
                                                        std::int32_t kind) {
  Growth::Steps& steps = growth.of_kind_[to_index(kind)];
  const Kind& of = kinds_[to_index(kind)];
  if (steps.state == state_ && steps.members == of.members) return steps;
  if (std::exchange(growth.state_, state_) != state_) growth.steps_.clear();
  list_steps(p, s, growth, of, steps);
  return steps;
}

std::int32_t DeadClasses::group_of(const kernel::ProblemView& p, const TimedDemands& demands, std::span<const std::int32_t> rows) {
  kinds_of_.clear();
  for (const std::int32_t row : rows) kinds_of_.push_back(kind_of(p, demands, row));
  std::sort(kinds_of_.begin(), kinds_of_.end());
  kinds_of_.erase(std::unique(kinds_of_.begin(), kinds_of_.end()), kinds_of_.end());
  const auto [found, fresh] = group_ids_.try_emplace(kinds_of_, static_cast<std::int32_t>(groups_.size()));
  if (fresh) groups_.push_back({kinds_of_, {}, {}, false});
  return found->second;
}

std::int32_t DeadClasses::kind_of(const kernel::ProblemView& p, const TimedDemands& demands, std::int32_t timed) {
  if (kind_of_.size() <= to_index(timed)) kind_of_.resize(to_index(timed) + 1, -1);
  std::int32_t& kind = kind_of_[to_index(timed)];
  if (kind >= 0) return kind;
  const std::int32_t demand = demands.demand(timed);
  const TimeUs end = demands.end(timed);
  const kernel::DemandRow& d = p.demands[demand];
  const kernel::GroupRow& row = p.groups[d.group_begin];
  const auto [found, fresh] =
      kind_ids_.try_emplace({d.filter, end, row.gpus, row.cpu, row.memory, row.segment_size, on_one_node(row) ? row.members : 0},
                            static_cast<std::int32_t>(kinds_.size()));
  if (fresh) kinds_.push_back({demand, end, 0});
  kind = found->second;
  kinds_[to_index(kind)].members = std::max<std::int64_t>(kinds_[to_index(kind)].members, row.members);
  return kind;
}

void DeadClasses::list_steps(const kernel::ProblemView& p, const kernel::PassState& s, Growth& growth, const Kind& kind,
                             Growth::Steps& steps) const {
  steps = {state_, kind.members, growth.steps_.size(), 0, {}, steps.first};
  const kernel::DemandRow& d = p.demands[kind.demand];
  const kernel::GroupRow& row = p.groups[d.group_begin];
  const auto add = [&](const OrderPlace& place, std::int64_t members) {
    growth.steps_.push_back({place, members});
    if (steps.last < place) steps.last = place;
  };
  steps.last = {INT64_MIN, INT64_MIN, -1};
  std::int64_t sure = 0;  // with no victim gone
  for (const Growth::Node& grown : growth.nodes_) {
    if (sure >= kind.members) break;
    const std::int32_t node = grown.more.node;
    if (!kernel::in_filter(p, d.filter, node) || !kernel::stays_open(p, node, kind.end)) continue;
    const std::int64_t gpus = std::popcount(s.free[node]), cpu = s.cpu[node], memory = s.memory[node];
    const auto members = [&](const Growth::Victims& gone) -> std::int64_t {
      if (gpus + gone.gpus < row.gpus) return 0;  // mostly
      std::int64_t fit = std::min(parts(gpus, gone.gpus, row.gpus), kind.members);
      fit = at_most(fit, cpu, gone.cpu, row.cpu);
      fit = at_most(fit, memory, gone.memory, row.memory);
      if (on_one_node(row)) return fit < row.members ? 0 : fit;
      // A sum of resources grows by no more members than one of them does.
      if (const std::int64_t by_gpus = parts_begun(grown.more.gpus, row.gpus); by_gpus < fit)
        fit = std::min(fit, std::max({by_gpus, parts_begun(grown.more.cpu, row.cpu), parts_begun(grown.more.memory, row.memory)}));
      // A few members more may complete a segment.
      return row.segment_size > 0 ? (fit + row.segment_size - 1) / row.segment_size * row.segment_size : fit;
    };
    std::int64_t so_far = members({});
    sure += so_far;
    if (so_far > 0) add(Growth::kBehindAll, so_far);
    for (std::size_t v = grown.begin; v < grown.end && steps.first < growth.victims_[v].place; ++v) {
      const std::int64_t now = members(growth.victims_[v]);
      if (now > so_far) add(growth.victims_[v].place, now - so_far);
      so_far = std::max(so_far, now);
    }
  }
  steps.end = growth.steps_.size();
}

std::int64_t members_missing(const kernel::ProblemView& p, const kernel::PassState& s, const kernel::DemandRow& demand, TimeUs end) {
  const kernel::GroupRow& row = p.groups[demand.group_begin];
  const std::int64_t by_gpus = row.gpus > 0 ? row.members - s.type_free[demand.gpu_type] / row.gpus : 0;
  if (by_gpus > 0) return on_one_node(row) ? row.members : by_gpus;
  if (on_one_node(row)) return row.members;
  const auto missing = [&](const kernel::NodeSet& set) {
    const kernel::Measure m = kernel::measure_for(p, s, row, set, row.members);
    return row.members - (m.plain < row.members ? m.plain : kernel::cap_of(row, m));
  };
  const kernel::NodeSet all = kernel::all_nodes(p, demand.filter, end);
  if (!kernel::has_require(row)) return missing(all);
  std::int64_t least = row.members;
  const kernel::DomainRange range = kernel::domains_meeting(p, all, row.require_topology, row.require_level);
  for (std::int32_t r = range.first; r < range.last; ++r) {
    if (!kernel::names_require(p, row, r)) continue;
    least = std::min(least, missing(kernel::within(p, all, row.require_topology, row.require_level, r)));
  }
  return least;
}

}  // namespace berth::core
