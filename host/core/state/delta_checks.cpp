#include "host/core/state/delta_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

class StateReferences final : public References {
 public:
  explicit StateReferences(const StateImpl& state) : s_(state) {}

  const GpuType* gpu_type(std::string_view id) const override {
    const auto found = s_.type_index.find(std::string(id));
    return found == s_.type_index.end() ? nullptr : &s_.gpu_types[to_index(found->second)];
  }
  bool has_domain(TopologyKind topology, std::string_view path) const override {
    return std::any_of(s_.domains.begin(), s_.domains.end(), [&](const Domain& d) {
      return d.topology == topology && path == (d.parent.empty() ? d.id : d.parent + "/" + d.id);
    });
  }
  bool has_level(TopologyKind topology, std::string_view level) const override {
    const std::int32_t l = s_.topologies.level(topology, level);
    return l > 0 && l < s_.topologies.levels(static_cast<std::int32_t>(topology)) - 1;
  }
  bool has_queue(std::string_view id) const override { return s_.queue_index.count(std::string(id)) != 0; }
  std::string near_gpu_type(std::string_view id) const override { return near_id(id, s_.gpu_types); }
  std::string near_queue(std::string_view id) const override { return near_id(id, s_.queues); }
  const Node* node(std::string_view id) const override {
    const auto found = s_.node_rank.find(std::string(id));
    return found == s_.node_rank.end() ? nullptr : &s_.nodes[to_index(found->second)];
  }

 private:
  const StateImpl& s_;
};

/// What jobs hold, without one job that requests GPUs again. Only the requested GPUs and nodes are read.
class Ledger {
 public:
  /// `job_index`: the requesting job, or -1 for a new one.
  Ledger(const StateImpl& state, std::int32_t job_index) : s_(state) {
    if (job_index < 0) return;
    for (const auto& row : s_.jobs[to_index(job_index)].held) {
      NodeUse& use = node(row.node);
      use.cpu_milli -= row.cpu;
      use.memory_bytes -= row.memory;
      for (std::uint64_t left = row.mask; left != 0; left &= left - 1) {
        GpuUse& one = gpu(row.node, std::countr_zero(left));
        one.ppm -= row.share_ppm;
        if (row.share_ppm < kWholeGpu) one.memory_bytes -= row.gpu_memory;
      }
    }
  }

  /// Gives the job the resources of an allocation, by the rules of loading.
  void add(const Job& job, const Allocation& allocation, const References& refs, const InputLocation& where) {
    const InputLocation field(where, "allocation");
    for (std::size_t i = 0; i < allocation.entries.size(); ++i) {
      const AllocationEntry& entry = allocation.entries[i];
      const InputLocation here(field, "entries", static_cast<std::int64_t>(i));
      const std::int32_t rank = s_.node_rank.at(entry.node);
      for (const std::int32_t g : entry.gpus) take_gpu(gpu(rank, g), job, entry, g, s_.nodes[to_index(rank)], refs, here);
      take_node(node(rank), job, entry, s_.nodes[to_index(rank)], here);
    }
  }

 private:
  GpuUse& gpu(std::int32_t rank, std::int32_t index) {
    const std::size_t row = to_index(s_.node.gpu_begin[to_index(rank)] + index);
    const auto [found, added] = gpus_.try_emplace(row);
    GpuUse& use = found->second;
    if (added && (s_.node.held[to_index(rank)] >> index & 1) != 0) {
      const std::int32_t shares = s_.node.gpu_used_ppm[row];
      use.ppm = shares > 0 ? shares : kWholeGpu;
      use.memory_bytes = s_.node.gpu_used_memory[row];
    }
    return use;
  }
  NodeUse& node(std::int32_t rank) {
    return nodes_.try_emplace(rank, NodeUse{s_.node.cpu_held[to_index(rank)], s_.node.memory_held[to_index(rank)]}).first->second;
  }

  const StateImpl& s_;
  std::unordered_map<std::size_t, GpuUse> gpus_;
  std::unordered_map<std::int32_t, NodeUse> nodes_;
};

}  // namespace

void check_put_node(const StateImpl& s, const Node& node, const InputLocation& where) {
  check_node(node, StateReferences(s), where);
  const auto found = s.node_rank.find(node.id);
  if (found == s.node_rank.end()) {
    if (s.nodes.size() >= static_cast<std::size_t>(kMaxNodes)) where.fail("too many nodes");
    return;
  }
  const std::int32_t rank = found->second;
  std::uint64_t exists = 0;
  for (const Gpu& g : node.gpu_list) exists |= std::uint64_t{1} << g.index;
  if (node.gpu_list.empty()) exists = node.gpus >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << node.gpus) - 1;
  if ((s.node.held[to_index(rank)] & ~exists) != 0)
    where.fail_at("gpus", fmt::format("node '{}' has GPUs that running jobs hold", node.id));
  if (s.node.held[to_index(rank)] != 0 && node.gpu_type != s.nodes[to_index(rank)].gpu_type) {
    where.fail_at("gpu_type", fmt::format("jobs run on the '{}' GPUs of node '{}'", s.nodes[to_index(rank)].gpu_type, node.id));
  }
  const auto used = s.node.gpu_used_ppm.begin();
  if (!node.sharing &&
      std::any_of(used + s.node.gpu_begin[to_index(rank)], used + s.node.gpu_begin[to_index(rank) + 1], [](auto ppm) { return ppm > 0; })) {
    where.fail_at("sharing", fmt::format("running jobs hold shares of GPUs of node '{}'", node.id));
  }
  if (node.cpu_milli >= 0 && s.node.cpu_held[to_index(rank)] > node.cpu_milli) where.fail_at("cpu_cores", "fewer than running jobs hold");
  if (node.memory_bytes >= 0 && s.node.memory_held[to_index(rank)] > node.memory_bytes)
    where.fail_at("memory_bytes", "less than running jobs hold");
}

void check_put_job(const StateImpl& s, const Job& job, const InputLocation& where) {
  check_job(job, StateReferences(s), where);
  if (job.state != JobState::kRunning) return;
  const auto found = s.index_of_job.find(job.id);
  Ledger(s, found == s.index_of_job.end() ? -1 : found->second).add(job, job.allocation, StateReferences(s), where);
}

void check_put_queue(const StateImpl& s, const Queue& queue, const InputLocation& where) {
  check_queue(queue, StateReferences(s), where);
  std::vector<Queue> all = s.queues;
  const auto same = std::find_if(all.begin(), all.end(), [&](const Queue& q) { return q.id == queue.id; });
  if (same == all.end()) {
    all.push_back(queue);
  } else {
    *same = queue;
  }
  check_queue_tree(all, where);
}

void check_put_reservation(const StateImpl& s, const Reservation& reservation, const InputLocation& where) {
  check_reservation(reservation, StateReferences(s), where);
}

void check_start(const StateImpl& s, std::int32_t job_index, const Allocation& allocation, const InputLocation& where) {
  const Job& job = *s.jobs[to_index(job_index)].job;
  check_held(job, allocation, StateReferences(s), where);
  Ledger(s, job_index).add(job, allocation, StateReferences(s), where);
}

}  // namespace berth::core
