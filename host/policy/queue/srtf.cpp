// srtf: shortest remaining time first.
//
// Key         remaining run time at the requested or current shape (microseconds); not known: INT64_MAX.
// Changes     all the time while the job runs.
// Source      the preemptive oracle baseline of the Helios artifact (SC'21) and of Tiresias (NSDI'19). Helios and Lucid
//             (ASPLOS'23) admit by a GPU count before they place: admission=count. By default placement admits a job.
// Parameters  admission, and the common ones.

#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

struct SrtfKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const { return jobs.remaining[job]; }
  std::int64_t most_fall(const core::JobColumns&, std::int32_t) const { return 1; }
};

}  // namespace

core::PolicyEntry srtf_policy() {
  return {.info = {.name = "srtf", .rule = "remaining run time", .source = "baseline of Helios (SC'21) and Tiresias (NSDI'19)"},
          .preemptive = true,
          .make = make_queue_policy<RunningKey<SrtfKey>>,
          .counted_admission = true};
}

}  // namespace berth::policy
