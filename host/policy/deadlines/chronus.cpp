// chronus: leases of a fixed length; accepted deadlines have reserved leases, and others fill what is left.
//
// Admission   a job with a deadline is asked once, when it comes. It is accepted if enough leases before its deadline have GPUs that no
//             other job reserved, and takes the latest of them. Of jobs that come together, those with more GPUs are asked first, then
//             those with fewer leases to spare, then those with the later deadline. With `asked=lease`, ours, again at each lease boundary.
//             Where its deadline falls in steps, the first step with enough leases is accepted, and stands for the deadline.
// Key         accepted jobs with a lease now; within a lease then all that run; then by class and emergency: accepted, unaccepted, best
//             effort, and deadlines that are out of reach. Emergency: the least slack x GPUs first; of the last two, run time left x GPUs.
// Changes     at each lease boundary, the multiples of `lease_s`. There all reservations are laid again in the order of admission.
// Keeps       columns `promised_end_us` (-1: not accepted; -2: a promise was broken), `lease_from_us_N` and `lease_to_us_N`; scalar
//             `lease_index`.
// Source      Chronus (SoCC'21) by its artifact: lease, classes, greedy packing into the latest leases, padding=published. The artifact
//             solves an integer program at boundaries and packs greedily where that takes too long; here is the packing alone, and
//             `bench/outcomes/chronus` has the program. Ours: leases that have begun are not given away; a job's leases cost what the job
//             states for changes (padding=costs); reservations that cannot all be laid again stay; GPUs are not rounded to 1, 2, 4, 8.
// Parameters  lease_s, padding, asked, early, unpromised, laid_again, and the common ones.

#include <memory>

#include "host/policy/base/params.hpp"
#include "host/policy/deadlines/lease_queue.hpp"

namespace berth::policy {
namespace {

std::unique_ptr<core::QueuePolicy> make_chronus(const core::Params& params) {
  const Settings settings(core::find_policy("chronus").info, params);
  LeaseRules rules;
  rules.lease = settings.millionths("lease_s", kSecond, kMaxTimeUs);
  rules.published = settings.choice("padding", {"costs", "published"}) == 1;
  rules.again = settings.choice("asked", {"once", "lease"}) == 1;
  rules.early_last = settings.choice("early", {"class", "last"}) == 1;
  rules.rejects = settings.choice("unpromised", {"run", "reject"}) == 1;
  rules.replanned = settings.integer("laid_again", 0, 100'000);
  return std::make_unique<LeaseQueue>(rules);
}

}  // namespace

core::PolicyEntry chronus_policy() {
  return {
      .info = {.name = "chronus",
               .rule = "reserved leases of accepted deadlines first, then by class and emergency",
               .source = "Chronus (SoCC'21), greedy packing of its artifact; our reading",
               .params = {{"lease_s", "60", "length of a lease in seconds, at least 1"},
                          {"padding", "costs",
                           "leases of a job, costs: enough for its changes in each run of leases; published: the artifact's formula"},
                          {"asked", "once", "a job that was not accepted, once: stays so; lease: is asked again at each lease boundary"},
                          {"early", "class",
                           "accepted jobs without a lease now, class: first of those that fill; last: behind best effort"},
                          {"unpromised", "run",
                           "run: jobs that are not accepted run behind the others; reject: those with hard deadlines are rejected"},
                          {"laid_again", "10000", "0 to 100000: most reservations that are laid again at a lease boundary"}}},
      .preemptive = true,
      .make = make_chronus};
}

}  // namespace berth::policy
