// sjf: shortest job first.
//
// Key         form=helios: the estimated run time at the requested shape (microseconds); not known: INT64_MAX.
//             form=tiresias: GPUs asked for, fewest first; no estimate is read.
// Changes     never.
// Source      helios: the oracle baseline of the Helios artifact (SC'21), without preemption or backfill; here the estimate is
//             whatever the state says, and only an oracle when the caller asked for one. tiresias: what the Tiresias
//             simulator (NSDI'19) calls `sjf`.
// Parameters  form, and the common ones.

#include "host/policy/fixed_key.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {

core::PolicyEntry sjf_policy();

namespace {

struct Shortest {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const { return jobs.estimate[slot]; }
};
struct Smallest {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const { return jobs.gpus[slot]; }
};

std::unique_ptr<core::QueuePolicy> make_sjf(const core::Params& params) {
  const Settings settings(sjf_policy().info, params);
  if (settings.choice("form", {"helios", "tiresias"}) == 1) return std::make_unique<FixedKey<Smallest>>();
  return std::make_unique<FixedKey<Shortest>>();
}

}  // namespace

core::PolicyEntry sjf_policy() {
  return {{"sjf", "estimated run time", "Helios (SC'21) baseline; form=tiresias: the Tiresias simulator's", "hol", false,
           with_common("hol", {{"form", "helios", "helios: least estimated run time; tiresias: fewest GPUs"}})},
          kernel::Discipline::kHol,
          false,
          false,
          make_sjf};
}

}  // namespace berth::policy
