// srsf: shortest remaining service first.
//
// Key         run time still needed x GPUs (GPU-microseconds, saturated); not known: INT64_MAX.
// Changes     all the time while the job runs.
// Source      the two-dimensional oracle of Tiresias (NSDI'19); queue order of Muri-S (SIGCOMM'22) and of Ada-SRSF (arXiv
//             2002.10105). Sharing of GPUs and admission of communication, which those two add, are not part of this key.
// Parameters  the common ones.

#include "host/core/wide.hpp"
#include "host/policy/fixed_key.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

struct SrsfKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const {
    return jobs.remaining[slot] == kNever ? kNever : core::saturating_mul(jobs.remaining[slot], jobs.gpus[slot]);
  }
};

}  // namespace

core::PolicyEntry srsf_policy() {
  return {
      {"srsf", "remaining run time x GPUs", "Tiresias (NSDI'19) baseline; order of Muri-S (SIGCOMM'22)", "skip", true, with_common("skip")},
      kernel::Discipline::kSkip,
      true,
      false,
      [](const core::Params&) -> std::unique_ptr<core::QueuePolicy> { return std::make_unique<RunningKey<SrsfKey>>(); }};
}

}  // namespace berth::policy
