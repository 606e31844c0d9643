#pragma once

#include <cstdint>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "tests/support/random.hpp"

/// States that became illegal after the fact: not all that runs might start as it does.
namespace berth::test {

/// What happens under running jobs: limits of their queues are lowered, their GPUs and nodes fail, drain, are released or kept for others.
/// A state may refuse each of them alone.
std::vector<Delta> random_losses(Random& random, const Snapshot& s);

/// A snapshot to which some of that has happened.
Snapshot overtaken(const Snapshot& s, std::uint64_t seed);
/// The same of every third seed; the others stay as they are.
inline Snapshot some_overtaken(const Snapshot& s, std::uint64_t seed) { return seed % 3 == 2 ? overtaken(s, seed) : s; }

}  // namespace berth::test
