// dally-nowait: as dally, but no job waits for a close place.
//
// Key         as dally.
// Places      the tightest level that has room now.
// Source      Dally (arXiv 2401.16492): a baseline of it. Its name is remembered; that both timers are 0 follows from it.
// Parameters  lease_s, leases, lease_end, and the common ones.

#include "host/policy/rounds/dally_family.hpp"

namespace berth::policy {

namespace {

std::unique_ptr<core::QueuePolicy> make_dally_nowait(const core::Params& params) {
  return dally_order(Settings(core::find_policy("dally-nowait").info, params));
}

std::optional<core::DelayRule> no_delays(const core::Params& params) {
  return dally_timers(Settings(core::find_policy("dally-nowait").info, params), 0);
}

}  // namespace

core::PolicyEntry dally_nowait_policy() {
  return {.info = {.name = "dally-nowait",
                   .rule = "as dally, without waiting for close places",
                   .source = "Dally (arXiv 2401.16492), its baseline without timers",
                   .params = dally_leases()},
          .preemptive = true,
          .make = make_dally_nowait,
          .delays = no_delays};
}

}  // namespace berth::policy
