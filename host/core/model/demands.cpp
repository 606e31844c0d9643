#include "host/core/model/demands.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

void visit(const Shape& shape, const std::string& parent, std::vector<std::int32_t>& order) {
  for (std::size_t g = 0; g < shape.groups.size(); ++g) {
    if (shape.groups[g].parent != parent) continue;
    order.push_back(static_cast<std::int32_t>(g));
    visit(shape, shape.groups[g].name, order);
  }
}

kernel::GroupRow empty_row() {
  kernel::GroupRow row{};
  row.gpus = 1;
  row.share_ppm = kWholeGpu;
  row.subtree_end = 1;
  row.require_level = row.prefer_level = kernel::kNone;
  return row;
}

void set_level(const std::optional<LevelRef>& ref, const Topologies& topologies, std::int32_t& topology, std::int32_t& level) {
  if (!ref) return;
  topology = static_cast<std::int32_t>(ref->topology);
  level = topologies.level(ref->topology, ref->level);
}

// Tensors and experts exchange the most among the members of a group, and NVLink carries it without network cards.
void prefer_nvlink(const Group& group, const Topologies& topologies, kernel::GroupRow& row) {
  const bool exchanges = std::any_of(group.communication.begin(), group.communication.end(), [](const Communication& one) {
    return one.peer.empty() && (one.kind == CommKind::kTp || one.kind == CommKind::kEp) && one.bytes_per_step > 0;
  });
  const auto nvlink = static_cast<std::int32_t>(TopologyKind::kNvlink);
  if (group.prefer || !exchanges || topologies.levels(nvlink) < 3) return;
  row.prefer_topology = nvlink;
  row.prefer_level = topologies.levels(nvlink) - 2;  // the highest below the cluster
}

}  // namespace

std::vector<std::int32_t> depth_first(const Shape& shape) {
  std::vector<std::int32_t> order;
  visit(shape, "", order);
  return order;
}

void DemandTable::clear() {
  rows_.clear();
  groups_.clear();
  shape_group_.clear();
  whole_.clear();
  index_.clear();
}

std::int32_t DemandTable::add(const Job& job, const Shape& shape, std::int32_t gpu_type, std::int32_t filter, bool use_min,
                              const Topologies& topologies) {
  const Constraints& limits = job.constraints;
  std::vector<kernel::GroupRow>& groups = new_groups_;
  std::vector<std::int32_t>& shape_group = new_shape_group_;
  groups.clear();
  shape_group.clear();
  const auto set_needs = [&](kernel::GroupRow& row, std::int32_t share_ppm) {
    row.share_ppm = share_ppm;
    row.cpu = limits.cpu_milli_per_gpu * row.gpus;
    row.memory = limits.memory_bytes_per_gpu * row.gpus;
    row.gpu_memory = limits.gpu_memory_bytes;
  };
  if (shape.groups.empty()) {
    kernel::GroupRow row = empty_row();
    row.members = shape.gpus;
    set_needs(row, shape.share_ppm);
    row.subtree_gpus = shape.share_ppm < kWholeGpu ? 0 : shape.gpus;
    groups.push_back(row);
    shape_group.push_back(0);
  }
  const auto order = shape.groups.empty() ? std::vector<std::int32_t>{} : depth_first(shape);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Group& group = shape.groups[to_index(order[i])];
    kernel::GroupRow row = empty_row();
    row.members = (use_min ? group.members_min : group.members_want) + (use_min ? 0 : group.spares);
    row.gpus = group.gpus_per_member;
    set_needs(row, group.share_ppm);
    if (group.segment) {
      row.segment_size = group.segment->size;
      set_level(group.segment->at, topologies, row.segment_topology, row.segment_level);
    }
    set_level(group.require, topologies, row.require_topology, row.require_level);
    set_level(group.prefer, topologies, row.prefer_topology, row.prefer_level);
    prefer_nvlink(group, topologies, row);
    if (group.spread) {
      row.spread_most = group.spread->max_per_domain;
      set_level(group.spread->at, topologies, row.spread_topology, row.spread_level);
    }
    // Spares may not be a multiple of the segment size: they are rounded up with the last segment.
    if (row.segment_size > 0) row.members = (row.members + row.segment_size - 1) / row.segment_size * row.segment_size;
    std::size_t end = i + 1;  // descendants follow directly
    while (end < order.size()) {
      std::string parent = shape.groups[to_index(order[end])].parent;
      bool below = false;
      while (!parent.empty() && !below) {
        below = parent == group.name;
        if (below) break;
        std::string up;
        for (const Group& other : shape.groups) {
          if (other.name == parent) up = other.parent;
        }
        parent = up;
      }
      if (!below) break;
      ++end;
    }
    row.subtree_end = static_cast<std::int32_t>(end);
    groups.push_back(row);
    shape_group.push_back(order[i]);
  }
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::int64_t gpus = 0;
    for (auto k = i; k < to_index(groups[i].subtree_end); ++k) {
      if (groups[k].share_ppm == kWholeGpu) gpus += std::int64_t{groups[k].members} * groups[k].gpus;
    }
    groups[i].subtree_gpus = gpus;
  }
  return intern(groups, shape_group, filter, gpu_type);
}

std::int32_t DemandTable::consolidated(std::int32_t demand, std::int32_t node_gpus) {
  const kernel::DemandRow row = rows_[to_index(demand)];
  const kernel::GroupRow flat = groups_[to_index(row.group_begin)];
  if (row.group_end - row.group_begin != 1 || flat.share_ppm != kWholeGpu || flat.gpus != 1 || flat.segment_size != 0 ||
      flat.spread_most != 0 || node_gpus < 1) {
    return demand;
  }
  const auto part = [&](std::int32_t members, std::int32_t gpus) {
    kernel::GroupRow g = flat;
    g.members = members;
    g.gpus = gpus;
    g.cpu = flat.cpu * gpus;
    g.memory = flat.memory * gpus;
    g.subtree_gpus = std::int64_t{members} * gpus;
    return g;
  };
  std::vector<kernel::GroupRow>& groups = new_groups_;
  groups.clear();
  const bool two = flat.members / node_gpus > 0 && flat.members % node_gpus > 0;
  if (two && (flat.require_level != kernel::kNone || flat.prefer_level != kernel::kNone)) {
    // Both parts in one domain: a row above them requires it.
    kernel::GroupRow both = empty_row();
    both.members = 0;
    both.subtree_end = 3;
    both.subtree_gpus = flat.subtree_gpus;
    both.require_topology = flat.require_topology;
    both.require_level = flat.require_level;
    both.prefer_topology = flat.prefer_topology;
    both.prefer_level = flat.prefer_level;
    groups.push_back(both);
  }
  if (flat.members / node_gpus > 0) groups.push_back(part(flat.members / node_gpus, node_gpus));
  if (flat.members % node_gpus > 0) groups.push_back(part(1, flat.members % node_gpus));
  if (groups.size() == 3) {
    for (std::size_t i = 1; i < 3; ++i) {
      groups[i].subtree_end = static_cast<std::int32_t>(i) + 1;
      groups[i].require_level = groups[i].prefer_level = kernel::kNone;
    }
  }
  if (groups.size() == 2) groups[1].subtree_end = 2;
  new_shape_group_.assign(groups.size(), shape_group_[to_index(row.group_begin)]);
  return intern(groups, new_shape_group_, row.filter, row.gpu_type);
}

void DemandTable::copy_rows(const kernel::DemandRow& row) {
  new_groups_.assign(groups_.begin() + row.group_begin, groups_.begin() + row.group_end);
  new_shape_group_.assign(shape_group_.begin() + row.group_begin, shape_group_.begin() + row.group_end);
}

// A row without members above all others.
void DemandTable::add_root(std::int64_t gpus) {
  kernel::GroupRow root = empty_row();
  root.subtree_gpus = gpus;
  for (kernel::GroupRow& group : new_groups_) ++group.subtree_end;
  root.subtree_end = static_cast<std::int32_t>(new_groups_.size()) + 1;
  new_groups_.insert(new_groups_.begin(), root);
  new_shape_group_.insert(new_shape_group_.begin(), -1);
}

std::int32_t DemandTable::within(std::int32_t demand, std::int32_t topology, std::int32_t level) {
  const kernel::DemandRow row = rows_[to_index(demand)];
  copy_rows(row);
  if (to_index(new_groups_.front().subtree_end) != new_groups_.size()) add_root(row.gpus);
  kernel::GroupRow& root = new_groups_.front();
  root.require_topology = topology;
  root.require_level = level;
  // In the domain, a level of it or above it prefers nothing, and trees would try the domain again for each.
  if (new_groups_.size() > 1 && root.prefer_topology == topology && root.prefer_level >= level)
    root.prefer_level = level > 1 ? level - 1 : kernel::kNone;
  return intern(new_groups_, new_shape_group_, row.filter, row.gpu_type);
}

std::int32_t DemandTable::inside(std::int32_t demand, std::int32_t topology, std::int32_t level) {
  const kernel::DemandRow row = rows_[to_index(demand)];
  const kernel::GroupRow& root = groups_[to_index(row.group_begin)];
  const bool one_root = root.subtree_end == row.group_end - row.group_begin;
  if (!one_root || root.require_level == kernel::kNone) return within(demand, topology, level);
  if (root.require_topology == topology) return root.require_level <= level ? demand : within(demand, topology, level);
  copy_rows(row);
  add_root(row.gpus);
  new_groups_.front().require_topology = topology;
  new_groups_.front().require_level = level;
  return intern(new_groups_, new_shape_group_, row.filter, row.gpu_type);
}

std::int32_t DemandTable::preferring(std::int32_t demand, std::int32_t topology, std::int32_t level) {
  const kernel::DemandRow row = rows_[to_index(demand)];
  if (row.group_end - row.group_begin != 1 || groups_[to_index(row.group_begin)].prefer_level != kernel::kNone) return demand;
  copy_rows(row);
  new_groups_.front().prefer_topology = topology;
  new_groups_.front().prefer_level = level;
  return intern(new_groups_, new_shape_group_, row.filter, row.gpu_type);
}

bool DemandTable::takes_shares(std::int32_t demand) const {
  const kernel::DemandRow& row = rows_[to_index(demand)];
  return std::any_of(groups_.begin() + row.group_begin, groups_.begin() + row.group_end,
                     [](const kernel::GroupRow& group) { return group.share_ppm < kWholeGpu; });
}

std::int32_t DemandTable::whole(std::int32_t demand, std::int32_t filter) {
  if (whole_.size() < rows_.size()) whole_.resize(rows_.size(), kernel::kNone);
  if (whole_[to_index(demand)] != kernel::kNone) return whole_[to_index(demand)];
  std::int32_t found = demand;
  if (takes_shares(demand)) {
    const kernel::DemandRow row = rows_[to_index(demand)];
    copy_rows(row);
    for (kernel::GroupRow& group : new_groups_) {
      group.share_ppm = kWholeGpu;
      group.subtree_gpus = 0;
    }
    for (std::size_t i = 0; i < new_groups_.size(); ++i) {
      for (auto k = i; k < to_index(new_groups_[i].subtree_end); ++k)
        new_groups_[i].subtree_gpus += std::int64_t{new_groups_[k].members} * new_groups_[k].gpus;
    }
    found = intern(new_groups_, new_shape_group_, filter, row.gpu_type, row.quota);
  }
  whole_[to_index(demand)] = found;
  return found;
}

std::int32_t DemandTable::gpus_named(std::int32_t demand) const {
  std::int32_t gpus = 0;
  for (std::int32_t g = rows_[to_index(demand)].group_begin; g < rows_[to_index(demand)].group_end; ++g)
    gpus += groups_[to_index(g)].members * groups_[to_index(g)].gpus;
  return gpus;
}

std::int32_t DemandTable::intern(const std::vector<kernel::GroupRow>& groups, const std::vector<std::int32_t>& shape_group,
                                 std::int32_t filter, std::int32_t gpu_type, std::int64_t quota) {
  // GroupRow has no padding bytes that could differ: rows start zeroed.
  std::string& key = key_;
  key.assign(reinterpret_cast<const char*>(groups.data()), groups.size() * sizeof(kernel::GroupRow));
  key.append(reinterpret_cast<const char*>(shape_group.data()), shape_group.size() * sizeof(std::int32_t));
  key.append(reinterpret_cast<const char*>(&filter), sizeof filter);
  if (quota != kOfGroups) key.append(reinterpret_cast<const char*>(&quota), sizeof quota);
  const auto known = index_.find(key);
  if (known != index_.end()) return known->second;
  const auto number = static_cast<std::int32_t>(rows_.size());
  // What an addition left that ran out of memory belongs to no row.
  groups_.resize(rows_.empty() ? 0 : to_index(rows_.back().group_end));
  shape_group_.resize(groups_.size());
  kernel::DemandRow row{};
  row.group_begin = static_cast<std::int32_t>(groups_.size());
  row.filter = filter;
  row.gpu_type = gpu_type;
  for (const auto& group : groups) {
    if (group.share_ppm == kWholeGpu) row.gpus += std::int64_t{group.members} * group.gpus;
  }
  for (const auto& group : groups) row.quota += std::int64_t{group.members} * group.gpus * group.share_ppm;
  if (quota != kOfGroups) row.quota = quota;
  row.exact = groups.size() == 1 && !(groups[0].segment_size > 0 && groups[0].spread_most > 0) ? 1 : 0;
  groups_.insert(groups_.end(), groups.begin(), groups.end());
  shape_group_.insert(shape_group_.end(), shape_group.begin(), shape_group.end());
  row.group_end = static_cast<std::int32_t>(groups_.size());
  rows_.push_back(row);
  index_.emplace(key, number);
  return number;
}

}  // namespace berth::core
