#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/search/axes.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"

namespace berth::bench {

/// One cluster for all contenders, and what they are judged by.
struct SearchInstance {
  std::string hash;  // FNV-1a of the snapshot's document, as `berth generate` writes it
  ClusterState state;
  Engine engine;  // warm: it has made the plan `by`
  Plan by;        // of `price`, with the kind's objective and terms
};

/// The instance is that of
///
///     berth generate --nodes GPUS/4 --gpus-per-node 4 --fabric nvl72 --workload llm --jobs JOBS --elastic --seed SEED
///     berth generate --nodes GPUS/8 --jobs JOBS --elastic --seed SEED
std::unique_ptr<SearchInstance> make_search_instance(const SearchCluster& cluster, const SearchKind& kind, std::int64_t gpus,
                                                     std::int64_t seed);

}  // namespace berth::bench
