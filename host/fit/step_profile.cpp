#include "host/fit/step_profile.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

namespace berth::fit {
namespace {

/// With the powers of two between both.
std::set<std::int32_t> with_powers(std::set<std::int32_t> all, std::int32_t least, std::int32_t most) {
  if (least <= 1 && most >= 1) all.insert(1);
  for (std::int32_t n = 1; n <= most / 2; n *= 2) {
    if (2 * n >= least) all.insert(2 * n);
  }
  return all;
}

}  // namespace

Profile profile_of(std::span<const StepModel> models) {
  constexpr double kMostRate = 1e15;  // millionths
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.unit = "steps";
  for (const StepModel& model : models) {
    const StepRange& range = model.range;
    std::set<std::int32_t> batches{0};
    if (model.has_batch) {
      profile.unit = "samples";
      constexpr double kMostBatch = 1e9;
      batches = with_powers(range.batches, static_cast<std::int32_t>(std::min(kMostBatch, std::ceil(range.least_batch))),
                            static_cast<std::int32_t>(std::min(kMostBatch, range.most_batch)));
    }
    const auto add = [&](std::int32_t gpus, std::int32_t nodes) {
      for (const std::int32_t batch : batches) {
        const double rate = step_rate(model, {model.gpu_type, static_cast<double>(batch), gpus, nodes, range.most_cores, {}});
        profile.points.push_back(
            {model.gpu_type, gpus, batch, nodes > 1 ? "" : "node", std::llround(std::clamp(1e6 * rate, 1.0, kMostRate))});
      }
    };
    if (range.most_on_node > 0) {
      for (const std::int32_t gpus : with_powers(range.on_node, range.least_on_node, range.most_on_node)) add(gpus, 1);
    }
    if (range.most_on_nodes > 0) {
      for (const std::int32_t gpus : with_powers(range.on_nodes, range.least_on_nodes, range.most_on_nodes)) add(gpus, 2);
    }
    for (const auto& [name, slowdown] : model.slowdown) {
      const auto ppm = static_cast<std::int64_t>(1e6 / (1 + slowdown));
      const std::string& named = name;
      const auto other =
          std::find_if(profile.colocation.begin(), profile.colocation.end(), [&](const auto& one) { return one.first == named; });
      // A profile has one figure for all GPU types: the least.
      if (other == profile.colocation.end()) {
        profile.colocation.emplace_back(name, ppm);
      } else {
        other->second = std::min(other->second, ppm);
      }
    }
  }
  std::sort(profile.colocation.begin(), profile.colocation.end());
  return profile;
}

}  // namespace berth::fit
