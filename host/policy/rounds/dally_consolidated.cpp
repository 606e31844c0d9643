// dally-consolidated: as dally, but jobs wait for a close place for ever.
//
// Key         as dally.
// Places      in one domain of the lowest level that could hold the job.
// Source      Dally (arXiv 2401.16492): a baseline of it. Its name is remembered; that both timers are infinite follows from it.
// Parameters  lease_s, leases, lease_end, and the common ones.

#include "host/policy/rounds/dally_family.hpp"

namespace berth::policy {

namespace {

std::unique_ptr<core::QueuePolicy> make_dally_consolidated(const core::Params& params) {
  return dally_order(Settings(core::find_policy("dally-consolidated").info, params));
}

std::optional<core::DelayRule> endless_delays(const core::Params& params) {
  return dally_timers(Settings(core::find_policy("dally-consolidated").info, params), kNever);
}

}  // namespace

core::PolicyEntry dally_consolidated_policy() {
  return {.info = {.name = "dally-consolidated",
                   .rule = "as dally, waiting for close places for ever",
                   .source = "Dally (arXiv 2401.16492), its fully consolidated baseline",
                   .params = dally_leases()},
          .preemptive = true,
          .make = make_dally_consolidated,
          .delays = endless_delays,
          .leaves_idle = "a gang waits for a close place while GPUs elsewhere are free"};
}

}  // namespace berth::policy
