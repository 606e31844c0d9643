// Kueue's rules on Berth: docs/quota-rules.md. The answers of Kueue are derived by hand from its documents.
#include <gtest/gtest.h>

#include <vector>

#include "tests/golden/rules.hpp"

namespace berth::test {

std::span<const RuleCase> kueue_cases() {
  static const std::vector<RuleCase> cases = {
      // site/content/en/docs/concepts/cluster_queue.md, cohort.md
      {"kueue-borrowing", kGreedy, "borrowing: 9 + 12 = 21", {"a0 a1 a2 a3 a4 a5 a6"}},
      {"kueue-nominal-first", kGreedy, "a job within its nominal quota comes before one that borrows", {"b0"}},
      {"kueue-borrowing-limit", kGreedy, "borrowingLimit: 9 + 1 = 10", {"a0 a1"}},
      {"kueue-lending", kGreedy, "lendingLimit: 9 + 1 = 10, and b0 within what its queue keeps", {"a0 a1 b0"}},
      {"kueue-cohort-quota", kGreedy, "nominalQuota of a Cohort: 0 + 12 = 12", {"q0 q1"}},
      {"kueue-queueing", kGreedy, "BestEffortFIFO: a does not block b", {"b c"}},
      {"kueue-queueing", kStrict, "StrictFIFO: a blocks b of its queue, and not c", {"c"}, RuleAnswer{"b c"}},
      // cluster_queue.md, "FlavorFungibility"
      {"kueue-flavors", kGreedy, "b is within 8 of H with b0; a1 of H borrows", {"b0", "a1"}},
      {"kueue-flavors-next", kGreedy, "whenCanPreempt TryNextFlavor: A has free GPUs", {"b0"}},
      {"kueue-flavors-next", kGreedy, "whenCanPreempt Preempt: a1 of H leaves", {"b0", "a1"}, RuleAnswer{"b0"}},
      // preemption.md, "Classic Preemption"
      {"kueue-reclaim", kGreedy, "reclaimWithinCohort Any: b alone is above its nominal quota", {"c1", "b4"}},
      {"kueue-reclaim-two", kGreedy, "candidates are of queues that borrow still: b1 first, then a1", {"c0", "b1 a1"}},
      {"kueue-reclaim-huge", kGreedy, "a job of 9 leaves for one of 2 within the nominal quota", {"a0", "b0"}},
      {"kueue-within-nominal", kGreedy, "no queue borrows, and c3 would", {}},
      {"kueue-reclaim-priority", kGreedy, "reclaimWithinCohort Any: the lowest priority, then the youngest", {"a0", "b1 b2"}},
      {"kueue-reclaim-priority", kGreedy, "reclaimWithinCohort LowerPriority: b2 alone is too small", {}, RuleAnswer{"a0", "b1 b2"}},
      {"kueue-reclaim-priority", kLimits, "reclaimWithinCohort Never", {}},
      {"kueue-victim-priority", kGreedy, "of a queue that borrows the lowest priority", {"c0", "b0"}, RuleAnswer{"c0", "b1"}},
      {"kueue-victim-priority", kPriority, "of a queue that borrows the lowest priority", {"c0", "b0"}},
      {"kueue-nested", kGreedy, "q is within the quota of its cohort, q_nominal within its own", {"in", "taken"}},
      {"kueue-within", kPriority, "withinClusterQueue LowerPriority", {"in", "low"}},
      {"kueue-within-many", kPriority, "withinClusterQueue LowerPriority: low alone frees 2 of 3", {"in", "low mid"}},
      {"kueue-within-minimal", kPriority, "withinClusterQueue LowerPriority: low is given back, as mid frees enough", {"in", "mid"}},
      {"kueue-within-too-few", kPriority, "withinClusterQueue LowerPriority: mid has the same priority", {}},
      {"kueue-within-newer", kPriority, "withinClusterQueue LowerOrNewerEqualPriority: the newest", {"in", "w2"}},
      {"kueue-within-newer", kPriority, "withinClusterQueue LowerPriority: all have the same", {}, RuleAnswer{"in", "w2"}},
      {"kueue-within-newer", kGreedy, "withinClusterQueue Never", {}},
      // keps/1337-preempt-within-cohort-while-borrowing
      {"kueue-borrow-priority", kPriority, "borrowWithinCohort LowerPriority: low_a is enough", {"in", "low_a"}},
      {"kueue-borrow-priority", kGreedy, "borrowWithinCohort Never: a job that borrows displaces no other", {}},
      {"kueue-borrow-threshold", kPriority, "borrowWithinCohort LowerPriority, maxPriorityThreshold 0: mid_a has 1", {}},
      {"kueue-borrow-nominal", kPriority, "borrowWithinCohort LowerPriority: a does not borrow", {}},
      // keps/1714-fair-sharing. Shares of what is borrowed, of 9 where not said: a with a3 1/9, b without b4 1/9.
      {"kueue-fair", kFair, "LessThanOrEqualToFinalShare: 1/9 <= 1/9", {"a3", "b4"}},
      {"kueue-fair-imbalance", kFair, "a with a3 2/9; b 1/9 without a job, 2/9 with it", {}, RuleAnswer{"a3", "b4"}},
      {"kueue-fair-huge", kFair, "a with a1 4/9; b 0 without its job, 4/9 with it", {}},
      {"kueue-fair-strategies", kFair, "LessThanOrEqualToFinalShare: 1/9; b 0 without low, 2/9 without high", {"a1", "high"}},
      {"kueue-fair-strategies", kFair, "LessThanInitialShare: 1/9 < 3/9, so the lowest priority", {"a1", "low"}, RuleAnswer{"a1", "high"}},
      {"kueue-fair-strategies", kPriorityFair, "LessThanInitialShare: 1/9 < 3/9, so the lowest priority", {"a1", "low"}},
      {"kueue-fair-weight", kFair, "a with a3 2/9 / 2; b 2/9 without b5, 1/9 without b4, too", {"a3", "b4 b5"}},
      {"kueue-fair-weight-large", kFair, "of 12: a with a4 3/12 / 2; b 3/12, 2/12, and 2/12 before the third", {"a4", "b5 b6 b7"}},
      {"kueue-fair-weight-0", kFair, "weight 0: the share of b is infinite while it borrows", {"a3", "b3 b4 b5"}},
      {"kueue-fair-weight-0-nominal", kFair, "weight 0: b does not borrow", {}},
      {"kueue-cohort-weights", kFair, "k of 8: k / 0.75 <= (8 - k) / 0.25 until k = 6", {"i0 i1 i2 i3 i4 i5", "r2 r3 r4 r5 r6 r7"}},
      {"kueue-story-3", kFair, "150 each; of these 30, 30 and 90", {"a0 b0 c0 c1 c2 d0 d1 d2 d3 d4"}},
  };
  return cases;
}

}  // namespace berth::test

namespace berth::test::kueue_rules_test {
TEST(KueueRules, PlansAreAsStated) { expect_answers(kueue_cases()); }
TEST(KueueRules, EachHasAGoldenPlanAndARow) { expect_documented(kueue_cases(), "kueue-"); }

}  // namespace berth::test::kueue_rules_test
