#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/profile.hpp"
#include "berth/units.hpp"
#include "host/core/base/wide.hpp"

namespace berth::sim {

/// Work of every worker of a job in an iteration; there is one worker per GPU. Stages run one after the other.
/// Then all workers wait for the last and, if they are on several nodes, exchange their gradients.
struct IterationForm {
  std::vector<TimeUs> stage_us;  ///< sum above 0
  bool stages_known = false;     ///< otherwise a stage is a second of computing
  bool on_lanes = false;         ///< stage i needs resource i of its GPU; otherwise all stages need the GPU itself
  std::int64_t bytes = 0;        ///< of the all-reduce over several nodes; 0: none
  std::int64_t step = 1;         ///< work of an iteration; a last one with less work takes proportionally less

  /// Length of a stage in an iteration that does `work`.
  TimeUs length(std::size_t stage, std::int64_t work) const {
    if (work == step) return stage_us[stage];
    return core::saturate(core::ceil_div(core::Wide{stage_us[stage]} * work, core::Wide{step}));
  }
  TimeUs compute_us(std::int64_t work) const {
    TimeUs sum = 0;
    for (std::size_t s = 0; s < stage_us.size(); ++s) sum = core::saturating_add(sum, length(s, work));
    return sum;
  }
};

/// Resources of a GPU that stages may use exclusively.
inline constexpr std::size_t kMostLanes = 16;
/// @throws InvalidArgument where a profile has more stages.
void check_stages(const std::string& name, const Profile& profile);

/// The iterations of a job with this profile, which counts them ("steps").
/// With stages and gradients, all stages are on the GPU, followed by an all-reduce, as in arXiv 2002.10105.
/// With stages only, each is on its own resource, in order, as in Muri (SIGCOMM'22).
/// Without known stages an iteration is a second of computing at `rate`, which includes the cost of communication.
/// @param counted  The job's work is stated in steps of the profile.
/// @param rate     Millionths of a unit of work per second, > 0.
IterationForm iteration_form(const Profile& profile, bool counted, std::int64_t rate);

}  // namespace berth::sim
