#pragma once

#include <string>
#include <vector>

namespace berth::test {

/// A job of Shockwave's workloads, on V100s.
struct ShockwaveJob {
  /// From a batch size on.
  struct Batch {
    double from = 0;        ///< work done, in steps of the first batch
    double rate = 0;        ///< steps of the first batch a second
    double steps_rate = 0;  ///< steps of this batch a second
  };
  double submit_s = 0;
  int gpus = 0;
  double work = 0;   ///< steps of the first batch
  double run_s = 0;  ///< on its own
  std::vector<Batch> batches;
};

/// The jobs of a workload, by submission. @param files  The workload and its throughputs.
std::vector<ShockwaveJob> read_shockwave_jobs(const std::vector<std::string>& files);

enum class ShockwavePolicy { kAllox, kMaxSum };

/// What the artifact does beyond its policies. Each can be turned off, to see its effect.
struct ShockwaveHabits {
  double between_allocations_s = 1'000;  ///< least time between two allocations
  double start_s = 20;                   ///< lost by a job that did not run in the round before
  bool waits_for_allocation = true;      ///< a job that came after the last allocation holds GPUs, but does not run
  /// allox: only this part of the jobs without a full share is matched, the earliest; no fewer than there are free GPUs
  double alpha = 0.2;
  bool share_by_gpus = true;  ///< allox: a job of k GPUs has 1 / k of the time
  bool counts_steps = true;   ///< max-sum: the sum of steps a second; else of speeds relative to the first batch
};

struct ShockwaveFigures {
  double mean_s = 0;
  double makespan_s = 0;  ///< the end of the last round
};

/// Shockwave's simulator of Gavel's rounds, written again from its rules (github.com/uw-mad-dash/shockwave, scheduler/, commit e07dd20),
/// with AlloX and max-sum-throughput on 32 GPUs in rounds of 120 s. tests/replicas/README.md says what the rules are.
ShockwaveFigures replay_shockwave(const std::vector<ShockwaveJob>& jobs, ShockwavePolicy policy, const ShockwaveHabits& habits = {});

}  // namespace berth::test
