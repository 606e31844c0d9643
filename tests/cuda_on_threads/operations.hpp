#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/backend/backend.hpp"

/// The operations of a backend, each on one small problem with a known answer.
namespace berth::cuda_on_threads {

struct Operation {
  std::string name;
  /// Runs it and compares with the reference. Empty when equal.
  std::function<std::string(core::PlacementBackend&)> difference;
};

/// `place` of one pass and of several, `score`, `price`, `replay`, `delay_replay`, `contend`, `victims`, `ones` and `plan_search`.
const std::vector<Operation>& operations();
/// `ones` on that many GPUs, without a generation of parents.
Operation ones_of(std::int32_t gpus);
/// `plan_search` of that many individuals, for devices with little memory.
Operation plan_search_of(std::int32_t individuals);

}  // namespace berth::cuda_on_threads
