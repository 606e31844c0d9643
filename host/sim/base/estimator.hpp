#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "berth/job.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// The run times reported to the policies of a simulation when a job is submitted. The truth stays in the trace.
///
/// - `oracle`: the truth.
/// - `reactive`: the truth for jobs with one rate; for others their work and current rate, as if the rate stayed.
/// - `rolling`: the mean run time of the jobs finished so far in this run: of the same user, else with the same GPU count, else of all.
///   Not known while no job has finished. Means are rounded down.
/// - `noise:P`: the truth times 1 + u, u uniform in whole millionths from -P to P per cent (0 <= P <= 100), at least 1 us. It depends
///   on the seed and the job's position in the trace.
/// - `none`: not known.
class Estimator {
 public:
  /// @throws InvalidArgument for any other name.
  Estimator(std::string_view name, std::uint64_t seed);

  /// kNever: not known.
  TimeUs run_time(const TraceJob& job, std::int64_t place) const;
  Estimate of(const TraceJob& job, std::int64_t place) const;
  void finished(const TraceJob& job, TimeUs run_us);

  /// Whether the work of a job is reported too, with its future rates.
  bool knows_work() const { return kind_ == Kind::kOracle || kind_ == Kind::kReactive; }
  bool knows_phases() const { return kind_ == Kind::kOracle; }

 private:
  enum class Kind : std::uint8_t { kOracle, kReactive, kRolling, kNoise, kNone };
  struct Mean {
    __int128 sum = 0;
    std::int64_t count = 0;
  };

  Kind kind_ = Kind::kNone;
  std::string name_;
  std::uint64_t seed_;
  std::int64_t most_ppm_ = 0;
  std::map<std::string, Mean> by_user_;
  std::map<std::int32_t, Mean> by_gpus_;
  Mean all_;
};

}  // namespace berth::sim
