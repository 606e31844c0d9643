#pragma once

#include <berth.h>
#include <vector>

#include "berth/delta.hpp"
#include "berth/state.hpp"

namespace berth::c {

/// Replaces `out` by the batch that a caller's arrays describe.
/// @param state  Has the shapes of jobs that start, and so the groups that entries need not name. @throws
/// InvalidArgument
void read_deltas(const berth_deltas* deltas, const ClusterState& state, std::vector<Delta>& out);

}  // namespace berth::c
