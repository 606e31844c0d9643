// Where a shape is slower in wide places than in tight ones, the scheduling pass of a choice counts the value there.

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "berth/state.hpp"
#include "host/core/choice/tight_places.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::shape_places_test {
namespace {

using test::fate;

RatePoint point(std::int32_t gpus, const char* span, std::int64_t rate) {
  RatePoint one;
  one.gpus = gpus;
  one.span = span;
  one.rate = rate;
  return one;
}

// Two nodes of 8 GPUs in one rack with 4 idle GPUs each, and a job of 8 or 4 GPUs. With 8 its rate is 8 on one node.
ClusterState half_idle_nodes(std::int64_t rate_across_nodes) {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.gpu_types.resize(1);
  for (const char* node : {"n0", "n1"}) {
    Job& fixed = test::lasting(test::add_job(s, std::string("a-") + node, 4), 100'000);
    fixed.preemption.preemptible = false;
    test::run_on(fixed, node, {0, 1, 2, 3});
  }
  Job& job = test::elastic(s, "e", {{8, 0}, {4, 0}});
  job.profile.kind = ProfileKind::kTable;
  job.profile.unit = "samples";
  job.profile.points = {point(8, "node", 8'000'000), point(8, "rack", rate_across_nodes), point(4, "node", 4'000'000)};
  return ClusterState(s);
}

// The same on all backends.
Plan planned(const ClusterState& state, const std::string& objective, const std::string& policy = "price") {
  Request request = test::asking(policy, {{"objective", objective}});
  const Plan plan = test::valid_plan(state, request);
  for (const auto& [backend, threads] : {std::pair(Backend::kReference, 1), std::pair(Backend::kCpu, 1), std::pair(Backend::kCpu, 2)}) {
    request.backend = backend;
    request.threads = threads;
    EXPECT_TRUE(same_plan(test::valid_plan(state, request), plan)) << static_cast<int>(backend) << ' ' << threads;
  }
  return plan;
}

TEST(ShapePlaces, ASmallerShapeOnOneNodeIsBetterThanASlowOneAcrossNodes) {
  const ClusterState state = half_idle_nodes(3'000'000);
  for (const char* policy : {"price", "pop"}) {
    for (const char* objective : {"throughput", "goodput", "flow_time"}) {
      const Plan plan = planned(state, objective, policy);
      EXPECT_EQ(fate(state, plan, "e"), "start 4") << policy << ' ' << objective;
    }
  }
}

TEST(ShapePlaces, AShapeAcrossNodesIsTakenWhereItIsStillTheBest) {
  const ClusterState state = half_idle_nodes(5'000'000);
  for (const char* objective : {"throughput", "goodput", "flow_time"}) {
    const Plan plan = planned(state, objective);
    EXPECT_EQ(fate(state, plan, "e"), "start 8") << objective;
    EXPECT_EQ(plan.decisions[2].entry_end - plan.decisions[2].entry_begin, 2) << objective;
  }
}

// The level of `switch` that the 8 GPUs of e are narrowed to; -1: none.
std::int32_t narrowed_level(const ClusterState& state) {
  const StateImpl& s = state.impl();
  core::TightPlaces places;
  places.begin(s);
  const std::int32_t job = state.find_job("e");
  const core::DemandTable& demands = s.demands;
  for (std::size_t o = 0; o < s.jobs[static_cast<std::size_t>(job)].options.size(); ++o) {
    const std::int32_t demand = places.of(s, job, static_cast<std::int32_t>(o)).demand;
    const kernel::DemandRow& row = demands.rows()[static_cast<std::size_t>(demand)];
    if (row.gpus == 8) return demands.groups()[static_cast<std::size_t>(row.group_begin)].require_level;
  }
  return -2;
}

// Beyond the rack no rate is known.
TEST(ShapePlaces, AShapeIsNarrowedToTheWidestPlacesWithoutALoss) {
  EXPECT_EQ(narrowed_level(half_idle_nodes(7'999'999)), 0);
  EXPECT_EQ(narrowed_level(half_idle_nodes(8'000'000)), 1);
  Snapshot s = test::two_racks();
  test::elastic(s, "e", {{8, 8'000'000}, {4, 4'000'000}});  // the same rates everywhere
  EXPECT_EQ(narrowed_level(ClusterState(s)), -1);
}

// A job of 16 GPUs cannot be on one node; its rate is the same in a rack and beyond.
TEST(ShapePlaces, AShapeLargerThanANodeIsTriedInTheWidestPlacesWithoutALoss) {
  for (const std::int64_t beyond : {4'000'000, 12'000'000, 16'000'000}) {
    Snapshot s = test::two_racks();
    s.gpu_types.resize(1);
    for (Node& node : s.nodes) node.gpu_type = s.gpu_types[0].id;
    ASSERT_EQ(s.nodes.size(), 4U);
    test::run_on(test::lasting(test::add_job(s, "a", 4), 100'000), s.nodes[1].id, {0, 1, 2, 3}).preemption.preemptible = false;
    test::run_on(test::lasting(test::add_job(s, "b", 4), 100'000), s.nodes[3].id, {0, 1, 2, 3}).preemption.preemptible = false;
    Job& job = test::elastic(s, "e", {{16, 0}, {8, 0}});
    job.profile.kind = ProfileKind::kTable;
    job.profile.unit = "samples";
    job.profile.points = {point(16, "rack", 16'000'000), point(16, "pod", beyond), point(16, "cluster", beyond),
                          point(8, "node", 8'000'000)};
    const ClusterState state(s);
    EXPECT_EQ(fate(state, planned(state, "throughput"), "e"), beyond > 8'000'000 ? "start 16" : "start 8") << beyond;
  }
}

// The policy narrows b to members of 8 GPUs: the drained node of one GPU could not serve it.
TEST(ShapePlaces, AReasonOfANarrowedDemandIsValid) {
  Snapshot s = test::two_racks();
  s.gpu_types.resize(1);
  for (Node& node : s.nodes) node.gpu_type = s.gpu_types[0].id;
  s.nodes[2].gpus = 1;
  s.nodes[2].state = s.nodes[3].state = NodeState::kDrain;
  test::add_job(s, "a", 8);
  test::add_job(s, "b", 16);
  const ClusterState state(s);
  EXPECT_EQ(fate(state, test::valid_plan(state, test::asking("fifo", {{"packing", "consolidate"}})), "b"), "wait");
  EXPECT_EQ(fate(state, test::valid_plan(state, test::asking("tiresias")), "b"), "wait");
}

// Its table has rates on another type only, whose GPUs are taken.
TEST(ShapePlaces, AJobOfUnknownRateIsNotPreemptedForNothing) {
  Snapshot s = test::two_types();
  s.jobs.clear();
  Job& job = test::run_on(test::lasting(test::add_job(s, "a", 8), 1'000), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  job.profile.kind = ProfileKind::kTable;
  job.profile.unit = "samples";
  job.profile.points = {point(8, "", 4'000'000)};
  job.profile.points[0].gpu_type = "h100";
  test::run_on(test::lasting(test::add_job(s, "b", 8), 1'000), "n1", {0, 1, 2, 3, 4, 5, 6, 7}).preemption.preemptible = false;
  const ClusterState state(s);
  for (const char* policy : {"price", "afs", "optimus", "allox", "pop", "ones-plus"}) {
    EXPECT_EQ(fate(state, test::valid_plan(state, test::asking(policy)), "a"), "keep s") << policy;
  }
}

}  // namespace
}  // namespace berth::shape_places_test
