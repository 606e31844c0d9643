// fifo: first come, first served.
//
// Key         submit (microseconds); equal submits are ordered by id, as job ranks are.
// Changes     never.
// Source      the baseline of every trace study. The artifacts of Helios (SC'21) and Tiresias (NSDI'19) block at the head of
//             the queue, and so does the default here.
// Parameters  the common ones.

#include "host/policy/base/fixed_key.hpp"
#include "host/policy/base/params.hpp"

namespace berth::policy {
namespace {

struct FifoKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t job) const { return jobs.submit[job]; }
};

}  // namespace

core::PolicyEntry fifo_policy() {
  return {.info = {.name = "fifo", .rule = "submit", .source = "baseline of the Helios (SC'21) and Tiresias (NSDI'19) simulators"},
          .discipline = kernel::Discipline::kStrict,
          .make = make_queue_policy<FixedKey<FifoKey>>};
}

}  // namespace berth::policy
