#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "host/core/model/colocation.hpp"

namespace berth::sim {

/// The speeds of simulated jobs that use shares of the same GPUs, by `Profile::colocation` (docs/simulation-reference.md).
///
/// A job uses its GPUs from the instant at which it gets them, until it gives them back or loses some. It costs others nothing of which
/// no table says what it costs. Partitions of a GPU cost each other nothing.
class SharedGpus {
 public:
  /// A job uses the GPUs of these entries from now on.
  void start(std::int32_t job, const Job& description, std::span<const PlanEntry> entries);
  void stop(std::int32_t job);
  /// Jobs that are there, and whose speed has changed since the last call; of jobs that came since, those with another speed than alone.
  std::span<const std::int32_t> settle();
  /// Fraction of its rate that the job keeps, as of the last `settle`.
  std::int64_t kept_ppm(std::int32_t job) const { return to_size(job) < jobs_.size() ? jobs_[to_size(job)].kept_ppm : kAlone; }

 private:
  static constexpr std::int64_t kAlone = core::kFullRate;
  using Gpu = std::pair<std::int32_t, std::int32_t>;  // rank of the node, index
  struct Sharer {
    std::int32_t kind = -1;
    std::vector<Gpu> gpus;  // none: not there
    std::int64_t kept_ppm = kAlone;
  };
  static std::size_t to_size(std::int32_t job) { return static_cast<std::size_t>(job); }
  std::int64_t kept_now(std::int32_t job);

  core::Colocation colocation_;
  std::vector<Sharer> jobs_;                     // by job index
  std::map<Gpu, std::vector<std::int32_t>> on_;  // GPUs that are shared now: jobs
  std::vector<std::int32_t> touched_, changed_;  // jobs whose GPUs others came to or left; those of `settle`
  std::vector<std::int32_t> others_;             // kinds, scratch
};

}  // namespace berth::sim
