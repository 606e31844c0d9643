// edf-admission: preemptive EDF that promises deadlines.
//
// Key         a job whose reservation has begun is first, and nothing displaces it. Then jobs with a promise by deadline, then jobs with a
//             deadline in reach and no promise by the GPU-time left for a unit of value, then all others by the GPU-time left.
// Steps       where a deadline falls in steps, the first one that has room is promised, and stands for the deadline. Without a promise the
//             first step that is in reach does.
// Changes     when the reservation of a job that waits begins.
// Keeps       columns `promised_end_us` (-1: seen, and nothing is promised; -2: a promise was broken), `promised_need_us` and
//             `promised_step_us` (of deadlines in several steps): rows of jobs with deadlines.
//             Scalars `seen_from_us` and `seen_gpu_us_TYPE_BIN`: the GPU-time of such jobs that came.
// Source      EDF (Liu and Layland 1973). Reservations that begin as late as possible are those of Chronus (SoCC'21), here without
//             slots. The demand that is expected, in the manner of bid prices, is ours.
// Parameters  unpromised, best_effort, expected, expected_s, laid_again, sharing, and the common ones.

#include <memory>

#include "host/policy/deadlines/promised_queue.hpp"

namespace berth::policy {
namespace {

std::unique_ptr<core::QueuePolicy> make_edf_admission(const core::Params& params) {
  const Settings settings(core::find_policy("edf-admission").info, params);
  return std::make_unique<PromisedQueue>(promise_rules(settings));
}

std::int64_t sharing_of_edf_admission(const core::Params& params) {
  return promise_sharing(Settings(core::find_policy("edf-admission").info, params));
}

}  // namespace

core::PolicyEntry edf_admission_policy() {
  return {.info = {.name = "edf-admission",
                   .rule = "promised deadlines first, by deadline",
                   .source = "EDF (Liu and Layland 1973) with reservations as of Chronus (SoCC'21); admission ours",
                   .params = promise_parameters()},
          .preemptive = true,
          .make = make_edf_admission,
          .sharing = sharing_of_edf_admission};
}

}  // namespace berth::policy
