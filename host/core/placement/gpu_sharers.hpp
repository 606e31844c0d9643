#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/model/colocation.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Which jobs have shares of which GPUs, and what fraction of its rate each keeps. Memory is kept between decisions.
class GpuSharers {
 public:
  /// No job has any GPU.
  void begin(const StateImpl& state);
  /// Adds the shares that a job holds in one shape; rows of whole GPUs count for nothing.
  void add(const StateImpl& state, std::int32_t job, std::int32_t shape, std::span<const PlanEntry> entries);
  /// Adds all running jobs as the state has them.
  void add_running(const StateImpl& state);

  /// Row of a GPU in the columns of the problem.
  static std::int64_t row_of(const StateImpl& state, std::int32_t node, std::int32_t gpu);
  std::span<const std::int32_t> jobs_on(std::int64_t gpu) const { return on_[static_cast<std::size_t>(gpu)].jobs; }
  /// Whether some job has a partition of the GPU, of which no table says what it costs others.
  bool is_partitioned(std::int64_t gpu) const { return on_[static_cast<std::size_t>(gpu)].partitioned; }
  /// GPUs that some job has a share of, in the order in which they came.
  std::span<const std::int64_t> gpus() const { return gpus_; }

  std::int32_t kind_of(const StateImpl& state, std::int32_t job);
  /// On one GPU; `guest`: the kind of one more job there, -1: none. O(jobs on the GPU)
  KeptFraction kept_on(const StateImpl& state, std::int64_t gpu, std::int32_t job, std::int32_t guest = -1);
  /// Of a job of this kind that joins those on the GPU.
  KeptFraction kept_by_guest(const StateImpl& state, std::int64_t gpu, std::int32_t guest);
  /// Over all GPUs of the job. O(jobs on its GPUs)
  KeptFraction kept(const StateImpl& state, std::int32_t job);

 private:
  struct OnGpu {
    std::vector<std::int32_t> jobs;  // each once
    bool partitioned = false;
  };
  std::vector<OnGpu> on_;                           // [GPU rows]
  std::vector<std::int64_t> gpus_;                  // with jobs
  std::vector<std::vector<std::int64_t>> gpus_of_;  // [jobs of the state]
  std::vector<std::int32_t> kind_, others_;         // [jobs of the state], -1: not looked up; scratch
  Colocation colocation_;
};

}  // namespace berth::core
