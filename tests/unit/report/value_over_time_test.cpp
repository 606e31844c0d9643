#include "host/report/value_over_time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "tests/unit/policy/shapes/shape_policy_support.hpp"

namespace berth::value_over_time_test {
namespace {

/// Two jobs on half a node each, and one that needs a whole one: a plan that a search can improve.
Snapshot to_improve() {
  Snapshot s = test::two_racks();
  s.nodes.resize(2);
  s.gpu_types.resize(1);
  test::runs(test::elastic(s, "a", {{4, 4'000'000}}), 4, "n0");
  test::runs(test::elastic(s, "b", {{4, 4'000'000}}), 4, "n1");
  test::add_job(s, "c", 8).shapes[0].groups = {test::group_of("all", 1, 8)};
  return s;
}

report::ValueOverTime watched(const Request& request, Plan& plan) {
  Engine engine;
  PolicyState kept;
  return report::value_over_time(engine, ClusterState(to_improve()), kept, request, plan);
}

TEST(ValueOverTime, HasAStepForEachChangeOfTheHistory) {
  Plan plan;
  const report::ValueOverTime found = watched(test::asking("ones-plus", {{"generations", "20"}}), plan);
  ASSERT_EQ(found.steps.size(), plan.history.size());
  ASSERT_GE(found.steps.size(), 2U);
  for (std::size_t i = 0; i < found.steps.size(); ++i) {
    EXPECT_EQ(found.steps[i].score, plan.history[i].second);
    EXPECT_GE(found.steps[i].seconds, i == 0 ? 0 : found.steps[i - 1].seconds);
    EXPECT_LE(found.steps[i].seconds, found.seconds);
  }
  EXPECT_EQ(found.generations, 20);
  EXPECT_EQ(found.value, plan.bound.value);
  EXPECT_EQ(found.bound, plan.bound.bound);
}

TEST(ValueOverTime, AsksTheCallersProgressToo) {
  Request request = test::asking("ones-plus", {{"generations", "20"}});
  std::vector<std::int64_t> told;
  request.progress = [&](std::int64_t made, std::int64_t) {
    told.push_back(made);
    return made < 2;
  };
  Plan plan;
  EXPECT_EQ(watched(request, plan).generations, 2);
  EXPECT_EQ(told, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(plan.stopped_by, "cancel");
}

TEST(ValueOverTime, APlanWithoutASearchIsOneStep) {
  Plan plan;
  const report::ValueOverTime found = watched(test::asking("price"), plan);
  EXPECT_EQ(found.steps, (std::vector<report::ValueStep>{{found.seconds, plan.bound.value}}));
  EXPECT_EQ(found.generations, 0);
}

}  // namespace
}  // namespace berth::value_over_time_test
