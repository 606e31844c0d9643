// Slurm's QOS and accounts, and dominant resource fairness, on Berth: docs/quota-rules.md. The other answers are derived
// by hand from the manual pages of Slurm 22.05 and from the rule of DRF.
#include <gtest/gtest.h>

#include <vector>

#include "tests/golden/rules.hpp"

namespace berth::test {

std::span<const RuleCase> slurm_cases() {
  static const std::vector<RuleCase> cases = {
      // slurm.conf(5) PreemptType, PreemptMode, PreemptExemptTime; sacctmgr(1) Preempt
      {"slurm-preempt-qos", kPriority, "Preempt=low of the QOS high", {"urgent", "cheap"}},
      {"slurm-preempt-priority", kPriority, "the priority is not related to preemption", {"urgent", "cheap"}, RuleAnswer{}},
      {"slurm-preempt-same-qos", kPriority, "jobs of one QOS do not preempt each other", {}},
      {"slurm-preempt-listed", kPriority, "high does not list low", {}, RuleAnswer{"urgent", "cheap"}},
      {"slurm-preempt-no-requeue", kPriority, "a job that may not be requeued is canceled", {"urgent", "cheap"}, RuleAnswer{}},
      {"slurm-exempt-time", kPriority, "PreemptExemptTime: 100 of 60 s, 30 of 60 s", {"urgent", "cheap0"}},
      // sacctmgr(1) GrpTRES
      {"slurm-qos-grptres", kPriority, "GrpTRES of a QOS: 3 + 1 of 4", {"low2 high0"}},
      {"slurm-account-grptres", kPriority, "GrpTRES of accounts: 8 of 8, 12 of 12", {"vision0 speech0"}},
      {"slurm-user-grptres", kPriority, "GrpTRES of a user: 2 of 2, and 4 of 4 of the account", {"ann0 bob0 bob1"}},
      {"slurm-grptres-preempt", kPriority, "a job that exceeds a group limit is not considered", {}, RuleAnswer{"urgent", "cheap"}},
  };
  return cases;
}

}  // namespace berth::test

namespace berth::test::slurm_rules_test {
namespace {

const std::vector<RuleCase>& drf_cases() {
  static const std::vector<RuleCase> cases = {
      {"drf", kFair, "the tenant of the smaller share is next", {"a0 a1 a2 a3 a4 a5 b0 b1"}},
      {"drf", kDrf, "the tenant of the smaller share is next", {"a0 a1 a2 a3 a4 a5 b0 b1"}},
      {"drf-resources", kDrf, "9 cores and 18 GiB: 3 tasks and 2", {"a0 a1 a2 b0 b1"}},
      {"drf-resources", kFair, "9 cores and 18 GiB: 3 tasks and 2", {"a0 a1 a2 b0 b1"}, RuleAnswer{"a0 a1 a2 a3 b0"}},
      {"drf-resources-reclaim", kDrf, "the same, once A's fourth task ends", {"b0 b1", "a3"}},
      {"drf-weights", kFair, "the tenant of the smaller share over its weight is next", {"a0 a1 a2 a3 a4 a5 a6 a7 b0 b1"}},
  };
  return cases;
}

}  // namespace

TEST(SlurmRules, PlansAreAsStated) { expect_answers(slurm_cases()); }
TEST(SlurmRules, EachHasAGoldenPlanAndARow) { expect_documented(slurm_cases(), "slurm-"); }

TEST(DrfRules, PlansAreAsStated) { expect_answers(drf_cases()); }
TEST(DrfRules, EachHasAGoldenPlanAndARow) { expect_documented(drf_cases(), "drf"); }

}  // namespace berth::test::slurm_rules_test
