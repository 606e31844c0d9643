// Plans say until when their order holds.

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::order_until_test {
namespace {

using test::add_job;

Request under(const std::string& policy, std::vector<std::pair<std::string, std::string>> params = {}) {
  Request request;
  request.policy = policy;
  request.params = std::move(params);
  return request;
}

/// One node of 8 GPUs: `hog` runs on all of it with 1,000 s to go, `quick` requests 4 for 10 s.
Snapshot node_held_by_hog() {
  Snapshot s = test::two_racks();
  s.nodes.resize(1);
  test::run_on(add_job(s, "hog", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7}).estimate.run_us = 1'000 * kSecond;
  add_job(s, "quick", 4).estimate.run_us = 10 * kSecond;
  return s;
}

// `hog` holds 8 GPUs and has 100 GPU-seconds of service; the queue ends at 500: 50 s from now.
TEST(OrderUntil, IsWhenAKeyChangesByItself) {
  Snapshot s = node_held_by_hog();
  s.jobs[0].progress.attained_gpu_us = 100 * kSecond;
  const ClusterState state(s);
  Engine engine;

  EXPECT_EQ(engine.decide(state, under("fifo")).order_until_us, kNever);
  EXPECT_EQ(engine.decide(state, under("srsf")).order_until_us, 100 * kSecond) << "now: all the time";
  EXPECT_EQ(engine.decide(state, under("las", {{"thresholds_gpu_s", "500"}})).order_until_us, 150 * kSecond);
}

// `quick` is started on 4 GPUs: it has used 500 GPU-seconds 125 s from now.
TEST(OrderUntil, CountsFromThePlanOnceItIsApplied) {
  Snapshot s = node_held_by_hog();
  s.jobs.erase(s.jobs.begin());
  const ClusterState state(s);
  Engine engine;

  EXPECT_EQ(engine.decide(state, under("las", {{"thresholds_gpu_s", "500"}})).order_until_us, 225 * kSecond);
  EXPECT_EQ(engine.decide(state, under("srsf")).order_until_us, 100 * kSecond) << "now: all the time";
  EXPECT_EQ(engine.decide(state, under("fifo")).order_until_us, kNever);
}

// A waiting job that can start until 170 s is rejected from then on.
TEST(OrderUntil, IsWhenAHardDeadlineIsOutOfReach) {
  Snapshot s = node_held_by_hog();
  Job& late = add_job(s, "late", 8);
  late.estimate.run_us = 30 * kSecond;
  late.deadline = {200 * kSecond, true, 0};
  const ClusterState state(s);
  Engine engine;

  EXPECT_EQ(engine.decide(state, under("fifo")).order_until_us, 170 * kSecond + 1);
}

// `hog`, whose hard deadline has passed, is displaced by `quick`. It leaves with the next decision, whenever that is.
TEST(OrderUntil, IsNotHiddenByALateJobThatIsDisplaced) {
  Snapshot s = node_held_by_hog();
  s.jobs[0].progress.attained_gpu_us = 600 * kSecond;
  s.jobs[0].estimate.run_us = 1'000 * kSecond;
  s.jobs[0].deadline = {90 * kSecond, true, 0};
  const ClusterState state(s);
  Engine engine;

  const Plan plan = engine.decide(state, under("las", {{"thresholds_gpu_s", "500"}}));
  EXPECT_EQ(plan.totals.preempts, 1);
  EXPECT_EQ(plan.order_until_us, 225 * kSecond);
}

}  // namespace
}  // namespace berth::order_until_test
