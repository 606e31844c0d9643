#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>

#include "berth/plan.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"

namespace berth::test {

/// Which jobs a decision starts, which running jobs it displaces, and which it resizes or moves: ids in the order of the snapshot,
/// separated by blanks. After a job that is resized or moved, its GPUs and nodes: "elastic 1@n0".
struct RuleAnswer {
  std::string starts{}, displaced{}, changed{};
  bool operator==(const RuleAnswer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const RuleAnswer& answer);

/// How docs/quota-rules.md calls a policy with parameters.
struct RulePlan {
  const char* name;
  const char* policy;  ///< as a file under data/golden is called
};
inline constexpr RulePlan kGreedy{"greedy", "fifo@discipline=greedy"};
inline constexpr RulePlan kFair{"fair", "fifo@discipline=greedy,quotas=fair"};
inline constexpr RulePlan kDrf{"drf", "fifo@discipline=greedy,quotas=drf"};
inline constexpr RulePlan kLimits{"limits", "fifo@discipline=greedy,quotas=limits"};
inline constexpr RulePlan kLargest{"largest", "fifo@discipline=greedy,shape=largest"};
inline constexpr RulePlan kStrict{"strict", "fifo"};
inline constexpr RulePlan kPriority{"priority", "priority@discipline=greedy"};
inline constexpr RulePlan kPriorityFair{"priority-fair", "priority@discipline=greedy,quotas=fair"};
inline constexpr RulePlan kOnesPlus{"ones-plus", "ones-plus"};

/// A scenario of data/golden that another system's documents decide.
struct RuleCase {
  const char* scenario;
  RulePlan plan;
  const char* setting;                ///< of that system
  RuleAnswer theirs;                  ///< derived by hand from its documented rule
  std::optional<RuleAnswer> berth{};  ///< where Berth decides otherwise
};

RuleAnswer answer_of(const ClusterState& state, const Plan& plan);

/// The snapshot of a scenario of data/golden.
Snapshot golden_snapshot(const std::string& scenario);

/// Berth's plans are the answers that the cases state.
void expect_answers(std::span<const RuleCase> cases);

/// Every case has a golden plan, and a row in docs/quota-rules.md that says whether both answers are the same. There are no others of
/// scenarios whose name starts with `prefix`.
void expect_documented(std::span<const RuleCase> cases, const std::string& prefix);

std::span<const RuleCase> kai_cases();
std::span<const RuleCase> kueue_cases();
std::span<const RuleCase> slurm_cases();

}  // namespace berth::test
