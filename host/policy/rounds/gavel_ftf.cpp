// gavel-ftf: shares of time with the best worst-case finish-time fairness, given in rounds.
//
// Shares      minimise the largest rho: (time since submit + remaining time at the speed of the shares) / (total time in a cluster
//             of its own: 1 / n of this one, n jobs). docs/shares.md.
// Rounds      as gavel-las.
// Source      Gavel (OSDI'20) section 4; the ratio is that of Themis (NSDI'20).

#include "host/policy/rounds/gavel_shapes.hpp"

namespace berth::policy {
namespace {

constexpr GavelRule kFinishTimeFairness{"gavel-ftf", "worst finish-time fairness as good as can be, in rounds", FairBy::kFinishTime};

}  // namespace

core::PolicyEntry gavel_ftf_policy() { return gavel_entry<kFinishTimeFairness>(); }

}  // namespace berth::policy
