#include "host/forecast/present.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "host/core/base/violations.hpp"

namespace berth::sim {
namespace {

/// Whether counts of GPUs say all about where the job may run.
bool is_counted(const Job& job) {
  if (job.shapes.size() != 1 || job.sharing || job.deadline.hard || !job.deadline.later.empty()) return false;
  const Shape& shape = job.shapes.front();
  const Constraints& c = job.constraints;
  return shape.groups.empty() && shape.share_ppm == kWholeGpu && shape.mig_profile.empty() && c.labels.empty() &&
         c.required_nodes.empty() && c.excluded_nodes.empty() && c.gpu_memory_bytes == 0 && c.longest_wait.empty() &&
         job.profile.kind == ProfileKind::kOpaque && job.preemption == Preemption{} && job.waiting_since_us == kNever;
}

}  // namespace

PresentOf::PresentOf(const ClusterState& state, const std::vector<std::int32_t>& rows, PolicyState policy_state)
    : begin_(state.snapshot()) {
  std::unordered_map<std::string, std::int32_t> asked;
  for (const std::int32_t job : rows) asked.emplace(state.job(job)->id, static_cast<std::int32_t>(asked.size()));
  present_.asked = static_cast<std::int32_t>(rows.size());
  present_.now_us = begin_.now_us;
  present_.begin = &begin_;
  present_.policy_state = std::move(policy_state);
  for (const Job& job : begin_.jobs) {  // by (submit, id)
    PresentJob one;
    const Shape& shape = job.shapes.front();
    one.job.id = job.id;
    one.job.user = job.user;
    one.job.queue = job.queue;
    one.job.virtual_cluster = job.virtual_cluster;
    one.job.gpu_type = shape.gpu_type;
    one.job.gpus = shape.gpus;
    one.job.priority = job.priority;
    one.job.submit_us = job.submit_us;
    one.job.time_limit_us = job.time_limit_us;
    one.job.deadline_us = job.deadline.at_us;
    one.job.cpu_milli = job.constraints.cpu_milli_per_gpu;
    one.job.memory_bytes = job.constraints.memory_bytes_per_gpu;
    one.estimate_us = job.estimate.run_us;
    if (job.state == JobState::kRunning) one.held_us = job.progress.run_us;
    const auto row = asked.find(job.id);
    if (row != asked.end()) one.asked = row->second;
    present_.countable = present_.countable && is_counted(job);
    present_.jobs.push_back(std::move(one));
  }
  count_gpus();
}

// Nodes that take no jobs do not count, and neither do the GPUs that jobs have there.
void PresentOf::count_gpus() {
  counted_ = begin_;
  counted_.jobs.clear();
  counted_.history.clear();
  std::int64_t away = 0;
  std::vector<Node> ready;
  for (Node& node : counted_.nodes) {
    if (node.state == NodeState::kReady) {
      ready.push_back(std::move(node));
    } else {
      ++away;
    }
  }
  counted_.nodes = std::move(ready);
  present_.cluster = &counted_;
  if (away > 0) notes_.push_back(fmt::format("nodes that take no jobs now take none in any future: {}", away));
  std::unordered_map<std::string, std::int32_t> rank;
  for (const Node& node : counted_.nodes) rank.emplace(node.id, static_cast<std::int32_t>(rank.size()));
  for (std::size_t j = 0; j < present_.jobs.size(); ++j) {
    PresentJob& one = present_.jobs[j];
    if (one.held_us < 0) continue;
    std::int32_t gpus = 0;
    for (const AllocationEntry& entry : begin_.jobs[j].allocation.entries) {
      const auto node = rank.find(entry.node);
      if (node == rank.end()) continue;
      CountedGpus held{node->second, static_cast<std::int32_t>(entry.gpus.size()), 0};
      for (const std::int32_t gpu : entry.gpus) held.mask |= std::uint64_t{1} << gpu;
      gpus += held.gpus;
      one.gpus.push_back(held);
    }
    // What a job has on nodes that take no jobs is not given back to any: not by counts.
    if (gpus != one.job.gpus) present_.countable = false;
  }
}

}  // namespace berth::sim
