#include "host/sim/replay/settings.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"

namespace berth::sim {
namespace {

constexpr std::int32_t kMostGpuJobs = 64;
constexpr TimeUs kLeastRound = kSecond;

}  // namespace

const char* fidelity_name(const SimulationSettings& settings) {
  if (settings.iterations) return "iteration";
  switch (settings.links) {
    case LinkModel::kNone:
      return "rate";
    case LinkModel::kTiers:
      return "tiers";
    case LinkModel::kShared:
      return "shared_links";
  }
  return "";
}

void check_settings(const SimulationSettings& settings, const TraceProfiles& profiles) {
  if (settings.round_us != 0 && settings.round_us < kLeastRound) throw InvalidArgument("a round takes a second at least");
  if (!settings.iterations) return;
  const std::int32_t gpu_jobs = settings.iterations->gpu_jobs;
  if (gpu_jobs < 1 || gpu_jobs > kMostGpuJobs || (gpu_jobs > 1 && !settings.decide)) {
    throw InvalidArgument(fmt::format("of 1 to {} jobs on a GPU, more than 1 are for policies that place them so", kMostGpuJobs));
  }
  if (gpu_jobs > 1 && (settings.failures.crash_gpu_us > 0 || settings.failures.kill_gpu_us > 0)) {
    throw InvalidArgument("jobs that share GPUs do not crash by their GPU-time: when they will have had it is not known");
  }
  for (const auto& [name, profile] : profiles) check_stages(name, profile);
}

}  // namespace berth::sim
