#include "host/sim/iterations/iterations.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace berth::sim::iterations_test {
namespace {

constexpr std::int64_t kStep = 1'000'000;
using Places = std::vector<Iterations::Place>;

IterationForm computing(std::vector<TimeUs> stage_us, std::int64_t bytes = 0) {
  IterationForm form;
  form.stage_us = std::move(stage_us);
  form.bytes = bytes;
  form.step = kStep;
  return form;
}

// Two nodes of two GPUs; a byte takes one microsecond, or three where two all-reduces share a link.
struct Floor {
  explicit Floor(IterationRules rules = {}) : run({0, 1'000'000'000, 1'000'000'000}, rules, std::array<std::int32_t, 2>{2, 2}) {}

  void start(std::int32_t job, const IterationForm& form, std::int64_t iterations, const Places& places, TimeUs now = 0,
             TimeUs working_from = -1) {
    run.start({job, job, iterations * kStep, working_from < 0 ? now : working_from, &costs, places}, form, now);
  }
  // "job@instant" of all ends, in order.
  std::string ends(TimeUs now = 0, TimeUs limit = kNever) {
    std::string all;
    for (TimeUs at = run.run_until(now, limit, {}); at != kNever && at < limit; at = run.run_until(at, limit, {})) {
      for (const std::int32_t job : run.ended()) all += std::to_string(job) + "@" + std::to_string(at) + " ";
      for (const std::int32_t job : std::vector<std::int32_t>(run.ended())) last = run.stop(job, at);
    }
    return all;
  }

  Costs costs;
  Executed last;
  Iterations run;
};

const Places kGpu{{0, 0}}, kNode{{0, 0}, {0, 1}}, kAcross{{0, 0}, {1, 0}};

}  // namespace

TEST(Iterations, AloneTakeTheirStagesAndTheirAllReduce) {
  Floor floor;
  floor.start(0, computing({36, 54}, 10), 100, kAcross);
  EXPECT_EQ(floor.ends(), "0@10000 ");
  EXPECT_EQ(floor.last.done, 100 * kStep);
  EXPECT_TRUE(floor.last.had_gpu_us == 20'000);
  EXPECT_TRUE(floor.last.busy_gpu_us == 18'000);

  Floor within;
  within.start(0, computing({36, 54}, 10), 100, kNode);
  EXPECT_EQ(within.ends(), "0@9000 ") << "on one node gradients cost nothing";
}

TEST(Iterations, ALastOneThatDoesLessIsShorter) {
  Floor floor;
  floor.run.start({0, 0, 2 * kStep + kStep / 4, 5, &floor.costs, kGpu}, computing({40, 1}), 0);
  EXPECT_EQ(floor.ends(), "0@98 ") << "5 + 2 x 41 + 10 + 1 rounded up";
  EXPECT_TRUE(floor.last.paid_gpu_us == 5);
}

TEST(Iterations, ShareAGpuInTimeSlices) {
  Floor fifo;
  fifo.start(0, computing({10}), 3, kGpu);
  fifo.start(1, computing({10}), 5, kGpu);
  EXPECT_EQ(fifo.ends(), "0@50 1@80 ");

  Floor least({Admission::kAny, GpuOrder::kLeast});
  least.start(0, computing({10}), 5, kGpu);
  least.start(1, computing({10}), 3, kGpu);
  EXPECT_EQ(least.ends(), "1@30 0@80 ");
}

// A stage that has begun is not interrupted, and a job that is not ready does not block a GPU.
TEST(Iterations, LeaveAGpuToOthersWhileTheyExchange) {
  Floor floor({Admission::kAny, GpuOrder::kLeast});
  floor.start(0, computing({10}, 20), 2, kAcross);
  floor.start(1, computing({8}), 10, kGpu);

  // 0: computes 0-10 and exchanges until 30; its GPU on node 0 is busy until 34, and then it computes until 44, and exchanges until 64.
  EXPECT_EQ(floor.ends(), "0@64 1@100 ");
}

TEST(Iterations, ResourcesOfAGpuServeOneStageEach) {
  IterationForm loads = computing({30, 10}), computes = computing({10, 30});
  loads.on_lanes = computes.on_lanes = true;
  Floor floor;
  floor.start(0, loads, 10, kGpu);
  floor.start(1, computes, 10, kGpu);
  // The first resource is busy all the time: 40 for the two.
  EXPECT_EQ(floor.ends(), "0@400 1@430 ");
}

// Which resource computing needs is not known where others have one each.
TEST(Iterations, ComputingHasAGpuForItself) {
  IterationForm loads = computing({0, 30});
  loads.on_lanes = true;
  Floor floor;
  floor.start(0, loads, 2, kGpu);
  floor.start(1, computing({10}), 2, kGpu);
  EXPECT_EQ(floor.ends(), "0@70 1@80 ");
}

TEST(Iterations, OneThatComesFindsThemWhereTheyAre) {
  Floor floor;
  floor.start(0, computing({10, 10}, 20), 3, kAcross);  // 40 each
  EXPECT_EQ(floor.ends(0, 55), "");
  EXPECT_EQ(floor.run.done(0, 55), 1 * kStep);
  floor.start(1, computing({100}), 1, kGpu, 55);  // while the second stage of the second iteration runs, until 60

  // It has the GPU from 60 to 160; in between 0 exchanges until 80, and waits until 160: 20 of stages, 20 of exchange.
  EXPECT_EQ(floor.ends(55), "1@160 0@200 ");
}

TEST(Iterations, TwoAllReducesShareACardUntilOneEnds) {
  Floor floor;
  floor.start(0, computing({10}, 20), 1, {{0, 0}, {1, 0}});
  floor.start(1, computing({16}, 20), 1, {{0, 1}, {1, 1}});
  // 10-16 alone: 6 of 20 bytes. Then 3 per byte: 14 bytes until 58, in which the other moves 14 of its 20; 6 alone.
  EXPECT_EQ(floor.ends(), "0@58 1@64 ");

  Floor one({Admission::kOne, GpuOrder::kFifo});
  one.start(0, computing({10}, 20), 1, {{0, 0}, {1, 0}});
  one.start(1, computing({16}, 20), 1, {{0, 1}, {1, 1}});
  EXPECT_EQ(one.ends(), "0@30 1@50 ");
}

TEST(Iterations, StopAtTheLastWholeOne) {
  Floor floor;
  floor.start(0, computing({10}), 100, kGpu);
  EXPECT_EQ(floor.ends(0, 57), "");
  const Executed executed = floor.run.stop(0, 57);
  EXPECT_EQ(executed.done, 5 * kStep);
  EXPECT_TRUE(executed.had_gpu_us == 57 && executed.busy_gpu_us == 50);
  EXPECT_EQ(floor.run.gpus_in_use(), 0);

  floor.start(1, computing({10}), 1, kGpu, 57);
  EXPECT_EQ(floor.ends(57), "1@67 ") << "the GPU is free";
}

TEST(Iterations, AJobThatStaysWithoutWorkingLeavesItsTimeSlices) {
  Floor floor;
  floor.start(0, computing({10}), 100, kGpu);
  floor.start(1, computing({10}), 2, kGpu);
  EXPECT_EQ(floor.ends(0, 15), "");
  EXPECT_EQ(floor.run.stop(0, 15, true).done, kStep);
  EXPECT_EQ(floor.ends(15), "1@30 ");
  EXPECT_EQ(floor.run.gpus_in_use(), 1);
  EXPECT_TRUE(floor.run.stop(0, 40).had_gpu_us == 10) << "what the other leaves";
}

TEST(Iterations, SaveBetweenTwo) {
  Floor floor;
  floor.costs.checkpoint_every_us = 25;
  floor.costs.checkpoint_save_us = 5;
  floor.start(0, computing({10}), 8, kGpu);
  EXPECT_EQ(floor.ends(0, 64), "");
  const Executed executed = floor.run.stop(0, 64);  // 30, saves, 30 from 35 on
  EXPECT_EQ(executed.done, 5 * kStep);
  EXPECT_EQ(executed.saved, 3 * kStep);
  EXPECT_EQ(executed.saving_us, 5);
  EXPECT_TRUE(executed.unsaved_gpu_us == 20);

  floor.start(1, computing({10}), 8, kGpu, 100);
  EXPECT_EQ(floor.ends(100), "1@190 ") << "nothing is saved at the end";
}

TEST(Iterations, StagesAreThoseOfTheProfile) {
  Profile profile;
  profile.unit = "steps";
  profile.stage_us = {7, 0, 3};
  EXPECT_TRUE(iteration_form(profile, true, 5).on_lanes);
  EXPECT_EQ(iteration_form(profile, true, 5).step, 1'000'000);
  profile.gradient_bytes = 9;
  EXPECT_FALSE(iteration_form(profile, true, 5).on_lanes);
  EXPECT_EQ(iteration_form(profile, true, 5).bytes, 9);
  EXPECT_EQ(iteration_form(profile, false, 5).step, 5) << "a second of an unknown one";
  EXPECT_EQ(iteration_form(profile, false, 5).bytes, 0);
  profile.unit = "samples";
  EXPECT_EQ(iteration_form(profile, true, 5).stage_us, std::vector<TimeUs>{kSecond});
}

}  // namespace berth::sim::iterations_test
