#include <gtest/gtest.h>

#include <string>

#include "tests/support/params.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

/// Jobs whose rates are not known run all the same, under every policy that chooses shapes.
namespace berth::test::unknown_rates_test {
namespace {

Snapshot eight_gpus() {
  Snapshot s = one_node();
  s.gpu_types = two_racks().gpu_types;
  return s;
}

// Shapes have the rates that they name, and one was measured on h100.
Job& measured_on_h100(Job& job, std::int32_t gpus) {
  job.profile.kind = ProfileKind::kTable;
  job.profile.points.resize(1);
  job.profile.points[0].gpu_type = "h100";
  job.profile.points[0].gpus = gpus;
  job.profile.points[0].rate = 1'000'000;
  return job;
}

Job& unmeasured(Snapshot& s, const std::string& id, const GpuRates& shapes = {{1, 0}, {2, 0}}) {
  return measured_on_h100(elastic(s, id, shapes), 1);
}

class UnknownRates : public ::testing::TestWithParam<std::string> {
 protected:
  Plan plan_of(const ClusterState& state) const { return valid_plan(state, asking(GetParam(), short_search(GetParam()))); }
};

TEST_P(UnknownRates, AJobStarts) {
  Snapshot s = eight_gpus();
  unmeasured(s, "a");
  const ClusterState state(s);
  EXPECT_EQ(plan_of(state).decisions[0].action, Action::kStart);
}

TEST_P(UnknownRates, ARunningJobIsNotStopped) {
  Snapshot s = eight_gpus();
  runs(unmeasured(s, "a"), 2);
  const ClusterState state(s);
  EXPECT_TRUE(runs_now(plan_of(state).decisions[0].action));
}

// The cluster has 8 GPUs: the one known rate says nothing of the other shapes.
TEST_P(UnknownRates, AJobStartsWhoseOnlyKnownRateIsOfAnImpossibleShape) {
  Snapshot s = eight_gpus();
  unmeasured(s, "a", {{1, 0}, {16, 9'000'000}});
  const ClusterState state(s);
  EXPECT_EQ(plan_of(state).decisions[0].action, Action::kStart);
}

// a runs where its rate is not known; b cannot run there. `gavel-ftf` and `optimus` let a displace b, as its rate is known there.
TEST_P(UnknownRates, ARunningJobStaysWhereItsRateIsUnknownAndKnownElsewhere) {
  Snapshot s = two_types();
  Job& a = s.jobs[0];
  Job& b = s.jobs[1];
  measured_on_h100(a, 8).shapes[0].rate = 0;
  a.weight_ppm = 1'000;
  lasting(a, 1'000'000);
  run_on(a, "n0", {0, 1, 2, 3, 4, 5, 6, 7}).allocation.shape = a.shapes[0].id;
  b.shapes.erase(b.shapes.begin());
  run_on(b, "n1", {0, 1, 2, 3, 4, 5, 6, 7}).allocation.shape = "h";
  for (Job* job : {&a, &b}) job->preemption.preemptible = true;
  const ClusterState state(s);
  const bool moves = GetParam() == "gavel-ftf" || GetParam() == "optimus";
  EXPECT_EQ(fate(state, plan_of(state), "a"), moves ? "resize h" : "keep s");
}

TEST_P(UnknownRates, AJobStartsWhoseKnownRateIsOfItsLargestShape) {
  Snapshot s = eight_gpus();
  unmeasured(s, "a", {{1, 0}, {8, 9'000'000}});
  const ClusterState state(s);
  EXPECT_EQ(plan_of(state).decisions[0].action, Action::kStart);
}

// The other type is not there, or taken by a job that stays.
TEST_P(UnknownRates, AJobStartsWhoseKnownRateIsOfATypeThatIsTaken) {
  Snapshot s = two_types();
  Job& a = s.jobs[0];
  Job& b = s.jobs[1];
  measured_on_h100(a, 8).shapes[0].rate = 0;
  b.shapes.erase(b.shapes.begin());
  run_on(b, "n1", {0, 1, 2, 3, 4, 5, 6, 7}).allocation.shape = "h";
  b.preemption.preemptible = false;
  const ClusterState state(s);
  EXPECT_EQ(plan_of(state).decisions[0].action, Action::kStart);
}

// Most jobs run on a100 only, where its rate is not known.
TEST_P(UnknownRates, AJobStartsWhoseKnownRateIsOfATypeThatFewUse) {
  Snapshot s = two_types();
  Job& a = measured_on_h100(s.jobs[0], 4);
  a.shapes[0].rate = 0;
  s.jobs[1].shapes.pop_back();
  for (Job& job : s.jobs) {
    for (Shape& shape : job.shapes) shape.gpus = 4;
  }
  const ClusterState state(s);
  for (const Decision& d : plan_of(state).decisions) EXPECT_EQ(d.action, Action::kStart);
}

INSTANTIATE_TEST_SUITE_P(All, UnknownRates, ::testing::ValuesIn(shape_policy_names()),
                         [](const auto& each) { return test_name(each.param); });

// 4 GPUs are free: those of its shape of unknown rate, which was not tried.
TEST(UnknownRatesReason, IsOfTheShapesThatWereTried) {
  Snapshot s = eight_gpus();
  runs(lasting(elastic(s, "z", {{4, 9'000'000}}), 10), 4);
  lasting(unmeasured(s, "a", {{1, 0}, {8, 9'000'000}}), 1'000'000);
  const ClusterState state(s);
  const Plan plan = valid_plan(state, asking("afs"));
  const Decision& d = plan.decisions[static_cast<std::size_t>(state.job_rank(state.find_job("a")))];
  EXPECT_EQ(d.action, Action::kWait);
  EXPECT_EQ(d.reason.asked, 8);
  EXPECT_EQ(d.reason.missing, 4);
}

}  // namespace
}  // namespace berth::test::unknown_rates_test
