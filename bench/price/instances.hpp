#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/price/columns.hpp"

namespace berth::bench {

/// A separable problem of elastic jobs: the owner of the columns.
struct PriceInstance {
  std::vector<std::int64_t> capacity;
  std::vector<std::int32_t> option_begin, type, gpus;
  std::vector<std::int64_t> value;
  std::vector<std::int64_t> speed;  // kSpeedUnit: that of one GPU of the first type; `value` is computed from it

  kernel::PriceView view() const;
  /// FNV-1a over the columns of the view: identifies the instance for comparisons with other solvers.
  std::uint64_t hash() const;
};

/// Jobs with a goodput of Pollux's form (compute, synchronisation within a node and between nodes, statistical
/// efficiency), drawn from the seed, on 1 to 64 GPUs of each type. Values are those of the objective `goodput` with the
/// power -1.
/// @param models  0: every job is different; else N kinds of jobs, as in a trace of a few models.
PriceInstance price_instance(std::int64_t gpus, std::int64_t jobs, std::int32_t types, std::int32_t models, std::uint64_t seed);

}  // namespace berth::bench
