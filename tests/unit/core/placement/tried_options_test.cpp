// The parameter `shape` of queue policies: docs/policies-reference.md, "The shape of a job". Decisions worked by hand.

#include "host/core/placement/tried_options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/base/names.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::tried_options_test {
namespace {

using test::add_job;
using test::run_on;

struct Alternative {
  std::int32_t gpus;
  std::string gpu_type;
};

/// A job of several shapes, `4xa100` and so on. Its rate is that of the square root of its GPUs, so that one GPU costs the least.
Job& add_elastic(Snapshot& s, const std::string& id, const std::vector<Alternative>& shapes) {
  Job& job = add_job(s, id, 1);
  job.shapes.clear();
  job.profile.kind = ProfileKind::kTable;
  for (const Alternative& one : shapes) {
    Shape& shape = job.shapes.emplace_back();
    shape.id = std::to_string(one.gpus) + "x" + one.gpu_type;
    shape.gpus = one.gpus;
    shape.gpu_type = one.gpu_type;
    RatePoint& point = job.profile.points.emplace_back();
    point.gpus = one.gpus;
    point.gpu_type = one.gpu_type;
    point.rate = (one.gpus == 1 ? 100 : one.gpus == 2 ? 141 : one.gpus == 4 ? 200 : 283) * 1'000'000;
  }
  job.progress.work_total = std::int64_t{20'000} * 1'000'000;
  return job;
}

/// n0 has 8 A100, of which `free` are free; n1 has 8 H100.
Snapshot two_types(std::int32_t free) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.nodes[1].gpu_type = "h100";
  std::vector<std::int32_t> held;
  for (std::int32_t g = free; g < 8; ++g) held.push_back(g);
  if (!held.empty()) run_on(add_job(s, "a-hog", 8 - free), "n0", held).preemption.preemptible = false;
  return s;
}

Plan plan_of(const ClusterState& state, const std::string& policy, const std::string& rule) {
  Request request;
  request.policy = policy;
  if (!rule.empty()) request.params = {{"shape", rule}};
  return Engine().decide(state, request);
}

/// "start 4xa100", "wait", and so on.
std::string fate(const Snapshot& s, const std::string& id, const std::string& rule = "", const std::string& policy = "fifo") {
  const ClusterState state(s);
  const Plan plan = plan_of(state, policy, rule);
  const Decision& d = plan.decisions.at(static_cast<std::size_t>(state.job_rank(state.find_job(id))));
  std::string text(core::name(d.action));
  if (d.shape >= 0) text += " " + state.job(d.job)->shapes[static_cast<std::size_t>(d.shape)].id;
  return text;
}

const std::vector<Alternative> kOnA100{{4, "a100"}, {1, "a100"}, {2, "a100"}, {8, "a100"}};

}  // namespace

TEST(TriedOptions, AJobGetsTheGpusThatItAsksFor) {
  Snapshot s = two_types(8);
  add_elastic(s, "e", kOnA100);

  EXPECT_EQ(fate(s, "e"), "start 4xa100");
  EXPECT_EQ(fate(s, "e", "requested"), "start 4xa100");
  EXPECT_EQ(fate(s, "e", "least_gpu_time"), "start 1xa100");
  EXPECT_EQ(fate(s, "e", "largest"), "start 8xa100");
}

TEST(TriedOptions, ItWaitsForThemAndTheReasonIsAboutThem) {
  Snapshot s = two_types(3);
  add_elastic(s, "e", kOnA100);

  EXPECT_EQ(fate(s, "e", "largest"), "start 2xa100");
  EXPECT_EQ(fate(s, "e"), "wait");
  const ClusterState state(s);
  const Plan plan = plan_of(state, "fifo", "requested");
  EXPECT_EQ(plan.decisions[1].reason.code, ReasonCode::kInsufficientGpus);
  EXPECT_EQ(plan.decisions[1].reason.asked, 4);
  EXPECT_EQ(plan.decisions[1].reason.missing, 1);
}

TEST(TriedOptions, AsManyGpusOfAnotherTypeDoAsWell) {
  Snapshot s = two_types(3);
  add_elastic(s, "e", {{4, "a100"}, {2, "a100"}, {2, "h100"}, {4, "h100"}});

  EXPECT_EQ(fate(s, "e"), "start 4xh100");
}

TEST(TriedOptions, TheTypeOfTheFirstShapeMayBeMissing) {
  Snapshot s = two_types(8);
  s.nodes.erase(s.nodes.begin());
  s.jobs.clear();
  add_elastic(s, "e", {{4, "a100"}, {2, "h100"}, {4, "h100"}});

  EXPECT_EQ(fate(s, "e"), "start 4xh100");
}

TEST(TriedOptions, OnATypeWithoutThatManyItsFirstShapeCounts) {
  Snapshot s = two_types(3);
  add_elastic(s, "e", {{8, "a100"}, {4, "h100"}, {2, "h100"}, {1, "a100"}});

  EXPECT_EQ(fate(s, "e"), "start 4xh100");
}

// 8 H100 would do where a node of 8 were there; fewer are not what the job asks for.
TEST(TriedOptions, ATypeThatCouldNeverHoldThatManyIsNotTried) {
  Snapshot s = two_types(3);
  s.nodes[1].gpus = 4;
  add_elastic(s, "e", {{8, "a100"}, {8, "h100"}, {4, "h100"}});

  EXPECT_EQ(fate(s, "e"), "wait");
}

TEST(TriedOptions, WhatTheClusterCouldNeverHoldDoesNotCount) {
  Snapshot s = two_types(8);
  s.jobs.clear();
  add_elastic(s, "e", {{16, "a100"}, {1, "a100"}, {4, "a100"}});
  add_elastic(s, "f", {{16, "a100"}, {2, "a100"}, {1, "a100"}, {16, "h100"}, {4, "h100"}});

  EXPECT_EQ(fate(s, "e"), "start 1xa100");
  EXPECT_EQ(fate(s, "f"), "start 2xa100");
  s.nodes[0].state = NodeState::kFailed;
  EXPECT_EQ(fate(s, "f", "", "las"), "start 4xh100");
}

// GPUs that are busy, failed or drained come back: the job waits for them.
TEST(TriedOptions, WhatIsOutOfServiceCounts) {
  Snapshot s = two_types(8);
  s.jobs.clear();
  s.nodes[1].gpu_type = "a100";
  s.nodes[1].gpus = 2;
  s.nodes[0].state = NodeState::kDrain;
  add_elastic(s, "e", kOnA100);

  EXPECT_EQ(fate(s, "e"), "wait");
}

TEST(TriedOptions, ARunningJobKeepsItsShapeAndADisplacedOneIsResized) {
  Snapshot s = two_types(8);
  s.nodes.resize(2);
  Job& e = add_elastic(s, "e", {{4, "a100"}, {2, "a100"}, {4, "h100"}});
  e.state = JobState::kRunning;
  e.allocation.shape = "2xa100";
  e.allocation.entries = {{"", 0, "n0", {0, 1}, kWholeGpu, false}};
  EXPECT_EQ(fate(s, "e", "", "srtf"), "keep 2xa100");

  add_job(s, "quick", 8).estimate.run_us = kSecond;
  s.jobs.back().shapes[0].gpu_type = "a100";
  EXPECT_EQ(fate(s, "quick", "", "srtf"), "start s");
  EXPECT_EQ(fate(s, "e", "", "srtf"), "resize 4xh100");
}

// 20,000 of work: 100 s on the 4 GPUs that it asks for, 200 s on one. The other job has 150 s.
TEST(TriedOptions, TheRunTimeLeftIsThatOfTheShapeTriedFirst) {
  Snapshot s = two_types(4);
  add_elastic(s, "e", kOnA100);
  add_job(s, "f", 4).estimate.run_us = 150 * kSecond;
  s.jobs.back().shapes[0].gpu_type = "a100";

  EXPECT_EQ(fate(s, "e", "requested", "srtf"), "start 4xa100");
  EXPECT_EQ(fate(s, "f", "requested", "srtf"), "wait");
  EXPECT_EQ(fate(s, "e", "least_gpu_time", "srtf"), "wait");
  EXPECT_EQ(fate(s, "f", "least_gpu_time", "srtf"), "start s");
}

}  // namespace berth::tried_options_test
