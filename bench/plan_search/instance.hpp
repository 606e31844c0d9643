#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/plan_search/axes.hpp"
#include "bench/plan_search/rule_plan.hpp"
#include "bench/plan_search/solved.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/policy_api/chosen_policy.hpp"

namespace berth::bench {

/// One cluster for all contenders, and the objective that compares them.
struct SearchInstance {
  std::int64_t gpus;  // of the axis: some may be broken
  std::string hash;   // FNV-1a of the snapshot's document, as `berth generate` writes it
  ClusterState state;
  Engine engine;                       // warm: it has made the plan `by`
  Plan by;                             // of `price`, with the kind's objective and terms
  double by_s = 0;                     // its time, without what the engine has cached of the state since then
  core::ChosenPolicy judge;            // the policy of `by`
  core::ShapeProblem valued;           // the options by that objective: objective_value_by would compute them again for every plan
  RulePlanner rules;                   // as warm
  std::optional<SolvedChoice> solved;  // once it was requested
};

/// The objective value of any plan by the instance's objective and terms. Ends the process where the plan is invalid or
/// beats the bound. Beyond kCheckedMostGpus a check takes as long as a decision, so the engine's own validation is
/// used.
std::int64_t objective_value(SearchInstance& instance, const Plan& plan);

/// The instance is that of
///
///     berth generate --nodes GPUS/4 --gpus-per-node 4 --fabric nvl72 --workload llm --jobs JOBS --elastic --seed SEED
///     berth generate --nodes GPUS/8 --jobs JOBS --elastic --seed SEED
std::unique_ptr<SearchInstance> make_search_instance(const SearchCluster& cluster, const SearchKind& kind, std::int64_t gpus,
                                                     std::int64_t seed);

}  // namespace berth::bench
