// Queues that use more than a limit, as it was lowered while their jobs ran: docs/quotas.md, "Lowered limits".
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/unit/core/quota/quota_support.hpp"

namespace berth::test::lowered_limits_test {
namespace {

// Queue a holds all 16 GPUs, with a limit of 8.
class LoweredLimitsTest : public QuotaOrderTest {
 protected:
  LoweredLimitsTest() {
    s_.queues = {limited("a", 8), queue_of("b", 0)};
    runs("a0", "a", 0, 0, 8);
    runs("a1", "a", 1, 0, 8);
  }
  static Queue limited(const std::string& id, std::int64_t limit) {
    Queue queue = queue_of(id, 0);
    queue.quotas[0].limit = limit;
    return queue;
  }
  // Comes before the others in every order.
  void waits_in_front(const std::string& id, const std::string& queue, std::int32_t gpus) {
    Job& job = waits(id, queue, gpus);
    job.priority = 9;
    job.preemption.preemption_class = 9;
    job.estimate.run_us = 60 * kSecond;
    job.deadline.at_us = s_.now_us + 70 * kSecond;
  }
  template <class Check>
  void under(const std::vector<std::string>& names, const Check& check) {
    for (const std::string& name : names) {
      SCOPED_TRACE(name);
      request_.policy = name;
      request_.params.clear();
      check();
    }
  }
  template <class Check>
  void under_all_policies(const Check& check) {
    std::vector<std::string> names;
    for (const PolicyInfo& policy : policies()) names.push_back(policy.name);
    under(names, check);
  }
  void expect_valid(const Plan& plan) { EXPECT_EQ(validate_plan(state_, plan), std::vector<std::string>{}); }
};

}  // namespace

TEST_F(LoweredLimitsTest, EndNoJob) {
  under_all_policies([&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kKeep), "a0 a1");
    expect_valid(plan);
  });
}

// Some policies of shapes leave a job out although none waits.
TEST_F(LoweredLimitsTest, EndNoJobOfSeveralSizes) {
  s_.jobs.pop_back();
  runs("a1", "a", 1, 0, 4);
  runs("a2", "a", 1, 4, 4);
  s_.queues[0].quotas[0].limit = 12;
  under({"pop", "gavel-las", "gavel-ftf", "price", "elasticflow", "sia", "ones-plus"},
        [&] { EXPECT_EQ(with(decide(), Action::kKeep), "a0 a1 a2"); });
}

TEST_F(LoweredLimitsTest, TheQueueStartsNoJobInPlaceOfItsOwn) {
  waits_in_front("a2", "a", 4);
  under_all_policies([&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kKeep), "a0 a1");
    EXPECT_EQ(plan.decisions.back().reason.code, ReasonCode::kQuota);
    expect_valid(plan);
  });
}

// The same where some of its jobs count as within its guarantee.
TEST_F(LoweredLimitsTest, NorForItsGuarantee) {
  s_.queues[0].quotas[0].guarantee = 8;
  waits_in_front("a2", "a", 4);
  under_all_policies([&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kKeep), "a0 a1");
    expect_valid(plan);
  });
}

TEST_F(LoweredLimitsTest, AQueueBelowItStartsNoJobEither) {
  s_.queues.push_back(queue_of("c", 0, "a"));
  waits_in_front("c0", "c", 4);
  under_all_policies([&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kKeep), "a0 a1");
    expect_valid(plan);
  });
}

TEST_F(LoweredLimitsTest, JobsOfOtherQueuesComeFirstAsBefore) {
  waits_in_front("b0", "b", 8);
  waits_in_front("a2", "a", 1);
  under({"priority", "srsf", "srtf"}, [&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0");
    EXPECT_EQ(plan.totals.preempts, 1);
    expect_valid(plan);
  });
}

// b0 needs one node. The least important job, a1, makes no room there: it runs on, although the limit would not let it start.
TEST_F(LoweredLimitsTest, NoJobLeavesInVain) {
  s_.jobs.clear();
  runs("a0", "a", 0, 0, 8);
  runs("a1", "a", 1, 0, 4).estimate.run_us = 7200 * kSecond;
  Job& other = runs("b1", "b", 1, 4, 4);
  other.preemption.preemptible = false;
  s_.queues[0].quotas[0].limit = 2;
  waits_in_front("b0", "b", 8);
  s_.jobs.back().shapes[0].groups = {group_of(1, 8)};
  under({"srtf", "srsf"}, [&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kPreempt), "a0");
    EXPECT_EQ(with(plan, Action::kKeep), "a1 b1");
    expect_valid(plan);
  });
}

// Policies of shapes choose two of the three jobs, most of them not a0. But b0 cannot use its GPUs.
TEST_F(LoweredLimitsTest, AJobThatIsNotChosenRunsOnWhereItsGpusAreNotNeeded) {
  s_.queues[0].quotas[0].limit = 2;
  s_.jobs[0].estimate.run_us = 7200 * kSecond;
  waits_in_front("b0", "b", 8);
  s_.jobs.back().constraints.required_nodes = {"n1"};
  under_all_policies([&] {
    const Plan plan = decide();
    EXPECT_EQ(plan.decisions[0].action, Action::kKeep) << "a0";
    expect_valid(plan);
  });
}

// The limit of a type was lowered. The queue gets its guarantee of another type back.
TEST_F(LoweredLimitsTest, OtherTypesAreAsBefore) {
  s_.gpu_types.resize(2);
  s_.gpu_types[1].id = "A";
  add_node();
  s_.nodes[2].gpu_type = "A";
  s_.queues[0].quotas = {{"H", 0, 8, kUnlimited}, {"A", 8, kUnlimited, kUnlimited}};
  runs("b1", "b", 2, 0, 8);
  waits_in_front("a2", "a", 4);
  s_.jobs.back().shapes[0].gpu_type = "A";
  under({"fifo", "sjf", "srsf", "srtf", "priority", "gandiva", "dally", "price", "sia", "elasticflow", "gavel-las"}, [&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "a2");
    EXPECT_EQ(with(plan, Action::kPreempt), "b1");
    expect_valid(plan);
  });
}

// The limit of the queue above both was lowered. What b is entitled to is given back: the limit lets a keep nothing then.
TEST_F(LoweredLimitsTest, AQueueBelowItGetsItsGuaranteeBack) {
  s_.queues = {limited("p", 8), queue_of("a", 0, "p"), queue_of("b", 8, "p")};
  waits("b0", "b", 8);
  under_all_policies([&] {
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "b0");
    EXPECT_EQ(with(plan, Action::kPreempt), "a0 a1");
    expect_valid(plan);
  });
}

// With the usual limit the job that comes first takes what it needs.
TEST_F(LoweredLimitsTest, OnceAJobHasEndedTheOthersFollowTheOrder) {
  s_.jobs.pop_back();
  waits_in_front("a2", "a", 4);
  request_.policy = "priority";
  request_.params.clear();
  const Plan plan = decide();
  EXPECT_EQ(with(plan, Action::kStart), "a2");
  EXPECT_EQ(with(plan, Action::kPreempt), "a0");
}

TEST_F(LoweredLimitsTest, JobsDisplaceDownToTheLimitIfThatIsAskedFor) {
  waits_in_front("a2", "a", 4);
  for (const char* policy : {"srsf", "srtf", "priority", "themis", "gandiva"}) {
    SCOPED_TRACE(policy);
    request_.policy = policy;
    request_.params = {{"over_limit", "displace"}};
    const Plan plan = decide();
    EXPECT_EQ(with(plan, Action::kStart), "a2");
    EXPECT_EQ(with(plan, Action::kPreempt), "a0 a1");
    expect_valid(plan);
  }
}

// The plan is of the state before the limit was lowered.
TEST_F(LoweredLimitsTest, APlanInWhichTheQueueReplacesItsOwnIsNotValid) {
  s_.queues[0].quotas[0].limit = 16;
  waits_in_front("a2", "a", 4);
  request_.policy = "priority";
  request_.params.clear();
  const Plan plan = decide();
  EXPECT_EQ(plan.totals.preempts, 1);
  expect_valid(plan);
  s_.queues[0].quotas[0].limit = 12;
  EXPECT_EQ(validate_plan(ClusterState(s_), plan),
            std::vector<std::string>{"job a1: is displaced by job a2, although its queue a, or one above it, uses more than its limit"});
}

}  // namespace berth::test::lowered_limits_test
