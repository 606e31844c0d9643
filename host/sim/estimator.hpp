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

  Estimate of(const TraceJob& job, std::int64_t place) const;
  void finished(const TraceJob& job, TimeUs run_us);

  bool is_oracle() const { return kind_ == Kind::kOracle; }

 private:
  enum class Kind : std::uint8_t { kOracle, kRolling, kNoise, kNone };
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
