#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "tests/support/random.hpp"

/// Queues that keep a part of their guarantee, for random tests.
namespace berth::test {

/// Some queues below a parent get a guarantee where they have none, and lend a part of it.
inline void lend_some(Random& random, std::vector<Queue>& queues, std::int32_t most_guarantee) {
  for (Queue& queue : queues) {
    if (queue.parent.empty()) continue;
    for (Quota& quota : queue.quotas) {
      if (quota.guarantee == 0 && random.percent(60)) quota.guarantee = random.within(1, most_guarantee);
      if (quota.guarantee > 0 && random.percent(70)) quota.lending = random.below(static_cast<std::int32_t>(quota.guarantee) + 1);
    }
  }
}

/// Where the queues of a cluster stand side by side, most get a parent with a limit of some of its GPUs, and lend.
inline void lend_below_one_parent(std::uint64_t seed, Snapshot& s) {
  Random random(seed * 0x9e3779b97f4a7c15ull + 23);
  if (s.queues.empty()) return;
  std::int32_t gpus = 0;
  for (const Node& node : s.nodes) gpus += node.gpus;
  Queue parent;
  parent.id = "lenders";
  parent.quotas.push_back({"*", 0, random.within(gpus / 2, gpus + 1), kUnlimited});
  for (Queue& queue : s.queues) {
    if (queue.parent.empty() && random.percent(80)) queue.parent = parent.id;
  }
  lend_some(random, s.queues, gpus / 8 + 1);
  s.queues.push_back(parent);
}

}  // namespace berth::test
