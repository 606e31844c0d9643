#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth::core {
namespace {

// What an allocation must give to one group; a flat gang is one unnamed group of one-GPU members.
struct CheckedGroup {
  std::string_view name;
  std::int64_t least, most;
  std::int32_t gpus_per_member;
  std::int32_t share_ppm;
  std::int64_t members = 0;  // found so far
  std::int64_t next = 0;     // lowest rank that the next entry may begin with
};

std::vector<CheckedGroup> demands(const Shape& shape) {
  std::vector<CheckedGroup> out;
  for (const Group& g : shape.groups) {
    out.push_back({g.name, g.members_min, std::int64_t{g.members_max} + g.spares, g.gpus_per_member, g.share_ppm});
  }
  if (out.empty()) out.push_back({"", shape.gpus, shape.gpus, 1, shape.share_ppm});
  return out;
}

void check_indices(const AllocationEntry& entry, const Node& node, const InputLocation& at) {
  if (entry.gpus.empty()) at.fail_at("gpus", "an entry needs at least one GPU");
  std::int32_t last = -1;
  for (const std::int32_t gpu : entry.gpus) {
    if (gpu < 0 || gpu >= node.gpus) at.fail_at("gpus", fmt::format("node '{}' has no GPU {}", node.id, gpu));
    if (gpu <= last) at.fail_at("gpus", fmt::format("GPU indices must ascend: {} follows {}", gpu, last));
    last = gpu;
  }
}

void check_entry(const Job& job, const AllocationEntry& entry, CheckedGroup& group, const Node& node, const InputLocation& at) {
  check_indices(entry, node, at);
  if (entry.share_ppm != group.share_ppm) {
    at.fail_at("share", fmt::format("{} of each GPU, and the shape asks for {}", part_text(entry.share_ppm), part_text(group.share_ppm)));
  }
  if (entry.share_ppm < kWholeGpu && !(node.sharing && job.sharing)) {
    at.fail_at("share", fmt::format("a share needs sharing allowed by the job and by node '{}'", node.id));
  }
  if (entry.time_shared && entry.share_ppm == kWholeGpu)
    at.fail_at("time_shared", "a GPU that is shared in time is held by a share below 1");
  const auto n = static_cast<std::int64_t>(entry.gpus.size());
  if (n % group.gpus_per_member != 0) {
    at.fail_at("gpus", fmt::format("{} in an entry of members of {} each: a member lies whole on one node", counted(n, "GPU"),
                                   counted(group.gpus_per_member, "GPU")));
  }
  if (entry.member < group.next) at.fail_at("member", fmt::format("{} is below {}, the next free rank", entry.member, group.next));
  group.members += n / group.gpus_per_member;
  group.next = entry.member + n / group.gpus_per_member;
  if (group.members <= group.most && group.next > group.most) {
    at.fail_at("member", fmt::format("ranks {} to {}, and the last rank of the gang is {}", entry.member, group.next - 1, group.most - 1));
  }
}

CheckedGroup& group_of(std::vector<CheckedGroup>& groups, const AllocationEntry& entry, std::size_t& hint, const InputLocation& at) {
  for (std::size_t i = 0; i < groups.size(); ++i, ++hint) {
    if (hint >= groups.size()) hint = 0;
    if (groups[hint].name == entry.group) return groups[hint];
  }
  at.fail_at("group", fmt::format("the shape has no group '{}'", entry.group));
}

}  // namespace

void check_allocation(const Job& job, const References& refs, const InputLocation& where) {
  const Allocation& a = job.allocation;
  if (job.state == JobState::kWaiting) {
    if (!a.shape.empty() || !a.entries.empty()) where.fail_at("allocation", "a waiting job holds nothing");
    return;
  }
  check_held(job, a, refs, where);
}

void check_held(const Job& job, const Allocation& a, const References& refs, const InputLocation& where) {
  const InputLocation at(where, "allocation");
  if (a.shape.empty() && a.entries.empty()) where.fail_at("allocation", fmt::format("job '{}' is running and holds nothing", job.id));
  const auto shape = std::find_if(job.shapes.begin(), job.shapes.end(), [&](const Shape& s) { return s.id == a.shape; });
  if (shape == job.shapes.end()) at.fail_at("shape", fmt::format("job '{}' has no shape '{}'", job.id, a.shape));
  std::vector<CheckedGroup> groups = demands(*shape);
  std::size_t hint = 0;
  const std::string* type = shape->gpu_type.empty() ? nullptr : &shape->gpu_type;
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    const AllocationEntry& entry = a.entries[i];
    const InputLocation here(at, "entries", static_cast<std::int64_t>(i));
    const Node* node = refs.node(entry.node);
    if (node == nullptr) here.fail_at("node", fmt::format("there is no node '{}'", entry.node));
    if (type == nullptr) type = &node->gpu_type;
    if (node->gpu_type != *type) {
      here.fail_at("node", fmt::format("node '{}' has GPUs of type '{}', the job runs on '{}'", node->id, node->gpu_type, *type));
    }
    check_entry(job, entry, group_of(groups, entry, hint, here), *node, here);
  }
  for (const CheckedGroup& g : groups) {
    if (g.members >= g.least && g.members <= g.most && g.next <= g.most) continue;
    at.fail_at("entries", g.name.empty() ? fmt::format("{}, and the shape '{}' has {}", counted(g.members, "GPU"), shape->id, g.most)
                                         : fmt::format("group '{}' has {} (ranks below {}), and may have {} to {}", g.name,
                                                       counted(g.members, "member"), g.next, g.least, g.most));
  }
}

void take_gpu(GpuUse& use, const Job& job, const AllocationEntry& entry, std::int32_t index, const Node& node, const References& refs,
              const InputLocation& where) {
  if (use.ppm + entry.share_ppm > kWholeGpu) {
    where.fail_at("gpus", fmt::format("GPU {} of node '{}' is held by {}{}", index, node.id,
                                      use.holder == nullptr ? "another job" : fmt::format("job '{}'", *use.holder),
                                      use.ppm == kWholeGpu ? "" : fmt::format(" and others, {} of it in all", part_text(use.ppm))));
  }
  use.ppm += entry.share_ppm;
  use.holder = &job.id;
  if (entry.share_ppm == kWholeGpu) return;
  const std::int64_t has = refs.gpu_type(node.gpu_type)->memory_bytes;
  if (has == 0) return;
  use.memory_bytes += job.constraints.gpu_memory_bytes;
  if (use.memory_bytes > has) {
    where.fail_at(
        "gpus", fmt::format("the shares of GPU {} of node '{}' need {} bytes of memory, it has {}", index, node.id, use.memory_bytes, has));
  }
}

void take_node(NodeUse& use, const Job& job, const AllocationEntry& entry, const Node& node, const InputLocation& where) {
  const auto n = static_cast<std::int64_t>(entry.gpus.size());
  if (node.cpu_milli != kUnlimited) {
    use.cpu_milli += n * job.constraints.cpu_milli_per_gpu;
    if (use.cpu_milli > node.cpu_milli) {
      where.fail_at(
          "node", fmt::format("the jobs on node '{}' need {}, it has {}", node.id, cores_text(use.cpu_milli), cores_text(node.cpu_milli)));
    }
  }
  if (node.memory_bytes != kUnlimited) {
    use.memory_bytes += n * job.constraints.memory_bytes_per_gpu;
    if (use.memory_bytes > node.memory_bytes) {
      where.fail_at("node",
                    fmt::format("the jobs on node '{}' need {} bytes of memory, it has {}", node.id, use.memory_bytes, node.memory_bytes));
    }
  }
}

GpuLedger::GpuLedger(const Snapshot& snapshot) : snapshot_(snapshot), nodes_(snapshot.nodes.size()) {
  std::int32_t first = 0;
  first_gpu_.reserve(nodes_.size());
  for (const Node& node : snapshot.nodes) {
    first_gpu_.push_back(first);
    first += node.gpus;
  }
  gpus_.resize(static_cast<std::size_t>(first));
}

void GpuLedger::add(std::size_t job_index, const References& refs, const InputLocation& where) {
  const Job& job = snapshot_.jobs[job_index];
  const InputLocation allocation(where, "allocation");
  for (std::size_t i = 0; i < job.allocation.entries.size(); ++i) {
    const AllocationEntry& entry = job.allocation.entries[i];
    const InputLocation at(allocation, "entries", static_cast<std::int64_t>(i));
    const Node& node = *refs.node(entry.node);
    const auto rank = static_cast<std::size_t>(&node - snapshot_.nodes.data());
    for (const std::int32_t index : entry.gpus) {
      take_gpu(gpus_[static_cast<std::size_t>(first_gpu_[rank] + index)], job, entry, index, node, refs, at);
    }
    take_node(nodes_[rank], job, entry, node, at);
  }
}

}  // namespace berth::core
