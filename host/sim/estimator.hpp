#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "berth/job.hpp"
#include "berth/trace.hpp"

namespace berth::sim {

/// What the policies of a simulation are told of run times when a job is submitted. The truth stays in the trace.
///
/// - `oracle`: the truth.
/// - `reactive`: the truth of jobs that have one rate; of others their work, and their rate at the time, as if it stayed.
/// - `rolling`: the mean run time of the jobs that have finished in this run so far: of the same user, else with the same GPU count, else
/// of
///   all; not known while nobody has finished. Means are rounded down.
/// - `noise:P`: the truth times 1 + u, u uniform in whole millionths from -P to P per cent (0 <= P <= 100), at least 1 us; by the seed and
///   the job's place in the trace.
/// - `none`: not known.
class Estimator {
 public:
  /// @throws InvalidArgument for another name.
  Estimator(std::string_view name, std::uint64_t seed);

  /// kNever: not known.
  TimeUs run_time(const TraceJob& job, std::int64_t place) const;
  Estimate of(const TraceJob& job, std::int64_t place) const;
  void finished(const TraceJob& job, TimeUs run_us);

  /// Whether the work of a job is told, too, and whether with the rates that it will have.
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
