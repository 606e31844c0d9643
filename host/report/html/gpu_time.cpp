#include "host/report/html/gpu_time.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::report {
namespace {

constexpr std::size_t kWork = 0, kFragmented = 7, kFree = 8, kDown = 9;
constexpr std::size_t kAllocatedLevel = 0, kFreeLevel = 1, kFragmentedLevel = 5;

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
  __int128 allocated = 0, free = 0, fragmented = 0, all = 0;
  for (const sim::Sample& sample : series) {
    const __int128 time = std::max<std::int64_t>(0, sample.until_us - sample.from_us);
    allocated += time * sample.micro[kAllocatedLevel];
    free += time * sample.micro[kFreeLevel];
    fragmented += time * sample.micro[kFragmentedLevel];
    all += time * run.stored.number("gpus") * 1'000'000;
  }
  const auto micro = [](__int128 value) { return core::saturate(std::max<__int128>(0, value) / 1'000'000); };
  parts[kFragmented] = micro(std::min(fragmented, free));
  parts[kFree] = micro(free - std::min(fragmented, free));
  // Rounding leaves up to a millionth of a GPU in each level and interval.
  __int128 rounding = 0;
  for (const sim::Sample& sample : series)
    rounding += 2 * static_cast<__int128>(std::max<std::int64_t>(0, sample.until_us - sample.from_us));
  const __int128 down = all - allocated - free;
  parts[kDown] = down > rounding ? micro(down) : 0;
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
