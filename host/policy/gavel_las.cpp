// gavel-las: shares of the time so that the least speed, over that of an equal part of the cluster and by weight, is as great as can be,
// given in rounds.
//
// Shares      a linear programme: for each job and GPU type the part of the time that it is to run there (docs/shares.md). A job runs on
//             a type with the GPUs that it asks for, where it has such a shape there; else in the shape with the most speed for each GPU.
// Rounds      of `round_s`: on the quickest type first, whoever has received the least of its share goes first (host/policy/
//             gavel_rounds.cpp). Within a round who runs stays, and what becomes free is given in the same order.
// Keeps       of each job on each type what it has received since counting began (columns received/TYPE), what it is owed (owed/TYPE) and
//             its share (share/TYPE, millionths); the instants of round, decision and count; the level of the shares and its bound, in
//             10^-12.
// Source      Gavel (OSDI'20): its policy LAS (max-min fairness) and its round mechanism.

#include "host/policy/gavel_shapes.hpp"

namespace berth::policy {
namespace {

constexpr GavelRule kLas{"gavel-las", "least speed for its weight as great as can be, in rounds", FairBy::kSpeed};

}  // namespace

core::PolicyEntry gavel_las_policy() { return gavel_entry<kLas>(); }

}  // namespace berth::policy
