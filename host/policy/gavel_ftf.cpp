// gavel-ftf: shares of the time so that the worst finish-time fairness is as good as can be, given in rounds.
//
// Shares      the least of rho is sought: (time since submit + time left at the speed of the shares) / (time in all in a cluster of its
//             own: 1 / n of this one, n jobs). docs/shares.md.
// Rounds      as gavel-las.
// Source      Gavel (OSDI'20) section 4; the ratio is that of Themis (NSDI'20).

#include "host/policy/gavel_shapes.hpp"

namespace berth::policy {
namespace {

constexpr GavelRule kFinishTimeFairness{"gavel-ftf", "worst finish-time fairness as good as can be, in rounds", FairBy::kFinishTime};

}  // namespace

core::PolicyEntry gavel_ftf_policy() { return gavel_entry<kFinishTimeFairness>(); }

}  // namespace berth::policy
