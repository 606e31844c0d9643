#pragma once

#include <algorithm>

#include "berth/job.hpp"

/// Run time that a change costs.
namespace berth::core {

/// Continuing after a failure: nothing can be saved any more.
inline TimeUs restart_cost(const Costs& costs) { return costs.restart_us + costs.checkpoint_restore_us; }
/// Being displaced: saving, restarting and restoring.
inline TimeUs displace_cost(const Costs& costs) { return costs.checkpoint_save_us + costs.restart_us + costs.checkpoint_restore_us; }
/// Continuing in another shape: what the job states, else being displaced.
inline TimeUs resize_cost(const Costs& costs) { return costs.scale_us > 0 ? costs.scale_us : displace_cost(costs); }
/// Continuing elsewhere.
inline TimeUs migrate_cost(const Costs& costs) { return std::max(displace_cost(costs), costs.migrate_us); }

}  // namespace berth::core
