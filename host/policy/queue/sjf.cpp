// sjf: shortest job first.
//
// Key         form=helios: the estimated run time at the requested shape (microseconds); not known: INT64_MAX.
//             form=tiresias: requested GPUs, fewest first; no estimate is read.
// Changes     never.
// Source      helios: the oracle baseline of the Helios artifact (SC'21), without preemption or backfill. The estimate is that of
//             the state, and an oracle only when the caller requests one. tiresias: the policy `sjf` of the Tiresias simulator
//             (NSDI'19).
// Parameters  form, and the common ones.

#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {

namespace {

struct Shortest {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const { return jobs.estimate[job]; }
};
struct Smallest {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const { return jobs.gpus[job]; }
};

std::unique_ptr<core::QueuePolicy> make_sjf(const core::Params& params) {
  const Settings settings(core::find_policy("sjf").info, params);
  if (settings.choice("form", {"helios", "tiresias"}) == 1) return std::make_unique<FixedKey<Smallest>>();
  return std::make_unique<FixedKey<Shortest>>();
}

}  // namespace

core::PolicyEntry sjf_policy() {
  return {.info = {.name = "sjf",
                   .rule = "estimated run time",
                   .source = "Helios (SC'21) baseline; form=tiresias: the Tiresias simulator's",
                   .params = {{"form", "helios", "helios: least estimated run time; tiresias: fewest GPUs"}}},
          .discipline = kernel::Discipline::kStrict,
          .make = make_sjf};
}

}  // namespace berth::policy
