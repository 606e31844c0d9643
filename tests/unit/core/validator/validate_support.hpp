#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/plan.hpp"
#include "berth/snapshot.hpp"
#include "host/core/model/cluster_facts.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/validator/plan_validator.hpp"

/// Two racks of two nodes with 8 GPUs each:  r0: n0 n1   r1: n2 n3, both below pod p.
namespace berth::test {

inline Node node_of(const std::string& id, const std::string& rack) {
  Node node;
  node.id = id;
  node.gpu_type = "a100";
  node.gpus = 8;
  node.domain[0] = rack;
  return node;
}

inline Domain domain_of(const std::string& id, const std::string& level, const std::string& parent) {
  Domain domain;
  domain.id = id;
  domain.level = level;
  domain.parent = parent;
  return domain;
}

inline Snapshot two_racks() {
  Snapshot s;
  s.now_us = 100 * kSecond;
  GpuType a100, h100;
  a100.id = "a100";
  a100.memory_bytes = std::int64_t{80} << 30;
  h100.id = "h100";
  s.gpu_types = {a100, h100};
  s.domains = {domain_of("p", "pod", ""), domain_of("r0", "rack", "p"), domain_of("r1", "rack", "p")};
  s.nodes = {node_of("n0", "p/r0"), node_of("n1", "p/r0"), node_of("n2", "p/r1"), node_of("n3", "p/r1")};
  return s;
}

/// A waiting job of `gpus` one-GPU members; ids must be added in ascending order so that job indices are ranks.
inline Job& add_job(Snapshot& s, const std::string& id, std::int32_t gpus) {
  Job job;
  job.id = id;
  Shape shape;
  shape.id = "s";
  shape.gpus = gpus;
  job.shapes = {shape};
  s.jobs.push_back(job);
  return s.jobs.back();
}

/// Lets the job run on these GPUs of one node.
inline Job& run_on(Job& job, const std::string& node, std::vector<std::int32_t> gpus) {
  job.state = JobState::kRunning;
  job.allocation.shape = job.shapes[0].id;
  const auto member = static_cast<std::int32_t>(job.allocation.entries.size());
  job.allocation.entries.push_back(
      {job.shapes[0].groups.empty() ? "" : job.shapes[0].groups[0].name, member, node, std::move(gpus), job.shapes[0].share_ppm, false});
  return job;
}

inline Group group_of(const std::string& name, std::int32_t members, std::int32_t gpus, const std::string& parent = "") {
  Group group;
  group.name = name;
  group.parent = parent;
  group.members_min = group.members_want = group.members_max = members;
  group.gpus_per_member = gpus;
  return group;
}

/// {node rank, mask} entries of a flat gang, members numbered in order.
inline std::vector<PlanEntry> flat(const std::vector<std::pair<std::int32_t, std::uint64_t>>& pieces, std::int32_t gpus_per_member = 1) {
  std::vector<PlanEntry> entries;
  std::int32_t member = 0;
  for (const auto& piece : pieces) {
    const std::int32_t members = __builtin_popcountll(piece.second) / gpus_per_member;
    entries.push_back({piece.first, 0, member, members, piece.second, kWholeGpu});
    member += members;
  }
  return entries;
}

/// Builds a plan: at first every job waits or is kept, then give() changes decisions.
class PlanMaker {
 public:
  explicit PlanMaker(Snapshot&&) = delete;  // the facts point into the snapshot
  explicit PlanMaker(const Snapshot& s) : facts(core::facts_source(s)) {
    plan.now_us = s.now_us;
    for (const std::int32_t job_index : facts.by_rank()) {
      const core::JobFacts& job = facts.job(job_index);
      Decision d;
      d.job = job_index;
      d.action = job.running ? Action::kKeep : Action::kWait;
      d.shape = job.running ? job.shape : -1;
      d.reason.code = job.running ? ReasonCode::kNone : ReasonCode::kInsufficientGpus;
      d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
      for (const core::HeldFact& h : facts.held(job))
        plan.entries.push_back({h.node, h.group, h.member, h.members, h.mask, h.share_ppm, h.time_shared});
      d.entry_end = static_cast<std::int32_t>(plan.entries.size());
      plan.decisions.push_back(d);
    }
  }

  Decision& give(std::int32_t job, Action action, const std::vector<PlanEntry>& entries = {}, TimeUs finish = kNever) {
    Decision& d = plan.decisions[static_cast<std::size_t>(job)];
    d.action = action;
    d.shape = entries.empty() ? -1 : 0;
    d.start_us = plan.now_us;
    d.finish_us = finish;
    d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
    plan.entries.insert(plan.entries.end(), entries.begin(), entries.end());
    d.entry_end = static_cast<std::int32_t>(plan.entries.size());
    d.reason.code = entries.empty() ? ReasonCode::kLostPriority : ReasonCode::kNone;
    return d;
  }

  /// All violations, one per line; empty for a valid plan.
  std::string check() {
    plan.totals = {};
    for (const Decision& d : plan.decisions) core::count(plan.totals, d.action);
    count_gpus();
    return check_as_is();
  }
  std::string check_as_is() {
    core::PlanValidator validator;
    std::string text;
    for (const std::string& one : validator.check(facts, plan)) text += one + "\n";
    return text;
  }

  core::ClusterFacts facts;
  Plan plan;

 private:
  void count_gpus() {
    for (std::int32_t n = 0; n < facts.node_count(); ++n) {
      std::uint64_t held = 0;
      for (const std::int32_t job : facts.by_rank()) {
        for (const core::HeldFact& h : facts.held(facts.job(job))) held |= h.node == n ? h.mask : 0;
      }
      plan.totals.gpus += __builtin_popcountll(facts.node(n).ok | (facts.node(n).works & held));
    }
    for (const Decision& d : plan.decisions) {
      const bool later = d.action == Action::kReserve;
      for (std::int32_t e = later ? d.entry_end : d.entry_begin; e < d.entry_end && e < static_cast<std::int32_t>(plan.entries.size());
           ++e) {
        const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
        if (entry.share_ppm == kWholeGpu) plan.totals.gpus_used += __builtin_popcountll(entry.gpus);
      }
    }
  }
};

}  // namespace berth::test
