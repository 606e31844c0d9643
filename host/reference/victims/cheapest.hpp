#pragma once

#include <cstdint>
#include <vector>

namespace berth::reference {

/// What a candidate frees on one node.
struct Freed {
  std::int32_t candidate;  // its place in the order of preference
  std::int64_t cost, gpus, cpu, memory;
};

/// A set of candidates, by places in a list of `Freed`.
struct CheapSet {
  std::int64_t cost = 0;
  std::vector<std::size_t> places;  // ascending
};

/// The cheapest set that frees N GPUs: least cost, then fewest, then the first in the order of preference. The list is in that
/// order, and all of it frees enough.
CheapSet cheapest_by_gpus(const std::vector<Freed>& list, std::int64_t gpus);

}  // namespace berth::reference
