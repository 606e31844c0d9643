#pragma once

#include <span>
#include <vector>

#include "berth/job.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/plan.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

void count(Totals& totals, Action action);

/// Appends the placed rows of one job in the form of a plan: groups and members as the shape counts them.
void append_placed(const StateImpl& state, const kernel::DemandRow& demand, const Shape& shape, std::span<const kernel::PlacedRow> rows,
                   std::vector<PlanEntry>& entries);

/// Whether what is placed is what a job holds, whichever of its members is on which of them.
bool same_gpus(std::span<const kernel::PlacedRow> placed, std::span<const PlanEntry> held);

}  // namespace berth::core
