#pragma once

#include <cstdint>

#include "host/sim/generate.hpp"
#include "host/sim/job_source.hpp"
#include "host/sim/workload.hpp"

namespace berth::sim {

struct SyntheticOptions {
  Workload workload = Workload::kHelios;  ///< not kLlm, whose jobs are trees
  std::int64_t jobs = 0;                  ///< at most kMaxJobs
  std::int64_t gpus = 1;                  ///< of the cluster
  std::int32_t load_ppm = 800'000;        ///< GPU-time that comes, of the GPU-time that there is; > 0
  std::uint64_t seed = 0;
};

/// Jobs drawn from the published statistics of a workload (data/SOURCES.md): GPU counts, and run times by size. They come as a Poisson
/// process, as fast as the load asks for. Job n depends on the seed and n only, but for its instant. Shares of GPUs (kPai) are rounded up
/// to whole ones. Memory is that of the jobs which have not been released.
class SyntheticJobs final : public JobSource {
 public:
  /// @throws InvalidArgument naming the option and its value.
  explicit SyntheticJobs(const SyntheticOptions& options);

  const TraceJob* next() override;
  void release(const TraceJob& job) override { rooms_.release(job); }

  /// Mean time between two jobs.
  TimeUs mean_gap_us() const { return mean_gap_us_; }
  TraceFacts facts() const;

 private:
  SyntheticOptions options_;
  const WorkloadModel& model_;
  TimeUs mean_gap_us_ = 0;
  TimeUs now_ = 0;
  std::int64_t count_ = 0;
  JobRooms rooms_;
};

}  // namespace berth::sim
