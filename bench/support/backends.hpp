#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/backend/backend.hpp"

/// Many problems at once, one axis: on the CPU with one thread and with all, and on a GPU.
namespace berth::bench {

using BatchBench = std::function<void(benchmark::State&, core::PlacementBackend&)>;

/// `name`/backend:cpu and `name`/backend:cuda for each count; the latter reports where it cannot run. range(0) is the
/// count.
void register_batches(const std::string& name, const std::string& axis, const std::vector<std::int64_t>& counts, const BatchBench& run);

}  // namespace berth::bench
