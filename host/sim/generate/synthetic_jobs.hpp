#pragma once

#include <cstdint>
#include <optional>

#include "host/sim/base/job_source.hpp"
#include "host/sim/generate/generate.hpp"
#include "host/sim/generate/llm_fabric.hpp"
#include "host/sim/generate/llm_jobs.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim {

struct SyntheticOptions {
  Workload workload = Workload::kHelios;
  std::int64_t jobs = 0;            ///< at most kMaxJobs
  std::int64_t gpus = 1;            ///< of the cluster
  std::int32_t load_ppm = 800'000;  ///< requested GPU-time relative to available GPU-time; > 0, or 0 for kOnes and kDally: as published
  std::uint64_t seed = 0;
  LlmFabric fabric;  ///< of the cluster, for kLlm
};

/// Jobs drawn from the published statistics of a workload (data/SOURCES.md): GPU counts, and run times by size.
/// They arrive as a Poisson process with the rate of the load. Those of kLlm are trees of groups that fit the cluster, with profiles.
/// Those of kOnes have profiles and epochs, and gaps of any length up to
/// twice their mean. Those of kDally have profiles; as published they all come at once. Job n depends only on the seed and n, except for
/// its instant. Shares of GPUs (kPai) are rounded up to whole GPUs. Memory is that of the jobs that have not been released.
class SyntheticJobs final : public JobSource {
 public:
  /// @throws InvalidArgument naming the option and its value.
  explicit SyntheticJobs(const SyntheticOptions& options);

  const TraceJob* next() override;
  void release(const TraceJob& job) override { rooms_.release(job); }

  TraceFacts facts() const;
  /// Those that the jobs name.
  TraceProfiles profiles() const;

 private:
  SyntheticOptions options_;
  TimeUs draw_gap(ItemDraws& draws) const;

  const WorkloadModel& model_;
  std::optional<LlmJobs> llm_;
  bool dally_ = false, gangs_ = false;
  TimeUs mean_gap_us_ = 0;  // between two jobs
  TimeUs now_ = 0;
  std::int64_t count_ = 0;
  JobRooms rooms_;
};

}  // namespace berth::sim
