#include "host/sim/measures/fragmentation.hpp"

#include <numeric>

namespace berth::sim {

Fragmentation::Fragmentation(const TraceFacts& facts) : above_micro_(facts.by_gpus) {
  const std::int64_t jobs = std::accumulate(facts.by_gpus.begin(), facts.by_gpus.end(), std::int64_t{0});
  if (jobs == 0) return;
  for (std::size_t free = above_micro_.size() - 1; free-- > 0;) above_micro_[free] += above_micro_[free + 1];
  for (std::int64_t& part : above_micro_) part = part * 1'000'000 / jobs;
}

}  // namespace berth::sim
