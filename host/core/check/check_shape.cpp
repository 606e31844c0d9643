#include <fmt/format.h>

#include <algorithm>

#include <cstdint>
#include <map>

#include "berth/kernel/place/tree.hpp"
#include "host/core/base/names.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth::core {
namespace {

void check_level(const LevelRef& ref, const References& refs, const InputLocation& where, std::string_view field) {
  if (ref.level == "node" || refs.has_level(ref.topology, ref.level)) return;
  where.fail_at(field, fmt::format("topology {} has no level '{}'", name(ref.topology), ref.level));
}

void check_members(const Group& g, bool has_children, const InputLocation& where) {
  if (!has_children && g.members_want == 0) where.fail_at("members", "0 members and no child groups: a gang without members");
  check_range(g.members_want, 0, kMaxGpusPerJob, where, "members");
  check_range(g.members_min, 0, g.members_want, where, "members/min");
  check_range(g.members_max, g.members_want, kMaxGpusPerJob, where, "members/max");
  check_range(g.gpus_per_member, 1, kMaxGpusPerNode, where, "gpus_per_member");
  check_range(g.spares, 0, kMaxGpusPerJob, where, "spares");
  check_decimal(g.share_ppm, 6, 1, kWholeGpu, where, "share");
  if (g.share_ppm < kWholeGpu && g.gpus_per_member != 1) {
    where.fail_at("gpus_per_member", fmt::format("a member with a share takes one GPU, not {}", g.gpus_per_member));
  }
}

void check_group(const Group& g, bool has_children, const References& refs, const InputLocation& where) {
  check_members(g, has_children, where);
  check_text(g.role, where, "role");
  if (g.segment) {
    const std::int64_t members = std::int64_t{g.members_want} + g.spares;
    check_range(g.segment->size, 1, kMaxGpusPerJob, where, "segment/size");
    if (members % g.segment->size != 0) {
      where.fail_at("segment/size",
                    fmt::format("{} does not divide the {} (spares included)", g.segment->size, counted(members, "member")));
    }
    check_level(g.segment->at, refs, where, "segment/level");
  }
  if (g.require) check_level(*g.require, refs, where, "require");
  if (g.prefer) check_level(*g.prefer, refs, where, "prefer");
  if (g.spread) {
    check_range(g.spread->max_per_domain, 1, INT32_MAX, where, "spread/max_per_domain");
    check_level(g.spread->at, refs, where, "spread/level");
  }
}

void check_algorithm(const Communication& one, const InputLocation& at) {
  if (one.algorithm == CommAlgorithm::kRing) return;
  if (one.kind != CommKind::kDp && one.kind != CommKind::kTp)
    at.fail_at("algorithm", fmt::format("'{}' is for the kinds dp and tp, not for {}", name(one.algorithm), name(one.kind)));
  if (!one.peer.empty())
    at.fail_at("algorithm", fmt::format("'{}' is among the members of one group, without a peer", name(one.algorithm)));
}

// Names are unique, parents and peers exist, no group is its own ancestor.
std::vector<bool> check_group_tree(const Shape& shape, const InputLocation& where) {
  const std::size_t n = shape.groups.size();
  const auto fail = [&](std::size_t i, std::string_view field, const std::string& problem) {
    InputLocation(where, "groups", static_cast<std::int64_t>(i)).fail_at(field, problem);
  };
  std::map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < n; ++i) {
    check_name(shape.groups[i].name, InputLocation(where, "groups", static_cast<std::int64_t>(i)), "name");
    if (!index.emplace(shape.groups[i].name, i).second)
      fail(i, "name", fmt::format("'{}' names an earlier group too", shape.groups[i].name));
  }
  constexpr std::size_t kRoot = SIZE_MAX;
  std::vector<std::size_t> parent(n, kRoot), seen(n, kRoot);
  std::vector<bool> has_children(n, false);
  for (std::size_t i = 0; i < n; ++i) {
    const Group& g = shape.groups[i];
    if (!g.parent.empty()) {
      const auto at = index.find(g.parent);
      if (at == index.end()) fail(i, "parent", fmt::format("there is no group '{}'", g.parent));
      parent[i] = at->second;
      has_children[at->second] = true;
    }
    for (std::size_t c = 0; c < g.communication.size(); ++c) {
      const Communication& one = g.communication[c];
      const InputLocation group(where, "groups", static_cast<std::int64_t>(i));
      const InputLocation at(group, "communication", static_cast<std::int64_t>(c));
      if (!one.peer.empty() && index.count(one.peer) == 0) at.fail_at("peer", fmt::format("there is no group '{}'", one.peer));
      check_range(one.bytes_per_step, 0, kMaxBytes, at, "bytes_per_step");
      check_algorithm(one, at);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::size_t g = i;
    for (; g != kRoot && seen[g] == kRoot; g = parent[g]) seen[g] = i;
    if (g != kRoot && seen[g] == i) fail(i, "parent", fmt::format("group '{}' is its own ancestor", shape.groups[g].name));
  }
  for (std::size_t i = 0; i < n; ++i) {
    std::int32_t depth = 1;
    for (std::size_t g = parent[i]; g != kRoot; g = parent[g]) ++depth;
    if (depth > kernel::kMaxTreeDepth)
      fail(i, "parent",
           fmt::format("group '{}' is {} levels deep, and {} are the most", shape.groups[i].name, depth, kernel::kMaxTreeDepth));
  }
  return has_children;
}

void check_groups(const Shape& shape, const References& refs, const InputLocation& where) {
  if (shape.groups.empty()) return;
  if (shape.groups.size() > static_cast<std::size_t>(kMaxGroups)) {
    where.fail_at("groups", fmt::format("{} groups are more than {}", shape.groups.size(), kMaxGroups));
  }
  if (shape.share_ppm != kWholeGpu) where.fail_at("share", "the groups of a gang say their shares themselves");
  const std::vector<bool> has_children = check_group_tree(shape, where);
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < shape.groups.size(); ++i) {
    check_group(shape.groups[i], has_children[i], refs, InputLocation(where, "groups", static_cast<std::int64_t>(i)));
    sum += std::int64_t{shape.groups[i].members_want} * shape.groups[i].gpus_per_member;
  }
  if (std::all_of(shape.groups.begin(), shape.groups.end(), [](const Group& g) { return g.members_min == 0; })) {
    where.fail_at("groups", "every group may have 0 members ('min'): the least form would be a gang without members");
  }
  if (sum != shape.gpus) where.fail_at("gpus", fmt::format("the groups add up to {}, not to {}", counted(sum, "GPU"), shape.gpus));
}

}  // namespace

void check_shape(const Shape& shape, const References& refs, const InputLocation& where) {
  check_name(shape.id, where, "id");
  if (!shape.gpu_type.empty() && refs.gpu_type(shape.gpu_type) == nullptr) {
    where.fail_at("gpu_type", fmt::format("there is no GPU type '{}'{}", shape.gpu_type, refs.near_gpu_type(shape.gpu_type)));
  }
  check_groups(shape, refs, where);  // first: a group without members explains a sum of zero
  check_range(shape.gpus, 1, kMaxGpusPerJob, where, "gpus");
  check_decimal(shape.share_ppm, 6, 1, kWholeGpu, where, "share");
  check_range(shape.local_batch, 0, INT32_MAX, where, "local_batch");
  check_decimal(shape.learning_rate_pico, 12, 0, kScoreCeiling, where, "learning_rate");
  check_decimal(shape.rate, 6, 0, kScoreCeiling, where, "rate");
  check_decimal(shape.power_mw, 3, 0, kMaxBytes, where, "power_w");
  check_text(shape.mig_profile, where, "mig_profile");
}

}  // namespace berth::core
