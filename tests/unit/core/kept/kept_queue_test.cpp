// What a queue that is kept reads, and what it keeps.

#include "host/core/kept/kept_queue.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "berth/state.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/state/state_view.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::core::kept_queue_test {
namespace {

/// Decisions of one policy. Where the queue does not answer, the pass over all jobs changes nothing.
class Decisions {
 public:
  Decisions(const Snapshot& s, const std::string& policy, const Params& params) : state(s) { chosen_.choose(policy, params); }

  /// How the decision begins, and whether the queue answers.
  std::pair<Reading, bool> next() {
    const StateImpl& s = impl_of(StateView(state));
    const Reading reading = kept.read(s, chosen_);
    bool answers = false;
    if (reading != Reading::kNothing) {
      failures_.find(s);
      answers = kept.decide(s, chosen_, {}, failures_);
    }
    if (!answers) kept.saw(0, s.jobs.size());
    return {reading, answers};
  }

  ClusterState state;
  KeptQueue kept;

 private:
  ChosenPolicy chosen_;
  Failures failures_;
};

using Begun = std::pair<Reading, bool>;
constexpr Begun kWhole{Reading::kNothing, false}, kReadAll{Reading::kAnew, true}, kFollowed{Reading::kChanges, true};

// It sinks a queue at each threshold, and stays the same otherwise.
TEST(KeptQueue, AJobThatPassesThresholdsHasOneInstant) {
  Snapshot s = test::two_racks();
  test::run_on(test::add_job(s, "a", 1), "n0", {0});
  std::string thresholds = "1";
  for (int at = 2; at <= 40; ++at) thresholds += "," + std::to_string(at);
  Decisions decisions(s, "las", {{"thresholds_gpu_s", thresholds}});
  EXPECT_EQ(decisions.next(), kWhole);
  EXPECT_EQ(decisions.next(), kReadAll);
  for (int at = 1; at < 40; ++at) {
    decisions.state.apply(delta::SetTime{s.now_us + at * kSecond});
    EXPECT_EQ(decisions.next(), kFollowed);
    EXPECT_EQ(decisions.kept.order_instants(), 1U) << at;
  }
}

// A gang with both segment and spread. While it waits the others are not read: no instant of what starts is kept.
TEST(KeptQueue, WhileAJobIsNotExactNothingIsRead) {
  Snapshot s = test::two_racks();
  for (const char* id : {"b", "c"}) test::add_job(s, id, 1);
  Decisions decisions(s, "las", {});
  decisions.next();
  EXPECT_EQ(decisions.next(), kReadAll);
  decisions.state.apply(delta::StartJob{"b", {"s", {{"", 0, "n0", {0}, kWholeGpu, false}}}});
  EXPECT_EQ(decisions.next(), kFollowed);
  EXPECT_EQ(decisions.kept.order_instants(), 1U);
  Snapshot other;
  Job gang = test::add_job(other, "a", 4);
  Group group = test::group_of("g", 4, 1);
  group.segment = Segment{2, {TopologyKind::kSwitch, "node"}};
  group.spread = Spread{{TopologyKind::kSwitch, "node"}, 2};
  gang.shapes[0].groups = {group};
  decisions.state.apply(delta::PutJob{gang});
  EXPECT_EQ(decisions.next(), Begun(Reading::kChanges, false));
  decisions.state.apply(delta::StartJob{"c", {"s", {{"", 0, "n0", {1}, kWholeGpu, false}}}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(decisions.next(), Begun(Reading::kAnew, false));
  EXPECT_EQ(decisions.kept.order_instants(), 1U);
  gang.shapes[0].groups[0].spread.reset();
  decisions.state.apply(delta::PutJob{gang});
  EXPECT_EQ(decisions.next(), kReadAll);
  EXPECT_EQ(decisions.kept.order_instants(), 2U);
  EXPECT_EQ(decisions.kept.pass().changes().size(), 1U);
  EXPECT_EQ(decisions.next(), kFollowed);
}

// All GPUs are in use. Two jobs may use n0 until they end after it does, which b does first.
TEST(KeptQueue, AJobThatWaitsIsInAnotherClassFromWhenItLosesANode) {
  Snapshot s = test::two_racks();
  s.nodes[0].available_until_us = 1'000 * kSecond;
  for (const char* id : {"n0", "n1", "n2", "n3"}) test::run_on(test::add_job(s, id, 8), id, {0, 1, 2, 3, 4, 5, 6, 7});
  test::add_job(s, "a", 8).estimate.run_us = 800 * kSecond;
  test::add_job(s, "b", 8).estimate.run_us = 850 * kSecond;
  test::add_job(s, "c", 8);
  Decisions decisions(s, "fifo", {{"discipline", "greedy"}});
  decisions.next();
  EXPECT_EQ(decisions.next(), kReadAll);
  const auto class_of = [&](const char* id) { return decisions.kept.class_of()[static_cast<std::size_t>(decisions.state.find_job(id))]; };
  const auto at = [&](TimeUs now) {
    decisions.state.apply(delta::SetTime{now});
    EXPECT_EQ(decisions.next(), kFollowed);
  };
  at(150 * kSecond);
  EXPECT_EQ(class_of("a"), class_of("b"));
  EXPECT_NE(class_of("b"), class_of("c")) << "c may use only nodes without an end";
  at(150 * kSecond + 1);
  EXPECT_NE(class_of("a"), class_of("b"));
  EXPECT_EQ(class_of("b"), class_of("c"));
  at(200 * kSecond);
  EXPECT_NE(class_of("a"), class_of("b"));
  at(200 * kSecond + 1);
  EXPECT_EQ(class_of("a"), class_of("b"));
}

/// Jobs of a queue q with a guarantee.
Snapshot guaranteed(std::int64_t gpus) {
  Snapshot s = test::two_racks();
  Queue queue;
  queue.id = "q";
  queue.quotas = {{"*", gpus}};
  s.queues = {queue};
  return s;
}
Job& add_to_queue(Snapshot& s, const std::string& id, std::int32_t gpus, TimeUs submit) {
  Job& job = test::add_job(s, id, gpus);
  job.queue = "q";
  job.submit_us = submit;
  return job;
}

// The plan is not applied, and one comes that was submitted before. The guarantee is enough for one of them.
TEST(KeptQueue, AJobThatComesTakesTheGuaranteeOfOneBehindIt) {
  Snapshot s = guaranteed(4);
  add_to_queue(s, "b", 4, 50 * kSecond);
  Decisions decisions(s, "fifo", {{"discipline", "greedy"}});
  decisions.next();
  EXPECT_EQ(decisions.next(), kReadAll);
  const auto level = [&](const char* id) {
    const PassChange* const change = decisions.kept.pass().change_of(decisions.state.find_job(id));
    return change == nullptr ? 1 : change->place.level;
  };
  EXPECT_EQ(level("b"), -2);
  Snapshot other;
  decisions.state.apply(delta::PutJob{add_to_queue(other, "a", 4, 10 * kSecond)});
  EXPECT_EQ(decisions.next(), kFollowed);
  EXPECT_EQ(level("a"), -2);
  EXPECT_EQ(level("b"), 0);
}

// The pass over all jobs looks for jobs to displace, as long as the job waits.
TEST(KeptQueue, AnEntitledJobWithoutRoomNeedsThePassOverAllJobs) {
  Snapshot s = guaranteed(8);
  for (const char* node : {"n0", "n1", "n2", "n3"}) test::run_on(test::add_job(s, std::string("a") + node, 1), node, {0});
  add_to_queue(s, "b", 4, 10 * kSecond);
  add_to_queue(s, "c", 4, 20 * kSecond);
  for (Job& job : s.jobs) {
    if (job.queue == "q") job.constraints.required_nodes = {"n0"};
  }
  Decisions decisions(s, "fifo", {{"discipline", "greedy"}});
  decisions.next();
  EXPECT_EQ(decisions.next(), (Begun{Reading::kAnew, false})) << "n0 has room for one of them";
  EXPECT_EQ(decisions.next(), (Begun{Reading::kAnew, false}));
  decisions.state.apply(delta::SetTime{s.now_us + kSecond});
  EXPECT_EQ(decisions.next(), (Begun{Reading::kAnew, false}));
  decisions.state.apply(delta::RemoveJob{"c", ""});
  EXPECT_EQ(decisions.next(), kReadAll);
}

TEST(KeptQueue, AnotherStateIsReadFromTheBeginning) {
  Snapshot s = test::two_racks();
  test::add_job(s, "a", 1);
  Decisions decisions(s, "fifo", {{"discipline", "greedy"}});
  decisions.next();
  decisions.next();
  EXPECT_EQ(decisions.next(), kFollowed);
  decisions.kept.clear();
  decisions.state = ClusterState(s);
  EXPECT_EQ(decisions.next(), kWhole);
  EXPECT_EQ(decisions.next(), kReadAll);
}

}  // namespace
}  // namespace berth::core::kept_queue_test
