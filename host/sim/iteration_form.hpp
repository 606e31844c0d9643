#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/profile.hpp"
#include "berth/units.hpp"
#include "host/core/wide.hpp"

namespace berth::sim {

/// What every worker of a job, one on each of its GPUs, does in each iteration: its stages one after the other; then all of them wait for
/// the last, and where they lie on several nodes exchange their gradients.
struct IterationForm {
  std::vector<TimeUs> stage_us;  ///< sum above 0
  bool stages_known = false;     ///< else a stage is a second of computing
  bool on_lanes = false;         ///< stage i needs resource i of its GPU; else all of them need the GPU itself
  std::int64_t bytes = 0;        ///< of the all-reduce over several nodes; 0: none
  std::int64_t step = 1;         ///< work that an iteration does; the stages of a last one that does less take as much less

  /// Of an iteration that does `work`.
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

/// Resources of a GPU that stages may have to themselves.
inline constexpr std::size_t kMostLanes = 16;
/// @throws InvalidArgument where a profile states more of them.
void check_stages(const std::string& name, const Profile& profile);

/// The iterations of a job of this profile, which counts them ("steps"). A profile that states stages and gradients has all stages on the
/// GPU and an all-reduce behind them, as in arXiv 2002.10105; one that states stages only has each of them on a resource of its own, in
/// their order, as in Muri (SIGCOMM'22). Where stages are not known an iteration is a second of computing, at `rate`, which knows what
/// communication costs.
/// @param counted  The job's work is stated in steps of the profile.
/// @param rate     Millionths of a unit of work per second, > 0.
IterationForm iteration_form(const Profile& profile, bool counted, std::int64_t rate);

}  // namespace berth::sim
