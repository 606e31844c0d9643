// KAI-Scheduler's rules on Berth: docs/quota-rules.md. The answers of KAI are derived by hand from its documents.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/queues.hpp"
#include "berth/state.hpp"
#include "tests/golden/rules.hpp"

namespace berth::test {

std::span<const RuleCase> kai_cases() {
  static const std::vector<RuleCase> cases = {
      // docs/fairness, docs/queues, docs/scheduling-deep-dive
      {"kai-weights", kFair, "over-quota weights: 2 + 1.5 and 2 + 4.5", {"a0 a1 a2 a3 b0 b1 b2 b3 b4 b5"}},
      {"kai-departments", kFair, "first the departments: 8 and 4; of 8 2 + 1 and 2 + 3", {"a0 a1 a2 b0 b1 b2 b3 b4 c0 c1 c2 c3"}},
      {"kai-queue-priority",
       kFair,
       "queue priority: 2 + 2, 2 + 1, 3",
       {"v0 v1 v2 v3 l0 l1 l2 d0 d1 d2"},
       RuleAnswer{"v0 v1 v2 l0 l1 l2 d0 d1 d2 d3"}},
      {"kai-queue-priority-weights", kFair, "queue priority: 2 + 2, 2 + 1, 3", {"v0 v1 v2 v3 l0 l1 l2 d0 d1 d2"}},
      {"kai-limit", kFair, "limit", {"q0 q1 q2 q3"}},
      // pkg/scheduler/actions/integration_tests/reclaim
      {"kai-reclaim", kGreedy, "queue1 has 3 of the 2 that it deserves, queue0 1 of 2", {"pending", "run2"}},
      {"kai-reclaim", kFair, "queue1 has 3 of its fair share of 2, queue0 1 of 2", {"pending", "run2"}},
      {"kai-reclaim-none", kFair, "fair shares of 3 and 1", {}},
      {"kai-reclaim-whole", kGreedy, "a pod of 2 leaves for one of 1", {"pending", "run0"}},
      {"kai-reclaim-department", kGreedy, "queues are compared below their first common parent", {"pending", "victim"}},
      {"kai-fair-share", kFair, "the reclaimer stays within its fair share: 4 of 4", {"fits", "a4 a5"}},
      {"kai-over-fair-share", kFair, "the reclaimer would exceed its fair share: 5 of 4", {}},
      // docs/priority, docs/scheduling-deep-dive
      {"kai-priority", kPriority, "build takes the place of train", {"build", "train"}},
      {"kai-priority-order", kPriority, "inference takes the place of train; train1 and train2 of no job", {"inference", "train0"}},
      {"kai-priority-in-quota", kPriority, "preemption stays in the queue, and qb is within its quota", {}},
      {"kai-priority-across", kPriority, "preemption stays in the queue", {}, RuleAnswer{"a1", "b0"}},
      {"kai-priority-across", kPriorityFair, "preemption stays in the queue, and qb is within its fair share", {}},
      {"kai-not-preemptible", kFair, "a job that is not preemptible stays within the quota", {}, RuleAnswer{"build1"}},
      // docs/scheduling-deep-dive, "The Scheduling Cycle"
      {"kai-consolidation", kFair, "consolidation: one of the jobs moves", {"pending", "", "run0 1@n1"}, RuleAnswer{}},
      {"kai-consolidation", kOnesPlus, "consolidation: one of the jobs moves", {"pending", "", "run0 1@n1"}},
      // docs/plugins/minruntime.md
      {"kai-min-runtime", kFair, "reclaimMinRuntime: 20 of 30 s", {}},
      {"kai-min-runtime-over", kFair, "reclaimMinRuntime: 30 of 30 s", {"pending", "victim"}},
      {"kai-min-runtime-preempt", kPriority, "preemptMinRuntime: train0 10 of 20 s, train1 20 of 20 s", {"build", "train1"}},
      // docs/elastic
      {"kai-elastic", kGreedy, "surplus pods leave first", {"pending", "", "elastic 1@n0"}},
      {"kai-elastic-shapes", kGreedy, "surplus pods leave first", {"pending", "", "elastic 1@n0"}, RuleAnswer{"pending", "elastic"}},
      {"kai-elastic-shapes", kLargest, "surplus pods leave first", {"pending", "", "elastic 1@n0"}},
  };
  return cases;
}

}  // namespace berth::test

namespace berth::test::kai_rules_test {
namespace {

// A queue asks for `asks` jobs of one GPU.
struct Division {
  std::int64_t deserved, limit, weight, asks;
};

std::vector<std::int64_t> fair_shares(std::int32_t gpus, const std::vector<Division>& queues) {
  Snapshot s;
  s.gpu_types.resize(1);
  s.gpu_types[0].id = "H";
  s.nodes.resize(1);
  s.nodes[0].id = "n0";
  s.nodes[0].gpu_type = "H";
  s.nodes[0].gpus = gpus;
  for (const Division& one : queues) {
    Queue queue;
    queue.id = "q" + std::to_string(s.queues.size());
    queue.weight_ppm = one.weight * 1'000'000;
    queue.quotas = {{"*", one.deserved, one.limit, kUnlimited}};
    for (std::int64_t n = 0; n < one.asks; ++n) {
      Job job;
      job.id = queue.id + "-" + std::to_string(n);
      job.queue = queue.id;
      job.shapes.resize(1);
      job.shapes[0].id = "1";
      job.shapes[0].gpus = 1;
      s.jobs.push_back(job);
    }
    s.queues.push_back(queue);
  }
  std::vector<std::int64_t> shares;
  for (const QueueStanding& one : queue_standings(ClusterState(s))) shares.push_back(one.fair_share / kWholeGpu);
  return shares;
}

}  // namespace

TEST(KaiRules, PlansAreAsStated) { expect_answers(kai_cases()); }
TEST(KaiRules, EachHasAGoldenPlanAndARow) { expect_documented(kai_cases(), "kai-"); }

// The cases of pkg/scheduler/plugins/proportion/resource_division: what queues deserve first, the rest by weights.
TEST(KaiRules, GpusAreDividedAsInItsTests) {
  const auto two = [](std::int64_t w0, std::int64_t w1, std::int64_t asks) {
    return std::vector<Division>{{2, kUnlimited, w0, asks}, {2, kUnlimited, w1, asks}};
  };
  using Shares = std::vector<std::int64_t>;
  EXPECT_EQ(fair_shares(2, {{3, kUnlimited, 1, 2}}), (Shares{2}));
  EXPECT_EQ(fair_shares(3, {{3, 2, 1, 2}}), (Shares{2}));
  EXPECT_EQ(fair_shares(5, {{3, 4, 1, 5}}), (Shares{4})) << "3 and 1 up to the limit";
  EXPECT_EQ(fair_shares(15, two(2, 2, 6)), (Shares{6, 6})) << "3 of 15 remain";
  EXPECT_EQ(fair_shares(12, two(2, 2, 6)), (Shares{6, 6}));
  EXPECT_EQ(fair_shares(8, two(1, 3, 6)), (Shares{3, 5}));
  EXPECT_EQ(fair_shares(12, {{2, 5, 2, 6}, {2, kUnlimited, 2, 6}}), (Shares{5, 6}));
  EXPECT_EQ(fair_shares(11, two(1, 4, 10)), (Shares{3, 8})) << "1.4 and 5.6: the last one by the greater remainder";
  EXPECT_EQ(fair_shares(11, two(2, 2, 6)), (Shares{6, 5})) << "equal remainders: the first queue";
  EXPECT_EQ(fair_shares(10, {{5, kUnlimited, 5, 7}, {5, kUnlimited, 5, 2}, {5, kUnlimited, 5, 2}}), (Shares{6, 2, 2}));
  EXPECT_EQ(fair_shares(10, {{5, kUnlimited, 5, 5}, {0, kUnlimited, 5, 5}, {5, kUnlimited, 5, 5}}), (Shares{5, 0, 5}));
}

// In KAI the shares are then more than there is: each queue has what it deserves. Berth divides the GPUs that work, the first queues first.
TEST(KaiRules, SharesAreNoMoreThanThereIsWhereQueuesDeserveMore) {
  const std::vector<std::int64_t> kai{5, 5, 5};
  const std::vector<std::int64_t> shares = fair_shares(10, {{5, kUnlimited, 1, 5}, {5, kUnlimited, 1, 5}, {5, kUnlimited, 1, 5}});
  EXPECT_NE(shares, kai);
  EXPECT_EQ(shares, (std::vector<std::int64_t>{5, 5, 0}));
}

}  // namespace berth::test::kai_rules_test
