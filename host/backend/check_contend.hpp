#pragma once

#include "berth/kernel/contend/columns.hpp"

namespace berth::core {

/// Checks the columns of `contend`, which backends do not: rows, ranges, and that no product of a pair leaves 31 bits.
/// Call it for columns that were not built by this library; it takes about as long as the loads of the candidates.
/// @throws InvalidArgument naming the column, the row and the value
void check_contend(const kernel::ContendView& problem, const kernel::ContendRequest& request);

}  // namespace berth::core
