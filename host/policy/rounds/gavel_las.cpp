// gavel-las: shares of time that maximise the least weighted speed relative to an equal part of the cluster, given in rounds.
//
// Shares      a linear program gives, for each job and GPU type, the fraction of time that it runs there (docs/shares.md). On a
//             type a job uses its requested number of GPUs if it has such a shape, else the shape with the highest speed per GPU.
// Rounds      of `round_s`: the fastest type first; on it the job that has received least of its share comes first
//             (host/policy/rounds/gavel_rounds.cpp). Within a round running jobs stay, and free GPUs are given in the same order.
// Keeps       per job and type, what it has received since counting began (columns received/TYPE), what it is owed (owed/TYPE) and
//             its share (share/TYPE, millionths); the instants of round, decision and count; the level of the shares and its
//             bound, in 10^-12.
// Source      Gavel (OSDI'20): its policy LAS (max-min fairness) and its round mechanism.

#include "host/policy/rounds/gavel_shapes.hpp"

namespace berth::policy {
namespace {

constexpr GavelRule kLas{"gavel-las", "least speed for its weight as great as can be, in rounds", FairBy::kSpeed};

}  // namespace

core::PolicyEntry gavel_las_policy() { return gavel_entry<kLas>(); }

}  // namespace berth::policy
