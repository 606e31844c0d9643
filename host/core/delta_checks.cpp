#include "host/core/delta_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

std::size_t at(std::int32_t i) { return static_cast<std::size_t>(i); }

class StateReferences final : public References {
 public:
  explicit StateReferences(const StateImpl& state) : s_(state) {}

  const GpuType* gpu_type(std::string_view id) const override {
    const auto found = s_.type_index.find(std::string(id));
    return found == s_.type_index.end() ? nullptr : &s_.gpu_types[at(found->second)];
  }
  bool has_domain(Facet facet, std::string_view path) const override {
    return std::any_of(s_.domains.begin(), s_.domains.end(),
                       [&](const Domain& d) { return d.facet == facet && path == (d.parent.empty() ? d.id : d.parent + "/" + d.id); });
  }
  bool has_level(Facet facet, std::string_view level) const override {
    const std::int32_t l = s_.topology.level(facet, level);
    return l > 0 && l < s_.topology.levels(static_cast<std::int32_t>(facet)) - 1;
  }
  bool has_queue(std::string_view id) const override { return s_.queue_index.count(std::string(id)) != 0; }
  bool has_virtual_cluster(std::string_view id) const override {
    bool any = false;
    for (const Node& n : s_.nodes) {
      if (n.virtual_clusters.empty()) return true;
      any = true;
      if (std::find(n.virtual_clusters.begin(), n.virtual_clusters.end(), id) != n.virtual_clusters.end()) return true;
    }
    return !any;
  }
  const Node* node(std::string_view id) const override {
    const auto found = s_.node_rank.find(std::string(id));
    return found == s_.node_rank.end() ? nullptr : &s_.nodes[at(found->second)];
  }

 private:
  const StateImpl& s_;
};

/// Nobody else holds what the job's allocation names. `slot`: the job's own, or -1 for a new one.
void check_not_held(const StateImpl& s, std::int32_t slot, const Job& job, const Where& where) {
  const Where allocation(where, "allocation");
  for (std::size_t i = 0; i < job.allocation.entries.size(); ++i) {
    const AllocationEntry& entry = job.allocation.entries[i];
    const Where here(allocation, "entries", static_cast<std::int64_t>(i));
    const std::int32_t rank = s.node_rank.at(entry.node);
    std::uint64_t mine = 0;
    std::int64_t my_cpu = 0;
    std::int64_t my_memory = 0;
    std::int32_t my_share = 0;
    if (slot >= 0) {
      for (const auto& h : s.jobs[at(slot)].held) {
        if (h.node != rank) continue;
        mine |= h.mask;
        my_cpu += h.cpu;
        my_memory += h.memory;
        my_share = h.share_ppm < kWholeGpu ? h.share_ppm : 0;
      }
    }
    for (const std::int32_t g : entry.gpus) {
      const std::uint64_t bit = std::uint64_t{1} << g;
      const std::int32_t used = s.node.gpu_used_ppm[at(s.node.gpu_begin[at(rank)] + g)] - ((mine & bit) != 0 ? my_share : 0);
      const bool whole_by_other = (s.node.held[at(rank)] & bit) != 0 && used == 0 && (mine & bit) == 0;
      if (whole_by_other || used + entry.share_ppm > kWholeGpu) {
        here.fail_at("gpus", fmt::format("GPU {} of node '{}' is held by another job", g, entry.node));
      }
    }
    std::int64_t cpu = 0;
    std::int64_t memory = 0;
    for (const AllocationEntry& other : job.allocation.entries) {
      if (other.node != entry.node) continue;
      cpu += static_cast<std::int64_t>(other.gpus.size()) * job.constraints.cpu_milli_per_gpu;
      memory += static_cast<std::int64_t>(other.gpus.size()) * job.constraints.memory_bytes_per_gpu;
    }
    const Node& node = s.nodes[at(rank)];
    if (node.cpu_milli >= 0 && s.node.cpu_held[at(rank)] - my_cpu + cpu > node.cpu_milli) {
      here.fail_at("node", fmt::format("node '{}' has too few cores left", entry.node));
    }
    if (node.memory_bytes >= 0 && s.node.memory_held[at(rank)] - my_memory + memory > node.memory_bytes) {
      here.fail_at("node", fmt::format("node '{}' has too little memory left", entry.node));
    }
  }
}

}  // namespace

void check_put_node(const StateImpl& s, const Node& node, const Where& where) {
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
  if ((s.node.held[at(rank)] & ~exists) != 0) where.fail_at("gpus", fmt::format("node '{}' has GPUs that running jobs hold", node.id));
  if (s.node.held[at(rank)] != 0 && node.gpu_type != s.nodes[at(rank)].gpu_type) {
    where.fail_at("gpu_type", fmt::format("jobs run on the '{}' GPUs of node '{}'", s.nodes[at(rank)].gpu_type, node.id));
  }
  if (node.cpu_milli >= 0 && s.node.cpu_held[at(rank)] > node.cpu_milli) where.fail_at("cpu_cores", "fewer than running jobs hold");
  if (node.memory_bytes >= 0 && s.node.memory_held[at(rank)] > node.memory_bytes)
    where.fail_at("memory_bytes", "less than running jobs hold");
}

void check_put_job(const StateImpl& s, const Job& job, const Where& where) {
  check_job(job, StateReferences(s), where);
  if (job.state != JobState::kRunning) return;
  const auto found = s.job_slot.find(job.id);
  check_not_held(s, found == s.job_slot.end() ? -1 : found->second, job, where);
}

void check_put_queue(const StateImpl& s, const Queue& queue, const Where& where) {
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

void check_put_reservation(const StateImpl& s, const Reservation& reservation, const Where& where) {
  check_reservation(reservation, StateReferences(s), where);
}

void check_start(const StateImpl& s, std::int32_t slot, const Allocation& allocation, const Where& where) {
  Job next = *s.jobs[at(slot)].job;
  next.state = JobState::kRunning;
  next.allocation = allocation;
  check_allocation(next, StateReferences(s), where);
  check_not_held(s, slot, next, where);
}

}  // namespace berth::core
