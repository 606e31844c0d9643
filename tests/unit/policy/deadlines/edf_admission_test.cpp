// Promises by hand, on a cluster of one node.

#include <gtest/gtest.h>

#include <string>

#include "berth/engine.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::edf_admission_test {
namespace {

using Params = std::vector<std::pair<std::string, std::string>>;

Job& due(Snapshot& s, const std::string& id, std::int32_t gpus, TimeUs run_s, TimeUs at_s, bool hard = true) {
  Job& job = s.jobs.emplace_back();
  job.id = id;
  Shape shape;
  shape.id = "s";
  shape.gpus = gpus;
  job.shapes = {shape};
  job.estimate.run_us = run_s == kNever ? kNever : run_s * kSecond;
  job.deadline = {at_s * kSecond, hard, 10};
  return job;
}

void run_on(Job& job, const std::string& node, std::vector<std::int32_t> gpus) {
  job.state = JobState::kRunning;
  job.allocation.shape = "s";
  AllocationEntry entry;
  entry.node = node;
  entry.gpus = std::move(gpus);
  job.allocation.entries = {entry};
}

// One decision, and the state that the policy keeps of it.
class Decided {
 public:
  Decided(const Snapshot& s, const Params& params, const PolicyState& before = {}) : state(s), kept(before) {
    Request request;
    request.policy = "edf-admission";
    request.params = params;
    Engine engine;
    engine.decide(state, kept, request, plan);
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  }
  const Decision& of(const std::string& id) const {
    for (const Decision& d : plan.decisions) {
      if (state.job(d.job)->id == id) return d;
    }
    throw std::out_of_range(id);
  }
  /// Microseconds; -1: nothing is promised.
  std::int64_t promised(const std::string& id) const {
    const auto& column = kept.columns.at("promised_end_us");
    return column.count(id) == 0 ? -1 : column.at(id);
  }

  ClusterState state;
  PolicyState kept;
  Plan plan;
};

const Params kPlain{{"expected", "0"}};

}  // namespace

// 4 GPUs until 10 s for a, so that b finds none before its deadline.
TEST(EdfAdmission, PromisesWhatFitsAndWarnsOfTheRest) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 9, 10).deadline.value = 1'000;  // asked first
  due(s, "b", 1, 9, 12);
  due(s, "c", 1, 1, 12);
  const Decided one(s, kPlain);

  EXPECT_EQ(one.promised("a"), 10 * kSecond);
  EXPECT_EQ(one.promised("b"), -1);
  EXPECT_EQ(one.promised("c"), 12 * kSecond);
  EXPECT_EQ(one.of("a").action, Action::kStart);
  EXPECT_EQ(one.of("b").action, Action::kWait);
}

TEST(EdfAdmission, RejectsWithTheEarliestDeadlineThatCouldBePromised) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 9, 10).deadline.value = 1'000;  // asked first
  due(s, "b", 1, 9, 12);
  due(s, "soft", 4, 9, 12, false);
  Params params = kPlain;
  params.emplace_back("unpromised", "reject");
  const Decided one(s, params);

  // The reservation of a is from 1 s to 10 s.
  EXPECT_EQ(one.of("b").action, Action::kReject);
  EXPECT_EQ(one.of("b").reason.code, ReasonCode::kNotAdmitted);
  EXPECT_EQ(one.of("b").reason.until_us, 19 * kSecond);
  EXPECT_EQ(render_reason(one.state, one.of("b").reason, one.of("b").job), "its deadline in 12 s cannot be promised; one in 19 s can");
  EXPECT_EQ(one.of("soft").action, Action::kWait);
}

TEST(EdfAdmission, PromisesNothingInThePastAndOfUnknownLength) {
  Snapshot s = io::uniform_cluster(1, 4);
  s.now_us = 100 * kSecond;
  due(s, "past", 1, 5, 90, false);
  due(s, "now", 1, 5, 100, false);
  due(s, "too late", 1, 5, 104, false);
  due(s, "no slack", 1, 5, 105);
  due(s, "unknown", 1, kNever, 200);
  due(s, "before submission", 1, 5, 50, false).submit_us = 60 * kSecond;
  due(s, "at once", 1, 5, 106);
  const Decided one(s, kPlain);

  for (const char* id : {"past", "now", "too late", "unknown", "before submission"}) {
    EXPECT_EQ(one.promised(id), -1) << id;
    EXPECT_NE(one.of(id).action, Action::kReject) << id;
  }
  EXPECT_EQ(one.promised("no slack"), 105 * kSecond);
  EXPECT_EQ(one.of("no slack").action, Action::kStart);
  EXPECT_EQ(one.promised("at once"), 106 * kSecond);
}

// A job that is worth as much for a hundredth of the GPU-time is expected to come as often as it did.
TEST(EdfAdmission, LeavesRoomForJobsThatAreWorthMoreForTheirGpuTime) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "large", 4, 400, 1'000);
  for (int j = 0; j < 4; ++j) due(s, "small" + std::to_string(j), 1, 100, 1'000);
  const Decided plain(s, kPlain), leaves(s, {{"expected_s", "400"}});

  // Small jobs are asked first, and have the last 100 s. Jobs so far need 2,000 GPU-seconds in 400 s, which is more than 4 GPUs have. The
  // small ones alone need a GPU.
  EXPECT_EQ(plain.promised("large"), 900 * kSecond);
  EXPECT_EQ(leaves.promised("large"), -1);
  EXPECT_EQ(leaves.promised("small3"), 1'000 * kSecond);
  EXPECT_EQ(leaves.kept.scalars.at("seen_gpu_us_0_23"), 400 * kSecond);
}

// A promise stays when jobs come that would be more urgent, and its reservation begins before them.
TEST(EdfAdmission, APromiseOutlivesWhatComesLater) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 9, 10);
  const Decided first(s, kPlain);
  due(s, "b", 4, 5, 6).submit_us = 1;
  const Decided second(s, kPlain, first.kept);

  EXPECT_EQ(second.promised("a"), 10 * kSecond);
  EXPECT_EQ(second.promised("b"), -1);
  EXPECT_EQ(second.of("a").action, Action::kStart);
}

TEST(EdfAdmission, AJobThatNeedsMoreThanItDidLosesItsPromise) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 5, 20);
  const Decided first(s, kPlain);
  s.jobs[0].estimate.run_us = 6 * kSecond;
  const Decided second(s, {{"expected", "0"}, {"laid_again", "0"}}, first.kept);

  EXPECT_EQ(first.promised("a"), 20 * kSecond);
  EXPECT_EQ(second.promised("a"), 20 * kSecond);  // there is room for what it needs now: it is promised once more
  s.jobs[0].deadline.at_us = 5 * kSecond;         // below what it needs
  s.jobs[0].deadline.hard = false;
  EXPECT_EQ(Decided(s, kPlain, second.kept).promised("a"), -2);
}

// The job that may not be displaced would hold GPUs of which a needs all 4 from 1 s on.
TEST(EdfAdmission, HoldsBackAJobThatCouldNotBeDisplaced) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 9, 10);
  due(s, "b", 4, 20, 40).preemption.preemptible = false;
  Job& free = due(s, "long", 1, 30, 0);
  free.deadline = {};
  free.preemption.preemptible = false;
  run_on(s.jobs[0], "n0", {0, 1, 2, 3});
  const Decided one(s, kPlain);
  EXPECT_EQ(one.of("long").action, Action::kWait);
  EXPECT_EQ(one.of("long").reason.code, ReasonCode::kPromised);
  EXPECT_GT(one.of("long").reason.until_us, 10 * kSecond);
  EXPECT_EQ(one.of("b").action, Action::kWait);

  // Alone it starts.
  s.jobs.erase(s.jobs.begin(), s.jobs.begin() + 2);
  EXPECT_EQ(Decided(s, kPlain).of("long").action, Action::kStart);
}

// A member of 2 GPUs needs a node, and no sum of free GPUs says that there is one.
TEST(EdfAdmission, PromisesNothingToJobsThatNeedPlaces) {
  Snapshot s = io::uniform_cluster(2, 4);
  Job& gang = due(s, "gang", 4, 5, 50);
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = 2;
  group.gpus_per_member = 2;
  gang.shapes[0].groups = {group};
  due(s, "named", 1, 5, 50).constraints.required_nodes = {"n0"};
  due(s, "flat", 4, 5, 50);
  const Decided one(s, kPlain);

  EXPECT_EQ(one.promised("gang"), -1);
  EXPECT_EQ(one.promised("named"), -1);
  EXPECT_EQ(one.promised("flat"), 50 * kSecond);
  // Its timer has run out, but once displaced it would wait again.
  s.now_us = 7'200 * kSecond;
  due(s, "late", 4, 5, 7'250);
  EXPECT_EQ(Decided(s, kPlain).promised("late"), 7'250 * kSecond);
  Params waiting = kPlain;
  waiting.emplace_back("timers", "1");
  EXPECT_EQ(Decided(s, waiting).promised("late"), -1);
}

// a has all GPUs from 1 s to 10 s. b ends by its second step.
TEST(EdfAdmission, WithoutRoomTheNextStepIsPromised) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 9, 10).deadline.value = 1'000;
  due(s, "b", 1, 9, 12, false).deadline.later = {{25 * kSecond, 8}, {40 * kSecond, 2}};
  const Decided one(s, kPlain);
  EXPECT_EQ(one.promised("b"), 25 * kSecond);

  // When the first step has passed the promise stays, and its order is that of the second.
  s.now_us = 13 * kSecond;
  s.jobs.erase(s.jobs.begin());
  const Decided then(s, kPlain, one.kept);
  EXPECT_EQ(then.promised("b"), 25 * kSecond);
  // All steps but the last are out of reach of one that is new.
  s.now_us = 17 * kSecond;
  EXPECT_EQ(Decided(s, kPlain).promised("b"), 40 * kSecond);
}

// b needs longer than it said. Its third step is in reach, and is not promised.
TEST(EdfAdmission, AfterABrokenPromiseNoLaterStepIsPromised) {
  Snapshot s = io::uniform_cluster(1, 4);
  due(s, "a", 4, 9, 10).deadline.value = 1'000;
  due(s, "b", 1, 9, 12, false).deadline.later = {{25 * kSecond, 8}, {40 * kSecond, 2}};
  const Decided one(s, kPlain);
  EXPECT_EQ(one.promised("b"), 25 * kSecond);
  s.now_us = 13 * kSecond;
  s.jobs.erase(s.jobs.begin());
  s.jobs.front().estimate.run_us = 20 * kSecond;
  const Decided then(s, kPlain, one.kept);
  EXPECT_EQ(then.promised("b"), -2);
  s.now_us = 26 * kSecond;
  s.jobs.front().estimate.run_us = 10 * kSecond;
  EXPECT_EQ(Decided(s, kPlain, then.kept).promised("b"), -2);
}

// The step that is in reach counts for jobs without a promise, too: both are asked before c, which no step could keep.
TEST(EdfAdmission, AJobThatMissedAStepStandsByTheNextOne) {
  Snapshot s = io::uniform_cluster(1, 1);
  s.now_us = 100 * kSecond;
  due(s, "a", 1, 50, 110, false).deadline.later = {{170 * kSecond, 5}};
  due(s, "c", 1, 40, 110, false);
  const Decided one(s, kPlain);
  EXPECT_EQ(one.promised("a"), 170 * kSecond);
  EXPECT_EQ(one.of("a").action, Action::kStart);
  EXPECT_EQ(one.of("c").action, Action::kWait);
}

}  // namespace berth::edf_admission_test
