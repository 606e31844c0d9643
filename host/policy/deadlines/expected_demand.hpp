#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "berth/engine.hpp"

namespace berth::policy {

/// GPU-time of jobs with deadlines that came so far, by GPU type and by GPU-time for a unit of value, in powers of two. It says how many
/// GPUs jobs that are worth more for their GPU-time will need if they go on coming so.
class ExpectedDemand {
 public:
  static constexpr int kBins = 63;

  void load(const PolicyState& state);
  void store(PolicyState& state) const;

  /// A job that is seen for the first time.
  void add(std::int32_t type, std::int64_t gpu_us, std::int64_t value, TimeUs submit);
  /// Millionths of a GPU that jobs need which cost no more GPU-time for their value than this one, about; the mean over the time since the
  /// first submission, or `least`. O(1).
  std::int64_t busy_micro(std::int32_t type, std::int64_t gpu_us, std::int64_t value, TimeUs now, TimeUs least);

 private:
  struct Bins {
    std::array<std::int64_t, kBins> gpu_us{};
    std::array<std::int64_t, kBins> up_to{};  // sums, valid with `summed`
    bool summed = false;
  };
  static std::size_t bin_of(std::int64_t gpu_us, std::int64_t value);

  std::vector<Bins> types_;
  TimeUs from_ = kNever;
};

}  // namespace berth::policy
