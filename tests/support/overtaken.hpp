#pragma once

#include <cstdint>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"
#include "tests/support/random.hpp"

/// States that became illegal after the fact: not all that runs might start as it does.
namespace berth::test {

/// One to five random_loss, of any running jobs; none where no job runs. A state may refuse each of them alone.
std::vector<Delta> random_losses(Random& random, const Snapshot& s);

/// A snapshot to which some of that has happened.
Snapshot overtaken(const Snapshot& s, std::uint64_t seed);
/// The same of two seeds in three; the others stay as they are.
inline Snapshot some_overtaken(const Snapshot& s, std::uint64_t seed) { return seed % 3 == 1 ? s : overtaken(s, seed); }

}  // namespace berth::test
