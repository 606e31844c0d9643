#pragma once

#include "berth/kernel/victims/columns.hpp"

namespace berth::core {

/// Checks the columns of `victims`, which backends do not: rows, ranges, demands, and that candidates hold GPUs of their own.
/// O(questions x candidates x rows that they hold).
/// @throws InvalidArgument naming the question, the row and the value
void check_victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request);

}  // namespace berth::core
