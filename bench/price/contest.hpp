#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "bench/defaults.hpp"
#include "berth/plan.hpp"
#include "berth/state.hpp"

/// One cluster for all contenders, compared by the objective `goodput`.
namespace berth::bench {

struct ContestInstance {
  std::int64_t gpus, jobs, types;
  std::string hash;  // FNV-1a of the snapshot's document, as `berth generate` writes it
  ClusterState state;
  Plan by;  // of `price`: the objective for all
};

/// The instance of a case, (gpus, jobs, types); the last one is kept. It is that of
///
///     berth generate --nodes GPUS/8 --jobs JOBS --elastic --seed 1
///
/// and with three types --gpu-types V100-32GB:2,A100-80GB:1,T4-16GB:1.
ContestInstance& contest_instance(const benchmark::State& bench);

/// Counters `value`, `bound`, `gap_percent` and `gpus_used`, and the instance's hash as the label.
void report_contender(benchmark::State& bench, const ContestInstance& instance, std::int64_t value, std::int64_t gpus_used);

}  // namespace berth::bench
