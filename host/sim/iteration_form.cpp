#include "host/sim/iteration_form.hpp"

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
  form.on_lanes = profile.gradient_bytes == 0;
  form.bytes = profile.gradient_bytes;
  form.step = 1'000'000;
  if (form.on_lanes && form.stage_us.size() > kMostLanes) {
    throw InvalidArgument(
        fmt::format("model '{}' has {} stages; at most {} have a resource each", profile.model, form.stage_us.size(), kMostLanes));
  }
  return form;
}

}  // namespace berth::sim
