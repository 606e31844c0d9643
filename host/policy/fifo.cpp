// fifo: first come, first served.
//
// Key         submit (microseconds); equal submits fall to the smaller id, as job ranks do.
// Changes     never.
// Source      the baseline of every trace study; the artifacts of Helios (SC'21) and Tiresias (NSDI'19) block at the head
//             of the line, and so does the default here.
// Parameters  the common ones.

#include "host/policy/fixed_key.hpp"
#include "host/policy/params.hpp"

namespace berth::policy {
namespace {

struct FifoKey {
  std::int64_t operator()(const core::JobColumns& jobs, std::int32_t slot) const { return jobs.submit[slot]; }
};

}  // namespace

core::PolicyEntry fifo_policy() {
  return {{"fifo", "submit", "baseline of the Helios (SC'21) and Tiresias (NSDI'19) simulators", "hol", false, with_common("hol")},
          kernel::Discipline::kHol,
          false,
          false,
          [](const core::Params&) -> std::unique_ptr<core::QueuePolicy> { return std::make_unique<FixedKey<FifoKey>>(); }};
}

}  // namespace berth::policy
