#pragma once

#include <cstdint>
#include <string_view>

#include "berth/job.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// Progress that the jobs of a simulation report, where the trace states their epochs. The total number of epochs is never reported.
///
/// - `none`: nothing.
/// - `epochs`: exact epochs and samples done, and the size of the dataset.
/// - `noise:P`: also losses and accuracy at the end of the last whole epoch.
///   The curves are ours, a hyperbola per model, drawn by the seed: loss(e) = l0 (r + (1 - r) h / (h + e)), accuracy(e) = a e / (h + e).
///   l0 is in 2..10, r in 0.05..0.3, a in 0.6..0.98 and the half-life h in 1..30 epochs, independent of the job's total epochs.
///   Each report of both is times 1 + u, u uniform in whole millionths from -P to P per cent (0 <= P <= 100).
///   u depends on the seed, the job's position in the trace and the epoch.
class ProgressReports {
 public:
  /// @throws InvalidArgument for any other name.
  ProgressReports(std::string_view name, std::uint64_t seed);

  /// Whether this job reports anything.
  bool of(const TraceJob& job) const { return kind_ != Kind::kNone && job.epochs_micro > 0; }
  /// Sets the report after `done` of `work`, both in millionths of its unit. @param place  Position in the trace.
  void put(Progress& progress, const TraceJob& job, std::int64_t place, std::int64_t done, std::int64_t work) const;
  /// Sets the report after `epochs`, in millionths.
  void put_epochs(Progress& progress, const TraceJob& job, std::int64_t place, std::int64_t epochs) const;

 private:
  enum class Kind : std::uint8_t { kNone, kEpochs, kNoise };

  Kind kind_ = Kind::kNone;
  std::uint64_t seed_;
  std::int64_t most_ppm_ = 0;
};

}  // namespace berth::sim
