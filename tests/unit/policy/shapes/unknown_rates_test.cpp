#include <gtest/gtest.h>

#include <string>

#include "tests/support/params.hpp"
#include "tests/unit/policy/shapes/shape_policy_support.hpp"

/// Jobs whose rates are not known run all the same, under every policy that chooses shapes.
namespace berth::test {
namespace {

Snapshot eight_gpus() {
  Snapshot s = one_node();
  s.gpu_types = two_racks().gpu_types;
  return s;
}

// Its rates were measured on another GPU type.
Job& unmeasured(Snapshot& s, const std::string& id, const GpuRates& shapes = {{1, 0}, {2, 0}}) {
  Job& job = elastic(s, id, shapes);
  job.profile.kind = ProfileKind::kTable;
  job.profile.points.resize(1);
  job.profile.points[0].gpu_type = "h100";
  job.profile.points[0].gpus = 1;
  job.profile.points[0].rate = 1'000'000;
  return job;
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

INSTANTIATE_TEST_SUITE_P(All, UnknownRates, ::testing::ValuesIn(shape_policy_names()),
                         [](const auto& each) { return test_name(each.param); });

}  // namespace
}  // namespace berth::test
