#include "host/core/model/gang_check.hpp"

#include <algorithm>
#include <bit>

#include "host/core/base/decimal.hpp"
#include "host/core/model/held_facts.hpp"

namespace berth::core {
namespace {

std::string_view label(const Shape& shape, std::int32_t group) {
  return shape.groups.empty() ? std::string_view("gang") : std::string_view(shape.groups[static_cast<std::size_t>(group)].name);
}

std::string_view node_id(const ClusterFacts& facts, std::int32_t rank) { return facts.node(rank).node->id; }

}  // namespace

void GangCheck::check(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries,
                      std::span<const HeldFact> held, Violations& found) {
  for (const PlanEntry& entry : entries) {
    if (entry.group < 0 || entry.group >= group_count(shape)) {
      found.of(job, "names group {}; shape {} has {}", entry.group, shape.id, counted(group_count(shape), "group"));
      return;
    }
    // The plan is not responsible for the places of a repaired gang's survivors.
    if (std::any_of(held.begin(), held.end(), [&](const HeldFact& h) { return h.node == entry.node; })) continue;
    const std::string_view why = facts.refuses(job, entry.node);
    if (!why.empty()) found.of(job, "may not use node {}: {}", node_id(facts, entry.node), why);
  }
  check_pieces(facts, job, shape, entries, found);
  check_types(facts, job, shape, entries, found);
  sorted_.clear();
  for (const PlanEntry& entry : entries) sorted_.push_back(&entry);
  const auto before = [](const PlanEntry* a, const PlanEntry* b) {
    return a->group != b->group ? a->group < b->group : a->member < b->member;
  };
  if (!std::is_sorted(sorted_.begin(), sorted_.end(), before)) std::sort(sorted_.begin(), sorted_.end(), before);
  check_members(job, shape, held, found);
  if (shape.groups.empty()) return;

  check_require(facts, job, shape, entries, found);
  for (std::size_t begin = 0, end = 0; begin < sorted_.size(); begin = end) {
    const std::int32_t g = sorted_[begin]->group;
    while (end < sorted_.size() && sorted_[end]->group == g) ++end;
    const Group& group = shape.groups[static_cast<std::size_t>(g)];
    const std::span<const PlanEntry* const> rows(sorted_.data() + begin, end - begin);
    if (group.spread) check_spread(facts, job, group, rows, found);
    if (group.segment && group.segment->size > 0) check_segment(facts, job, group, rows, found);
  }
}

// A member is indivisible: an entry is on one node, so its GPUs must be whole members.
void GangCheck::check_pieces(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries,
                             Violations& found) {
  for (const PlanEntry& entry : entries) {
    const GroupFacts group = group_facts(shape, entry.group);
    if (entry.share_ppm != group.share_ppm) {
      found.of(job, "takes {} of each GPU on node {}; group {} asks for {}", part_text(entry.share_ppm), node_id(facts, entry.node),
               label(shape, entry.group), part_text(group.share_ppm));
    }
    if (const bool takes_slices = entry.share_ppm < kWholeGpu && shape.mig_profile.empty(); entry.time_shared != takes_slices) {
      found.of(job, "takes GPUs of node {} {}; shape {} {}", node_id(facts, entry.node),
               entry.time_shared ? "in time slices with others" : "for itself", shape.id,
               takes_slices                  ? "asks for a share in time"
               : entry.share_ppm < kWholeGpu ? "asks for a MIG partition"
                                             : "asks for whole GPUs");
    }
    const std::int64_t gpus = std::popcount(entry.gpus);
    if (entry.members < 1 || gpus != std::int64_t{entry.members} * group.gpus) {
      found.of(job, "has {} on node {} for {} of group {}, which needs {} each", counted(gpus, "GPU"), node_id(facts, entry.node),
               counted(entry.members, "member"), label(shape, entry.group), counted(group.gpus, "GPU"));
    }
  }
}

void GangCheck::check_types(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries,
                            Violations& found) {
  const std::int32_t wanted = shape.gpu_type.empty() ? facts.node(entries.front().node).type : facts.find_type(shape.gpu_type);
  for (const PlanEntry& entry : entries) {
    const NodeFacts& node = facts.node(entry.node);
    if (node.type != wanted) {
      found.of(job, "uses node {} of GPU type {}; shape {} runs on {}", node.node->id, node.node->gpu_type, shape.id,
               shape.gpu_type.empty() ? "one type, and began with " + facts.node(entries.front().node).node->gpu_type : shape.gpu_type);
    }
    const std::int64_t memory = node.type < 0 ? 0 : facts.gpu_types()[static_cast<std::size_t>(node.type)].memory_bytes;
    if (memory != 0 && job.constraints.gpu_memory_bytes > memory) {
      found.of(job, "needs {} bytes of GPU memory; node {} has GPUs of {} bytes", job.constraints.gpu_memory_bytes, node.node->id, memory);
    }
  }
}

// An elastic gang starts with the requested members of every group or with the smallest count of every group.
bool GangCheck::starts_smallest(const Shape& shape) const {
  if (!is_elastic(shape)) return false;
  std::size_t at = 0;
  for (std::int32_t g = 0; g < group_count(shape); ++g) {
    std::int64_t placed = 0;
    for (; at < sorted_.size() && sorted_[at]->group == g; ++at) placed += sorted_[at]->members;
    if (placed != group_facts(shape, g).smallest) return false;
  }
  return true;
}

void GangCheck::check_members(const Job& job, const Shape& shape, std::span<const HeldFact> held, Violations& found) {
  const bool smallest = held.empty() && starts_smallest(shape);
  std::size_t at = 0;
  for (std::int32_t g = 0; g < group_count(shape); ++g) {
    const GroupFacts group = group_facts(shape, g);
    std::int64_t members = smallest ? group.smallest : group.members;
    std::int64_t least = members;
    if (!held.empty()) {  // repaired: with its earlier members, or with at least the requested ones
      members = 0;
      for (const HeldFact& row : held) members += row.group == g ? row.members : 0;
      least = std::min<std::int64_t>(members, group.wanted);
    }
    std::int64_t next = 0;
    for (; at < sorted_.size() && sorted_[at]->group == g; ++at) {
      if (sorted_[at]->member != next) {
        found.of(job, "group {} has an entry that begins at member {}; member {} comes next", label(shape, g), sorted_[at]->member, next);
      }
      next = std::int64_t{sorted_[at]->member} + sorted_[at]->members;
    }
    if (next < least || next > members) found.of(job, "group {} has {} placed of {}", label(shape, g), counted(next, "member"), members);
  }
}

void GangCheck::check_require(const ClusterFacts& facts, const Job& job, const Shape& shape, std::span<const PlanEntry> entries,
                              Violations& found) {
  const bool any = std::any_of(shape.groups.begin(), shape.groups.end(), [](const Group& g) { return g.require.has_value(); });
  if (!any) return;
  const std::size_t n = shape.groups.size();
  names_.clear();
  for (std::size_t g = 0; g < n; ++g) names_.emplace_back(shape.groups[g].name, static_cast<std::int32_t>(g));
  std::sort(names_.begin(), names_.end());
  parent_.assign(n, -1);
  inside_.assign(n, -1);
  for (std::size_t g = 0; g < n; ++g) {
    const auto up = std::lower_bound(names_.begin(), names_.end(), std::pair<std::string_view, std::int32_t>(shape.groups[g].parent, 0));
    if (!shape.groups[g].parent.empty() && up != names_.end() && up->first == shape.groups[g].parent) parent_[g] = up->second;
  }
  for (const PlanEntry& entry : entries) {
    std::size_t depth = 0;
    for (std::int32_t g = entry.group; g >= 0 && depth <= n; g = parent_[static_cast<std::size_t>(g)], ++depth) {
      const Group& group = shape.groups[static_cast<std::size_t>(g)];
      if (!group.require) continue;
      const DomainLevels& levels = facts.levels(group.require->topology);
      const std::int32_t level = levels.find_level(group.require->level);
      if (level < 0 || !levels.in_named(level, entry.node)) {
        found.of(job, "group {} must be in one {}; node {} is in none", group.name, group.require->level, node_id(facts, entry.node));
        continue;
      }
      std::int32_t& first = inside_[static_cast<std::size_t>(g)];
      if (first < 0) first = entry.node;
      if (levels.place(level, first) != levels.place(level, entry.node)) {
        found.of(job, "group {} must be in one {}; nodes {} and {} are in different ones", group.name, group.require->level,
                 node_id(facts, first), node_id(facts, entry.node));
      }
    }
  }
}

void GangCheck::check_spread(const ClusterFacts& facts, const Job& job, const Group& group, std::span<const PlanEntry* const> rows,
                             Violations& found) {
  const DomainLevels& levels = facts.levels(group.spread->at.topology);
  const std::int32_t level = levels.find_level(group.spread->at.level);
  if (level < 0) {
    found.of(job, "group {} spreads over level {}, which the cluster does not have", group.name, group.spread->at.level);
    return;
  }
  places_.clear();
  for (const PlanEntry* row : rows) places_.emplace_back(levels.place(level, row->node), row->members);
  std::sort(places_.begin(), places_.end());
  for (std::size_t begin = 0, end = 0; begin < places_.size(); begin = end) {
    std::int64_t members = 0;
    for (; end < places_.size() && places_[end].first == places_[begin].first; ++end) members += places_[end].second;
    if (members > group.spread->max_per_domain) {
      const std::int32_t place = places_[begin].first;
      found.of(job, "group {} has {} in {} {}; at most {} may be in one", group.name, counted(members, "member"), group.spread->at.level,
               level == 0 ? node_id(facts, place) : levels.domain_name(place), group.spread->max_per_domain);
    }
  }
}

// Members k*size .. (k+1)*size - 1 are segment k: members are numbered in placement order, segment after segment.
void GangCheck::check_segment(const ClusterFacts& facts, const Job& job, const Group& group, std::span<const PlanEntry* const> rows,
                              Violations& found) {
  const DomainLevels& levels = facts.levels(group.segment->at.topology);
  const std::int32_t level = levels.find_level(group.segment->at.level);
  if (level < 0) {
    found.of(job, "group {} has segments at level {}, which the cluster does not have", group.name, group.segment->at.level);
    return;
  }
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const bool same_segment = rows[i]->member % group.segment->size != 0;
    if (same_segment && levels.place(level, rows[i]->node) != levels.place(level, rows[i - 1]->node)) {
      found.of(job, "segment {} of group {} lies on nodes {} and {}, in different places at level {}",
               rows[i]->member / group.segment->size, group.name, node_id(facts, rows[i - 1]->node), node_id(facts, rows[i]->node),
               group.segment->at.level);
    }
  }
}

}  // namespace berth::core
