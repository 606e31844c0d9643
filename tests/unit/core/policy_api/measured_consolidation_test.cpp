// Jobs that were measured to be slower across nodes or racks: docs/placement.md, section 10. Decisions worked by hand.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::measured_consolidation_test {
namespace {

using test::add_job;
using test::run_on;
using Rates = std::vector<std::pair<std::string, std::int64_t>>;  // of a span

/// Racks r0 (n0, n1) and r1 (n2, n3); on each node only the last GPUs are free, as many as stated.
Snapshot with_free(const std::vector<std::int32_t>& free) {
  Snapshot s = test::two_racks();
  for (std::size_t n = 0; n < free.size(); ++n) {
    std::vector<std::int32_t> held;
    for (std::int32_t g = 0; g < 8 - free[n]; ++g) held.push_back(g);
    if (held.empty()) continue;
    Job& hog = run_on(add_job(s, "a" + std::to_string(n), static_cast<std::int32_t>(held.size())), "n" + std::to_string(n), held);
    hog.preemption.preemptible = false;
    hog.estimate.run_us = 1'000 * kSecond;
  }
  return s;
}

void add_measured(Snapshot& s, std::int32_t gpus, const Rates& rates) {
  Job& job = add_job(s, "e", gpus);
  job.shapes[0].gpu_type = "a100";
  job.profile.kind = ProfileKind::kTable;
  for (const auto& [span, rate] : rates) {
    RatePoint& point = job.profile.points.emplace_back();
    point.gpus = gpus;
    point.span = span;
    point.rate = rate * 1'000'000;
  }
  job.progress.work_total = std::int64_t{100'000} * 1'000'000;
}

/// The nodes of job "e" in the plan; empty: it waits.
std::string places(const Snapshot& s, const std::string& policy, const std::string& rule = "") {
  const ClusterState state(s);
  Request request;
  request.policy = policy;
  if (!rule.empty()) request.params = {{"consolidated", rule}};
  const Plan plan = Engine().decide(state, request);
  const Decision& d = plan.decisions.back();
  std::string nodes;
  for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) nodes += state.node(plan.entries[static_cast<std::size_t>(e)].node).id + " ";
  return nodes;
}

class MeasuredConsolidation : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Policies, MeasuredConsolidation, testing::Values("gandiva", "allox"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace

TEST_P(MeasuredConsolidation, AJobThatIsSlowerAcrossNodesWaitsForOne) {
  Snapshot s = with_free({1, 1, 1, 0});
  add_measured(s, 2, {{"node", 100}, {"rack", 50}, {"pod", 50}, {"cluster", 50}});

  EXPECT_EQ(places(s, GetParam()), "");
  EXPECT_EQ(places(s, GetParam(), "measured"), "");
  EXPECT_EQ(places(s, GetParam(), "none"), "n0 n1 ");
}

TEST_P(MeasuredConsolidation, AnyPlaceWithTheSameRateWillDo) {
  const Rates same_in_a_rack{{"node", 100}, {"rack", 100}, {"pod", 99}, {"cluster", 99}};
  Snapshot rack = with_free({1, 1, 0, 0}), apart = with_free({1, 0, 1, 0});
  add_measured(rack, 2, same_in_a_rack);
  add_measured(apart, 2, same_in_a_rack);

  EXPECT_EQ(places(rack, GetParam()), "n0 n1 ");
  EXPECT_EQ(places(apart, GetParam()), "");
  EXPECT_EQ(places(apart, GetParam(), "none"), "n0 n2 ");
}

// Its 12 GPUs are on two nodes in any case, and its rate is that of a rack at best.
TEST_P(MeasuredConsolidation, AJobThatFitsOnNoNodeTakesItsTightestLevel) {
  Snapshot rack = with_free({6, 6, 0, 0}), apart = with_free({6, 0, 6, 0});
  for (Snapshot* s : {&rack, &apart}) add_measured(*s, 12, {{"rack", 100}, {"pod", 60}, {"cluster", 60}});

  EXPECT_EQ(places(rack, GetParam()), "n0 n1 ");
  EXPECT_EQ(places(apart, GetParam()), "");
}

TEST_P(MeasuredConsolidation, NoJobWaitsForAPlaceThatCouldNeverBe) {
  Snapshot s = with_free({6, 6, 6, 0});
  add_measured(s, 18, {{"rack", 100}, {"pod", 60}, {"cluster", 60}});

  EXPECT_EQ(places(s, GetParam()), "n0 n1 n2 ");
}

TEST_P(MeasuredConsolidation, WithoutMeasuredSpansAnyPlaceWillDo) {
  Snapshot s = with_free({1, 1, 1, 0}), opaque = s;
  add_measured(s, 2, {{"", 100}});
  add_job(opaque, "e", 2).estimate.run_us = 100 * kSecond;

  EXPECT_EQ(places(s, GetParam()), "n0 n1 ");
  EXPECT_EQ(places(opaque, GetParam()), "n0 n1 ");
}

}  // namespace berth::measured_consolidation_test
