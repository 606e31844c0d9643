#pragma once

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

/// One node of 8 GPUs, and jobs of several shapes, for policies that choose among them.
namespace berth::test {

inline Snapshot one_node(std::int32_t gpus = 8) {
  Snapshot s = two_racks();
  s.nodes.resize(1);
  s.nodes[0].gpus = gpus;
  s.gpu_types.resize(1);
  return s;
}

/// A node of a100 and one of h100; jobs a and b of 8 GPUs, with shape "s" on the one type and "h" on the other. On a100
/// both are equally fast. On h100 a is as fast, and b a third as fast.
inline Snapshot two_types() {
  Snapshot s = two_racks();
  s.nodes.resize(2);
  s.nodes[1].gpu_type = "h100";
  for (const char* id : {"a", "b"}) {
    Job& job = add_job(s, id, 8);
    job.shapes[0].gpu_type = "a100";
    job.shapes[0].rate = 3'000'000;
    job.shapes.push_back(job.shapes[0]);
    job.shapes[1].id = "h";
    job.shapes[1].gpu_type = "h100";
    job.shapes[1].rate = *id == 'a' ? 3'000'000 : 1'000'000;
  }
  return s;
}

using GpuRates = std::vector<std::pair<std::int32_t, std::int64_t>>;  // GPUs, millionths of the unit per second

/// Speeds 1, 1.9, 3.4 and 5 on 1, 2, 4 and 8 GPUs.
inline const GpuRates kAmdahl{{1, 1'000'000}, {2, 1'900'000}, {4, 3'400'000}, {8, 5'000'000}};

/// Shapes are named by their GPUs.
inline Job& elastic(Snapshot& s, const std::string& id, const GpuRates& rates = kAmdahl) {
  Job& job = add_job(s, id, 1);
  job.shapes.clear();
  for (const auto& [gpus, rate] : rates) {
    Shape shape;
    shape.id = std::to_string(gpus);
    shape.gpus = gpus;
    shape.rate = rate;
    job.shapes.push_back(shape);
  }
  return job;
}

inline Job& lasting(Job& job, std::int64_t seconds) {
  job.estimate.run_us = seconds * kSecond;
  return job;
}

/// Lets an elastic job run on the first GPUs of a node.
inline Job& runs(Job& job, std::int32_t gpus, const std::string& node = "n0") {
  std::vector<std::int32_t> indices(static_cast<std::size_t>(gpus));
  std::iota(indices.begin(), indices.end(), 0);
  run_on(job, node, indices).allocation.shape = std::to_string(gpus);
  return job;
}

/// A queue of at most 8 GPUs, of which "z" keeps 6; 8 of the node's 14 are free. Add jobs before.
inline Snapshot& with_two_left_of_a_cap(Snapshot& s) {
  Queue queue;
  queue.id = "q";
  queue.quotas = {{"*", 0, 8, kUnlimited}};
  s.queues = {queue};
  for (Job& job : s.jobs) job.queue = "q";
  Job& z = run_on(add_job(s, "z", 6), "n0", {8, 9, 10, 11, 12, 13});
  z.queue = "q";
  z.preemption.preemptible = false;
  return s;
}

inline Request asking(const std::string& policy, std::vector<std::pair<std::string, std::string>> params = {}) {
  Request request;
  request.policy = policy;
  request.params = std::move(params);
  return request;
}

inline Plan valid_plan(const ClusterState& state, const Request& request, PolicyState& kept) {
  Plan plan;
  Engine().decide(state, kept, request, plan);
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  return plan;
}

inline Plan valid_plan(const ClusterState& state, const Request& request) {
  PolicyState kept;
  return valid_plan(state, request, kept);
}

/// "start 4": the action and the shape of a job.
inline std::string fate(const ClusterState& state, const Plan& plan, const std::string& id) {
  const std::int32_t job = state.find_job(id);
  const Decision& d = plan.decisions.at(static_cast<std::size_t>(state.job_rank(job)));
  std::string text(to_string(d.action));
  return d.shape < 0 ? text : text + " " + state.job(job)->shapes.at(static_cast<std::size_t>(d.shape)).id;
}

}  // namespace berth::test
