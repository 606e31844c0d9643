// dally: gangs wait for a close place, as long as gangs of their size waited for one before; the job that the network held back most is
// first.
//
// Leases      a job that gets GPUs has them for `lease_s`; until then no job displaces it. leases=common (ours): all leases end together,
//             at the multiples of `lease_s`. Then, with lease_end=offer, it gives them up and is placed like the jobs that wait; with keep
//             (ours) a job before it may displace it; with move (ours) it also moves to a tighter level, where that saves more than it
//             costs.
// Key         first the jobs within their lease. Then, of those that wait or whose lease has ended, the least Nw_sens: the run time that
//             the work done would have taken without communication, over the run time so far, in billionths, rounded down. 0 for a job
//             that has not run; 1 where progress is not known. Equal: that which has waited longest, then earlier submission, then id. A
//             job whose lease has ended counts as waiting since now.
// Places      a job waits for one domain of each level that could hold it, from the node up, until its timer of that level runs out.
//             Inside what is allowed: the tightest level, best fit (docs/dally.md).
// Timers      by level and number of GPUs, from how long gangs waited before they got a domain of that level, over `history` leases:
//             mean + 2 standard deviations, within bounds. Found again for each decision.
// Changes     when a lease ends while jobs wait, or that of a job in a far place.
// Keeps       columns `waits_us.LEVEL`: the waits; column `lease_from_us`: start of the lease of a job that kept its GPUs beyond the end
//             of an earlier lease.
// Source      Dally (arXiv 2401.16492): offers, Nw_sens, and its tuner as in the first author's simulator. Reconstructed: a lease of one
//             hour. Ours: timers of more than two levels; levels at which all GPUs are in one domain do not count; the same GPUs cost
//             no restart, and no lease ends where that would change nothing.
// Parameters  lease_s, leases, lease_end, history, and the common ones.

#include "host/policy/rounds/dally_family.hpp"

namespace berth::policy {

namespace {

constexpr std::int64_t kMostLeases = 10'000;  // of the history

std::unique_ptr<core::QueuePolicy> make_dally(const core::Params& params) {
  return dally_order(Settings(core::find_policy("dally").info, params));
}

std::optional<core::DelayRule> tuned_delays(const core::Params& params) {
  const Settings settings(core::find_policy("dally").info, params);
  core::DelayRule rule = dally_rule(settings);
  rule.history = settings.integer("history", 1, kMostLeases);
  return rule;
}

}  // namespace

core::PolicyEntry dally_policy() {
  std::vector<PolicyParam> own = dally_leases();
  own.push_back({"history", "24", "leases over which waits count for the timers, 1 to 10000"});
  return {.info = {.name = "dally",
                   .rule = "least progress for its run time, where leases end; waits for close places, timers tuned",
                   .source = "Dally (arXiv 2401.16492); what is reconstructed or ours: docs/dally.md",
                   .params = std::move(own)},
          .preemptive = true,
          .make = make_dally,
          .delays = tuned_delays,
          .leaves_idle = "a gang waits for a close place while GPUs elsewhere are free"};
}

}  // namespace berth::policy
