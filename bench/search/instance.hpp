#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/search/axes.hpp"
#include "bench/search/rule_plan.hpp"
#include "bench/search/solved.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/chosen_policy.hpp"
#include "host/core/shape_choice.hpp"

namespace berth::bench {

/// One cluster for all contenders, and what they are judged by.
struct SearchInstance {
  std::int64_t gpus;  // of the axis: some may be broken
  std::string hash;   // FNV-1a of the snapshot's document, as `berth generate` writes it
  ClusterState state;
  Engine engine;                       // warm: it has made the plan `by`
  Plan by;                             // of `price`, with the kind's objective and terms
  double by_s = 0;                     // how long it took, without what the engine knows of the state since then
  core::ChosenPolicy judge;            // the policy of `by`
  core::ShapeChoice valued;            // what may be chosen, by that objective: worth_by would look anew for every plan
  RulePlanner rules;                   // as warm
  std::optional<SolvedChoice> solved;  // once somebody asked for it
};

/// What a plan of anybody is worth by the instance's objective and terms. Ends the process where the plan is not valid, or beats the bound;
/// beyond kCheckedMostGpus, where that takes as long as a decision, validity is left to the engine, which has checked every plan of its
/// own.
std::int64_t worth_of(SearchInstance& instance, const Plan& plan);

/// The instance is that of
///
///     berth generate --nodes GPUS/4 --gpus-per-node 4 --fabric nvl72 --workload llm --jobs JOBS --elastic --seed SEED
///     berth generate --nodes GPUS/8 --jobs JOBS --elastic --seed SEED
std::unique_ptr<SearchInstance> make_search_instance(const SearchCluster& cluster, const SearchKind& kind, std::int64_t gpus,
                                                     std::int64_t seed);

}  // namespace berth::bench
