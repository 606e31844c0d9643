// srsf: shortest remaining service first.
//
// Key         remaining run time x GPUs (GPU-microseconds, saturated); not known: INT64_MAX.
// Changes     all the time while the job runs.
// Source      the two-dimensional oracle of Tiresias (NSDI'19); queue order of Muri-S (SIGCOMM'22) and of Ada-SRSF (arXiv
//             2002.10105). Those two add GPU sharing and admission of communication, which are not part of this key.
// Parameters  the common ones.

#include "host/core/base/wide.hpp"
#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

struct SrsfKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const {
    return jobs.remaining[job] == kNever ? kNever : core::saturating_mul(jobs.remaining[job], jobs.gpus[job]);
  }
  std::int64_t most_fall(const core::JobColumns& jobs, std::int32_t job) const { return jobs.gpus[job]; }
};

}  // namespace

core::PolicyEntry srsf_policy() {
  return {
      .info = {.name = "srsf", .rule = "remaining run time x GPUs", .source = "Tiresias (NSDI'19) baseline; order of Muri-S (SIGCOMM'22)"},
      .preemptive = true,
      .make = make_queue_policy<RunningKey<SrsfKey>>};
}

}  // namespace berth::policy
