#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth {

enum class ProfileKind : std::uint8_t { kOpaque, kTable, kClosedForm };

/// One measured rate.
struct RatePoint {
  std::string gpu_type;  ///< empty: any type
  std::int32_t gpus = 0;
  std::int32_t local_batch = 0;  ///< 0: any
  std::string span;              ///< level of the `switch` topology that the gang spans, empty: any
  std::int64_t rate = 0;         ///< millionths of the unit per second
  bool operator==(const RatePoint&) const = default;
};

/// Compute time of one step on one GPU type: alpha * batch + beta.
struct StepTime {
  std::string gpu_type;       ///< empty: any type
  std::int64_t alpha_ns = 0;  ///< nanoseconds per sample
  std::int64_t beta_ns = 0;   ///< nanoseconds per step
  bool operator==(const StepTime&) const = default;
};

/// Model of the time of an iteration: our reconstruction of a GENIE-style predictor, without the coefficients of the paper.
struct ClosedForm {
  std::vector<StepTime> step;
  std::int64_t io_ns = 0;                 ///< CPU-core nanoseconds of input work per sample
  std::int64_t cpu_milli_saturation = 0;  ///< cores beyond which input work does not get faster; 0: no such point
  std::int64_t overlap_ppm = 0;           ///< fraction of communication hidden behind compute
  bool operator==(const ClosedForm&) const = default;
};

/// Rate of the job by (GPU type, GPU count, local batch, span).
struct Profile {
  ProfileKind kind = ProfileKind::kOpaque;
  std::string model;              ///< name for display
  std::string unit = "s";         ///< of work: "samples", "steps", "s"
  std::vector<RatePoint> points;  ///< kTable
  ClosedForm closed_form;         ///< kClosedForm
  std::int64_t gradient_bytes = 0;
  std::vector<std::int64_t> stage_us;  ///< per-iteration stage times, in declared order
  std::int64_t gpu_utilisation_ppm = 0;
  std::int64_t gpu_memory_utilisation_ppm = 0;
  /// Slowdown next to another model on the same GPU: (model, fraction of the rate kept, ppm).
  std::vector<std::pair<std::string, std::int64_t>> colocation;
  bool operator==(const Profile&) const = default;
};

}  // namespace berth
