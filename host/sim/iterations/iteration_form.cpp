#include "host/sim/iterations/iteration_form.hpp"

#include <fmt/format.h>

#include <numeric>

#include "berth/error.hpp"

namespace berth::sim {

IterationForm iteration_form(const Profile& profile, bool counted, std::int64_t rate) {
  IterationForm form;
  const TimeUs sum = std::accumulate(profile.stage_us.begin(), profile.stage_us.end(), TimeUs{0}, core::saturating_add);
  if (!counted || profile.unit != "steps" || sum == 0) {
    form.stage_us = {kSecond};
    form.step = rate;
    return form;
  }
  form.stage_us = profile.stage_us;
  form.stages_known = true;
  form.on_lanes = profile.gradient_bytes == 0;
  form.bytes = profile.gradient_bytes;
  form.step = 1'000'000;
  return form;
}

void check_stages(const std::string& name, const Profile& profile) {
  if (profile.unit != "steps" || profile.gradient_bytes > 0 || profile.stage_us.size() <= kMostLanes) return;
  throw InvalidArgument(
      fmt::format("profile '{}' has {} stages; at most {} have a resource each", name, profile.stage_us.size(), kMostLanes));
}

}  // namespace berth::sim
