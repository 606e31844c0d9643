#pragma once

#include <array>
#include <vector>

#include "berth/delta.hpp"
#include "berth/snapshot.hpp"

namespace berth::bench {

/// Two batches of N changes; each undoes the other, so that they can be applied alternately for ever.
///
/// Of 100 changes 34 are arrivals and withdrawals of waiting jobs, 30 ends and arrivals of running ones, 26 stops and
/// starts, 10 nodes that drain and return. Apply `first` once before the batches.
struct Changes {
  std::vector<Delta> first;
  std::array<std::vector<Delta>, 2> batch;
};

/// @param count  A multiple of 100.
/// @throws std::runtime_error when the snapshot has too few running jobs.
Changes make_changes(const Snapshot& snapshot, int count);

}  // namespace berth::bench
