// priority: most important first.
//
// Key         minus priority; equal ones by submit, then id, as job ranks.
// Changes     never.
// Source      production queues (Slurm's backfill, the priority classes of Kubernetes): order by priority, backfill behind the
//             reservation of the first job, and displace only jobs of a smaller preemption class.
// Parameters  the common ones.

#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

struct PriorityKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const { return -std::int64_t{jobs.priority[job]}; }
};

}  // namespace

core::PolicyEntry priority_policy() {
  return {.info = {.name = "priority", .rule = "largest priority, then submit", .source = "practice of Slurm and Kubernetes"},
          .discipline = kernel::Discipline::kEasy,
          .preemptive = true,
          .class_rule = true,
          .make = make_queue_policy<FixedKey<PriorityKey>>};
}

}  // namespace berth::policy
