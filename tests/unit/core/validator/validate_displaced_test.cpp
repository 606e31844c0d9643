// Plans whose displacements the rules do not allow: docs/formats/plan.md, "What `validate --plan` checks".
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"

namespace berth::test::validate_displaced_test {
namespace {

using Found = std::vector<std::string>;

// Two nodes of 8 GPUs; queues a and b with a guarantee of 8 each.
class ValidateDisplacedTest : public ::testing::Test {
 protected:
  ValidateDisplacedTest() {
    s_.now_us = 1000 * kSecond;
    s_.gpu_types.resize(1);
    s_.gpu_types[0].id = "H";
    for (const char* id : {"n0", "n1"}) {
      Node& node = s_.nodes.emplace_back();
      node.id = id;
      node.gpu_type = "H";
      node.gpus = 8;
    }
    for (const char* id : {"a", "b"}) {
      Queue& queue = s_.queues.emplace_back();
      queue.id = id;
      queue.quotas = {{"*", 8, kUnlimited, kUnlimited}};
    }
    request_.policy = "fifo";
    request_.params = {{"discipline", "greedy"}};
  }

  Job& waits(const std::string& id, const std::string& queue, std::int32_t gpus) {
    Job& job = s_.jobs.emplace_back();
    job.id = id;
    job.queue = queue;
    job.submit_us = static_cast<TimeUs>(s_.jobs.size()) * kSecond;
    job.estimate.run_us = 3600 * kSecond;
    job.shapes.resize(1);
    job.shapes[0].id = "s";
    job.shapes[0].gpus = gpus;
    return job;
  }

  Job& runs(const std::string& id, const std::string& queue, std::int32_t node, std::int32_t from, std::int32_t gpus) {
    Job& job = waits(id, queue, gpus);
    job.state = JobState::kRunning;
    job.allocation.shape = "s";
    job.allocation.entries = {{"", 0, "n" + std::to_string(node), {}, kWholeGpu, false}};
    for (std::int32_t g = from; g < from + gpus; ++g) job.allocation.entries[0].gpus.push_back(g);
    return job;
  }

  // A valid plan in which a job is displaced.
  void decide(const std::string& displaced) {
    state_ = ClusterState(s_);
    plan_ = Engine().decide(state_, request_);
    EXPECT_EQ(of(displaced).action, Action::kPreempt);
    EXPECT_EQ(found(), Found{});
  }
  Found found() const { return validate_plan(state_, plan_); }

  std::int32_t index(const std::string& id) const {
    for (const Decision& d : plan_.decisions) {
      if (state_.job(d.job)->id == id) return d.job;
    }
    return -1;
  }
  Decision& of(const std::string& id) {
    for (Decision& d : plan_.decisions) {
      if (state_.job(d.job)->id == id) return d;
    }
    throw std::out_of_range(id);
  }

  Snapshot s_;
  ClusterState state_;
  Request request_;
  Plan plan_;
};

}  // namespace

TEST_F(ValidateDisplacedTest, AJobIsDisplacedByOneThatTakesGpus) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  waits("b0", "b", 8);
  waits("b1", "b", 8);
  decide("a1");
  of("a1").reason.other_job = index("b1");
  EXPECT_EQ(found(), Found{"job a1: is displaced by job b1, which has the action wait and takes no GPUs"});
  of("a1").reason.other_job = -1;
  EXPECT_EQ(found(), Found{"job a1: has the reason lost_priority without another job"});
  of("a1").reason.other_job = index("a0");
  of("a1").reason.queue = 0;
  of("a1").reason.best = of("a1").reason.free = 0;
  EXPECT_EQ(found(), Found{"job a1: is displaced by job a0, which has the action keep and takes no GPUs"});
}

TEST_F(ValidateDisplacedTest, TheFiguresAreThoseOfTheQueues) {
  s_.queues[1].quotas[0].guarantee = 6;
  runs("a0", "a", 0, 0, 8);
  runs("b0", "b", 1, 0, 2);
  runs("a1", "a", 1, 2, 6);
  waits("b1", "b", 4);
  decide("a1");
  Reason& reason = of("a1").reason;
  const Reason right = reason;
  EXPECT_EQ(std::tuple(right.asked, right.best, right.free), std::tuple(6, 2, 6));
  reason.asked = 1'000'000;
  EXPECT_EQ(found(), Found{"job a1: is displaced for a queue that is entitled to 1000000 GPUs; b can be entitled to 6 at the most"});
  reason = right;
  reason.best = 0;
  EXPECT_EQ(found(), Found{"job a1: is displaced for a queue whose jobs have 0 of its GPUs; running jobs of b have 2"});
  reason = right;
  reason.free = 5;
  EXPECT_EQ(found(), Found{"job a1: is displaced, and its queue borrows 5 GPUs; queue a borrows 6"});
  // It asks for less than its guarantee.
  s_.jobs.back().shapes[0].gpus = 3;
  decide("a1");
  EXPECT_EQ(of("a1").reason.asked, 5);
  of("a1").reason.asked = 6;
  EXPECT_EQ(found(), Found{"job a1: is displaced for a queue that is entitled to 6 GPUs; b is entitled to 5"});
}

TEST_F(ValidateDisplacedTest, WithoutQuotasOnlyAPolicyThatDisplacesJobsDoes) {
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 8);
  waits("b0", "b", 8).priority = 1;
  decide("a1");
  Reason plain;
  plain.code = ReasonCode::kLostPriority;
  plain.other_job = index("b0");
  const Reason reason = std::exchange(of("a1").reason, plain);
  EXPECT_EQ(found(), Found{"job a1: is displaced with the reason lost_priority; policy fifo displaces jobs only for what a queue is "
                           "entitled to"});
  plan_.policy = "srsf";
  EXPECT_EQ(found(), Found{});
  of("a1").reason = reason;
  for (const char* policy : {"fifo", "srsf"}) {
    plan_.policy = policy;
    plan_.params = {{"quotas", "limits"}};
    EXPECT_EQ(found(), Found{"job a1: is displaced for queue b; no queue gets GPUs back here: there are no guarantees, or the plan is "
                             "made without them"});
  }
}

// a0 and a1 are the oldest, and so within the guarantee of their queue.
TEST_F(ValidateDisplacedTest, AJobWithinAGuaranteeStays) {
  for (std::int32_t i = 0; i < 4; ++i) runs("a" + std::to_string(i), "a", i / 2, i % 2 * 4, 4);
  waits("b0", "b", 4);
  decide("a3");
  Decision &oldest = of("a0"), &youngest = of("a3"), &starts = of("b0");
  std::swap(oldest, youngest);
  std::swap(oldest.job, youngest.job);
  for (std::int32_t e = youngest.entry_begin; e < youngest.entry_end; ++e) {
    std::swap(plan_.entries[static_cast<std::size_t>(e)].node, plan_.entries[static_cast<std::size_t>(starts.entry_begin)].node);
    std::swap(plan_.entries[static_cast<std::size_t>(e)].gpus, plan_.entries[static_cast<std::size_t>(starts.entry_begin)].gpus);
  }
  EXPECT_EQ(found(), Found{"job a0: is displaced for queue b; its own queue a is entitled to it"});
}

// Its queue is entitled to both jobs; the policy prefers the shorter one.
TEST_F(ValidateDisplacedTest, AQueueThatIsWithinGivesNothingBack) {
  s_.queues[0].quotas[0].guarantee = 16;
  request_.policy = "srsf";
  request_.params.clear();
  runs("a0", "a", 0, 0, 8);
  runs("b0", "b", 1, 0, 8).preemption.preemptible = false;
  waits("a1", "a", 8).estimate.run_us = 60 * kSecond;
  decide("a0");
  Reason& reason = of("a0").reason;
  EXPECT_EQ(reason.queue, -1);
  reason.queue = 0;
  reason.asked = 16;
  EXPECT_EQ(found(), Found{"job a0: is displaced for queue a; its own queue a is entitled to it"});
}

}  // namespace berth::test::validate_displaced_test
