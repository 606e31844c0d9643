#include "tests/support/overtaken.hpp"

#include <utility>

#include "berth/error.hpp"
#include "berth/state.hpp"
#include "tests/support/random_loss.hpp"

namespace berth::test {

std::vector<Delta> random_losses(Random& random, const Snapshot& s) {
  const std::vector<const Job*> running = losing_jobs(s);
  std::vector<Delta> losses;
  const std::int32_t n = running.empty() ? 0 : random.within(1, 5);
  for (std::int32_t i = 0; i < n; ++i) losses.push_back(random_loss(random, s, *random.of(running), i));
  return losses;
}

Snapshot overtaken(const Snapshot& s, std::uint64_t seed) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 11);
  ClusterState state(s);
  for (Delta& one : random_losses(random, s)) {
    try {
      state.apply(std::move(one));
    } catch (const InputError&) {  // such as a limit below a guarantee
    }
  }
  return state.snapshot();
}

}  // namespace berth::test
