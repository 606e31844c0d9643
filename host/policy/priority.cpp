// priority: most important first.
//
// Key         minus priority; equal ones by submit, then id, as job ranks do.
// Changes     never.
// Source      what production queues do (Slurm's backfill, Kubernetes' priority classes): order by priority, backfill behind
//             the first job's reservation, and displace only jobs of a smaller preemption class.
// Parameters  the common ones.

#include "host/policy/fixed_key.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

struct PriorityKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const { return -std::int64_t{jobs.priority[slot]}; }
};

}  // namespace

core::PolicyEntry priority_policy() {
  return {{"priority", "largest priority, then submit", "practice of Slurm and Kubernetes", "easy", true, with_common("easy")},
          kernel::Discipline::kEasy,
          true,
          true,
          [](const core::Params&) -> std::unique_ptr<core::QueuePolicy> { return std::make_unique<FixedKey<PriorityKey>>(); }};
}

}  // namespace berth::policy
