#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/sim/generate/synthetic_placement.hpp"

/// Placement of gangs over several nodes and trees of groups: units first, then pods, then the whole layout.
namespace berth::sim {
namespace {

constexpr std::size_t kMostDomainTries = 16;  // candidate domains of one group

// Whether room for `cap` members suits `wanted` better than room for `best` (0: none yet): the smallest that is enough, else the largest.
bool tighter(std::int32_t cap, std::int32_t best, std::int32_t wanted) {
  if (best >= wanted) return cap >= wanted && cap < best;
  return cap > best;
}

}  // namespace

std::int32_t SyntheticPlacement::node_cap(std::int32_t node, const GroupRequest& request) const {
  if (!allowed(node)) return 0;
  const std::int32_t cap = std::popcount(free_[to_index(node)]) / request.gpus;
  return request.spread_nodes && request.spread > 0 ? std::min(cap, request.spread) : cap;
}

std::int32_t SyntheticPlacement::unit_cap(std::int32_t unit, const GroupRequest& request) const {
  if (unit_free_[to_index(unit)] < request.gpus) return 0;
  std::int32_t cap = 0;
  for (std::int32_t n = layout_.unit_begin[to_index(unit)]; n < layout_.unit_begin[to_index(unit + 1)]; ++n) cap += node_cap(n, request);
  return request.segment > 0 ? cap / request.segment * request.segment : cap;
}

void SyntheticPlacement::fill_unit(std::int32_t unit, std::int32_t members, const GroupRequest& request) {
  std::vector<std::int32_t> done;  // under a spread a node may have room left and accept no more
  while (members > 0) {
    std::int32_t best = -1, best_cap = 0;
    for (std::int32_t n = layout_.unit_begin[to_index(unit)]; n < layout_.unit_begin[to_index(unit + 1)]; ++n) {
      const std::int32_t cap = node_cap(n, request);
      if (cap == 0 || !tighter(cap, best_cap, members) || std::find(done.begin(), done.end(), n) != done.end()) continue;
      best = n;
      best_cap = cap;
    }
    const std::int32_t now = std::min(members, best_cap);
    take(best, now * request.gpus);
    done.push_back(best);
    members -= now;
  }
}

bool SyntheticPlacement::fill(Range range, GroupRequest request) {
  std::vector<std::int32_t> caps;
  std::int64_t sum = 0;
  for (std::int32_t u = range.first; u < range.last; ++u) {
    caps.push_back(unit_cap(u, request));
    sum += caps.back();
  }
  if (sum < request.members) return false;
  const bool by_fault = request.spread > 0 && !request.spread_nodes;
  std::map<std::int32_t, std::int32_t> in_fault;  // members by fault domain
  std::int32_t left = request.members;
  while (left > 0) {
    std::int32_t best = -1, best_cap = 0;
    for (std::int32_t u = range.first; u < range.last; ++u) {
      std::int32_t cap = caps[to_index(u - range.first)];
      if (cap > 0 && by_fault) cap = std::min(cap, request.spread - in_fault[layout_.fault[to_index(layout_.unit_begin[to_index(u)])]]);
      if (cap <= 0 || !tighter(cap, best_cap, left)) continue;
      best = u;
      best_cap = cap;
    }
    if (best < 0) return false;
    const std::int32_t now = std::min(left, best_cap);
    fill_unit(best, now, request);
    caps[to_index(best - range.first)] = 0;
    in_fault[layout_.fault[to_index(layout_.unit_begin[to_index(best)])]] += now;
    left -= now;
  }
  return true;
}

std::vector<SyntheticPlacement::Range> SyntheticPlacement::inside(Range range, const LevelRef& level) const {
  std::vector<Range> ranges;
  if (level == layout_.unit_level || (level.topology == TopologyKind::kSwitch && level.level == "rack")) {
    for (std::int32_t u = range.first; u < range.last; ++u) ranges.push_back({u, u + 1});
  } else {
    for (std::int32_t p = 0; p < layout_.pods(); ++p) {
      const Range pod{std::max(range.first, layout_.pod_begin[to_index(p)]), std::min(range.last, layout_.pod_begin[to_index(p + 1)])};
      if (pod.first < pod.last) ranges.push_back(pod);
    }
  }
  const auto free_of = [&](const Range& r) {
    std::int64_t free = 0;
    for (std::int32_t u = r.first; u < r.last; ++u) free += unit_free_[to_index(u)];
    return free;
  };
  std::vector<std::pair<std::int64_t, Range>> keyed;
  keyed.reserve(ranges.size());
  for (const Range& r : ranges) keyed.emplace_back(free_of(r), r);
  std::stable_sort(keyed.begin(), keyed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ranges.clear();
  for (const auto& [free, r] : keyed) {
    if (free > 0) ranges.push_back(r);
  }
  return ranges;
}

bool SyntheticPlacement::fill_tight(Range range, GroupRequest request) {
  const std::size_t before = taken_.size();
  if (fill(range, request)) return true;
  roll_back(before);
  return false;
}

bool SyntheticPlacement::place_flat(std::int32_t gpus) {
  const GroupRequest nodes{gpus / layout_.gpus_per_node, layout_.gpus_per_node, 0, 0, false};
  const GroupRequest rest{gpus % layout_.gpus_per_node > 0 ? 1 : 0, std::max(1, gpus % layout_.gpus_per_node), 0, 0, false};
  const auto try_range = [&](Range range) {
    if (fill_tight(range, nodes) && (rest.members == 0 || fill_tight(range, rest))) return true;
    roll_back(0);
    return false;
  };
  std::int64_t whole = 0;
  for (std::int32_t u = 0; u < layout_.units(); ++u) whole += unit_cap(u, nodes);
  if (whole < nodes.members) return false;
  for (const LevelRef& level : {layout_.unit_level, layout_.pod_level}) {
    std::size_t tries = 0;
    for (const Range& range : inside({0, layout_.units()}, level)) {
      std::int64_t cap = 0;
      for (std::int32_t u = range.first; u < range.last; ++u) cap += unit_cap(u, nodes);
      if (cap < nodes.members) continue;
      if (try_range(range)) return true;
      if (++tries == kMostDomainTries) break;
    }
  }
  return try_range({0, layout_.units()});
}

bool SyntheticPlacement::place_group(const Shape& shape, std::size_t row, Range range) {
  const Group& group = shape.groups[row];
  std::int64_t need = 0;  // GPUs of the group and its descendants
  for (std::size_t r = row; r < shape.groups.size(); ++r) {
    if (r > row && (shape.groups[r].parent == group.parent || shape.groups[r].parent.empty())) break;
    need += std::int64_t{shape.groups[r].members_want + shape.groups[r].spares} * shape.groups[r].gpus_per_member;
  }
  std::vector<Range> candidates;
  if (group.require) {
    candidates = inside(range, *group.require);
  } else {
    if (group.prefer) candidates = inside(range, *group.prefer);
    candidates.push_back(range);
  }
  std::size_t tries = 0;
  for (const Range& candidate : candidates) {
    std::int64_t free = 0;
    for (std::int32_t u = candidate.first; u < candidate.last; ++u) free += unit_free_[to_index(u)];
    if (free < need) continue;
    // The last candidate, the whole range of a group that only has a preference, is always tried.
    if (tries++ >= kMostDomainTries && &candidate != &candidates.back()) continue;
    const std::size_t before = taken_.size();
    bool fits = true;
    if (group.members_want > 0) {
      GroupRequest request{group.members_want + group.spares, group.gpus_per_member, group.segment ? group.segment->size : 0, 0, false};
      if (group.spread) {
        request.spread = group.spread->max_per_domain;
        request.spread_nodes = group.spread->at.level == "node";
      }
      row_ = row;
      fits = fill_tight(candidate, request);
    }
    for (std::size_t r = row + 1; r < shape.groups.size() && fits; ++r) {
      if (shape.groups[r].parent == group.name) fits = place_group(shape, r, candidate);
    }
    if (fits) return true;
    roll_back(before);
  }
  return false;
}

}  // namespace berth::sim
