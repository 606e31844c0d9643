#pragma once

#include <cstdint>
#include <string_view>

#include "berth/job.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// What the jobs of a simulation report of how far they are, where the trace states their epochs. How many there are in all, nobody is
/// told.
///
/// - `none`: nothing.
/// - `epochs`: epochs and samples done, exactly, and the size of the dataset.
/// - `noise:P`: that, and losses and accuracy at the end of the last whole epoch. The curves are ours, a hyperbola for each model, drawn by
///   the seed: loss(e) = l0 (r + (1 - r) h / (h + e)), accuracy(e) = a e / (h + e), with l0 in 2..10, r in 0.05..0.3, a in 0.6..0.98 and
///   half-life h in 1..30 epochs. How many epochs a job trains has no influence on them. Each report of both is times 1 + u, u uniform in
///   whole millionths from -P to P per cent (0 <= P <= 100), by the seed, the job's place in the trace and the epoch.
class ProgressReports {
 public:
  /// @throws InvalidArgument for another name.
  ProgressReports(std::string_view name, std::uint64_t seed);

  /// Whether this job reports anything.
  bool of(const TraceJob& job) const { return kind_ != Kind::kNone && job.epochs_micro > 0; }
  /// Sets what it reports having done `done` of `work`, both in millionths of its unit. @param place  in the trace.
  void put(Progress& progress, const TraceJob& job, std::int64_t place, std::int64_t done, std::int64_t work) const;

 private:
  enum class Kind : std::uint8_t { kNone, kEpochs, kNoise };

  Kind kind_ = Kind::kNone;
  std::uint64_t seed_;
  std::int64_t most_ppm_ = 0;
};

}  // namespace berth::sim
