// srtf: shortest remaining time first.
//
// Key         run time still needed at the requested or current shape (microseconds); not known: INT64_MAX.
// Changes     all the time while the job runs.
// Source      the preemptive oracle baseline of the Helios artifact (SC'21) and of Tiresias (NSDI'19). Helios admits by a GPU count
//             before it places; here a job is admitted by being placed.
// Parameters  the common ones.

#include "host/policy/fixed_key.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

struct SrtfKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const { return jobs.remaining[slot]; }
};

}  // namespace

core::PolicyEntry srtf_policy() {
  return {{"srtf", "remaining run time", "baseline of Helios (SC'21) and Tiresias (NSDI'19)", "skip", true, with_common("skip")},
          kernel::Discipline::kSkip,
          true,
          false,
          [](const core::Params&) -> std::unique_ptr<core::QueuePolicy> { return std::make_unique<RunningKey<SrtfKey>>(); }};
}

}  // namespace berth::policy
