// dally-manual: as dally, with fixed timers.
//
// Key         as dally.
// Places      as dally, with the timers of `timers`.
// Source      Dally (arXiv 2401.16492): a baseline of it. The default, 1 and 2 leases, is that of the first author's simulator.
// Parameters  lease_s, leases, lease_end, timers, and the common ones.

#include <utility>
#include <vector>

#include "host/policy/rounds/dally_family.hpp"

namespace berth::policy {

namespace {

std::unique_ptr<core::QueuePolicy> make_dally_manual(const core::Params& params) {
  return dally_order(Settings(core::find_policy("dally-manual").info, params));
}

std::optional<core::DelayRule> stated_delays(const core::Params& params) {
  const Settings settings(core::find_policy("dally-manual").info, params);
  core::DelayRule rule = dally_rule(settings);
  read_timers(settings, rule.lease_us, rule);
  return rule;
}

}  // namespace

core::PolicyEntry dally_manual_policy() {
  std::vector<PolicyParam> own = dally_leases();
  own.push_back({"timers", "1:2",
                 "leases that a job waits for a node, a rack, and so on, between colons; the last holds for all levels above; never: it "
                 "goes nowhere else. By GPUs: 2:1:2/8:6:12, up to 2 GPUs 1:2, and 6:12 for all larger ones"});
  return {.info = {.name = "dally-manual",
                   .rule = "as dally, with fixed timers",
                   .source = "Dally (arXiv 2401.16492), its manual timers",
                   .params = std::move(own)},
          .preemptive = true,
          .make = make_dally_manual,
          .delays = stated_delays,
          .leaves_idle = "a gang waits for a close place while GPUs elsewhere are free"};
}

}  // namespace berth::policy
