#include "host/core/model/held_facts.hpp"

namespace berth::core {

GroupFacts group_facts(const Shape& shape, std::int32_t group) {
  if (shape.groups.empty()) return {shape.gpus, shape.gpus, 1, shape.share_ppm, shape.gpus};
  const Group& g = shape.groups[static_cast<std::size_t>(group)];
  const std::int32_t size = g.segment && g.segment->size > 0 ? g.segment->size : 1;
  const auto whole_segments = [size](std::int32_t members) { return (members + size - 1) / size * size; };
  return {whole_segments(g.members_want + g.spares), whole_segments(g.members_min), g.share_ppm < kWholeGpu ? 1 : g.gpus_per_member,
          g.share_ppm, whole_segments(g.members_want)};
}

std::int64_t whole_gpus(const Shape& shape, bool smallest) {
  std::int64_t gpus = 0;
  for (std::int32_t g = 0; g < group_count(shape); ++g) {
    const GroupFacts group = group_facts(shape, g);
    if (group.share_ppm == kWholeGpu) gpus += std::int64_t{smallest ? group.smallest : group.members} * group.gpus;
  }
  return gpus;
}

std::int64_t quota_of(const Shape& shape, bool smallest) {
  std::int64_t quota = 0;
  for (std::int32_t g = 0; g < group_count(shape); ++g) {
    const GroupFacts group = group_facts(shape, g);
    quota += std::int64_t{smallest ? group.smallest : group.members} * group.gpus * group.share_ppm;
  }
  return quota;
}

bool is_elastic(const Shape& shape) {
  for (std::int32_t g = 0; g < group_count(shape); ++g) {
    const GroupFacts group = group_facts(shape, g);
    if (group.smallest != group.members) return true;
  }
  return false;
}

std::int32_t find_shape(const Job& job, const std::string& id) {
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    if (job.shapes[i].id == id) return static_cast<std::int32_t>(i);
  }
  return -1;
}

void append_held(const ClusterFacts& facts, const Job& job, std::int32_t shape, std::vector<HeldFact>& out) {
  for (const AllocationEntry& entry : job.allocation.entries) {
    HeldFact held;
    held.node = facts.find_node(entry.node);
    held.member = entry.member;
    held.share_ppm = entry.share_ppm;
    held.time_shared = entry.time_shared;
    for (const std::int32_t gpu : entry.gpus) held.mask |= std::uint64_t{1} << gpu;
    const auto gpus = static_cast<std::int32_t>(entry.gpus.size());
    std::int32_t per_member = 1;
    if (shape >= 0) {
      const Shape& description = job.shapes[static_cast<std::size_t>(shape)];
      for (std::size_t g = 0; g < description.groups.size(); ++g) {
        if (description.groups[g].name == entry.group) held.group = static_cast<std::int32_t>(g);
      }
      per_member = group_facts(description, held.group).gpus;
    }
    held.members = gpus / per_member;
    held.cpu = gpus * job.constraints.cpu_milli_per_gpu;
    held.memory = gpus * job.constraints.memory_bytes_per_gpu;
    out.push_back(held);
  }
}

}  // namespace berth::core
