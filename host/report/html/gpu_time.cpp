#include "host/report/html/gpu_time.hpp"

#include <algorithm>
#include <cstdint>

#include "berth/units.hpp"
#include "host/core/base/wide.hpp"

namespace berth::report {
namespace {

constexpr std::size_t kWork = 0, kFragmented = 7, kFree = 8, kDown = 9;
constexpr std::size_t kAllocatedLevel = 0, kFreeLevel = 1, kFragmentedLevel = 5;

/// Millionths of a GPU times microseconds, summed over intervals. A store may hold any numbers: sums stop at a bound.
class LevelTime {
 public:
  void add(std::int64_t time_us, __int128 micro) {
    constexpr __int128 kMost = static_cast<__int128>(1) << 120, kMostMicro = static_cast<__int128>(1) << 60;
    sum_ = std::clamp(sum_ + std::min(time_us, kMaxTimeUs) * std::clamp(micro, -kMostMicro, kMostMicro), -kMost, kMost);
  }
  __int128 sum() const { return sum_; }

 private:
  __int128 sum_ = 0;
};

std::int64_t length_of(const sim::Sample& sample) {
  return sample.until_us > sample.from_us && sample.from_us >= 0 ? sample.until_us - sample.from_us : 0;
}

}  // namespace

GpuTimeParts gpu_time_of(const ReportRun& run, const std::map<std::string, std::int64_t>& losses, const std::vector<sim::Sample>& series) {
  GpuTimeParts parts{};
  std::int64_t lost = 0;
  for (std::size_t p = kWork + 1; p < kFragmented; ++p) {
    const auto loss = losses.find(kGpuTimeParts[p].key);
    if (loss == losses.end()) continue;
    parts[p] = std::max<std::int64_t>(0, loss->second);
    lost = core::saturating_add(lost, parts[p]);
  }
  parts[kWork] = std::max<std::int64_t>(0, run.stored.number("gpu_us") - lost);
  LevelTime allocated_time, free_time, fragmented_time, all_time, rounding_time;
  for (const sim::Sample& sample : series) {
    const std::int64_t time = length_of(sample);
    allocated_time.add(time, sample.micro[kAllocatedLevel]);
    free_time.add(time, sample.micro[kFreeLevel]);
    fragmented_time.add(time, sample.micro[kFragmentedLevel]);
    all_time.add(time, static_cast<__int128>(run.stored.number("gpus")) * 1'000'000);
    rounding_time.add(time, 2);  // up to a millionth of a GPU in each level
  }
  const __int128 free = free_time.sum(), fragmented = std::min(fragmented_time.sum(), free);
  const auto micro = [](__int128 value) { return core::saturate(std::max<__int128>(0, value) / 1'000'000); };
  parts[kFragmented] = micro(fragmented);
  parts[kFree] = micro(free - fragmented);
  const __int128 down = all_time.sum() - allocated_time.sum() - free;
  parts[kDown] = down > rounding_time.sum() ? micro(down) : 0;
  return parts;
}

GpuTimeParts mean_gpu_time(const std::vector<GpuTimeParts>& all) {
  GpuTimeParts mean{};
  if (all.empty()) return mean;
  for (std::size_t p = 0; p < mean.size(); ++p) {
    __int128 sum = 0;
    for (const GpuTimeParts& one : all) sum += one[p];
    mean[p] = static_cast<std::int64_t>(sum / static_cast<__int128>(all.size()));
  }
  return mean;
}

}  // namespace berth::report
