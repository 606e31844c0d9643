#pragma once

#include <cstdint>

#include "host/core/base/input_location.hpp"
#include "host/core/check/check_snapshot.hpp"

namespace berth {
class StateImpl;
}

/// Checks of one delta against the current state. Each throws InputError naming the location and the value.
namespace berth::core {

void check_put_node(const StateImpl& state, const Node& node, const InputLocation& where);
void check_put_job(const StateImpl& state, const Job& job, const InputLocation& where);
void check_put_queue(const StateImpl& state, const Queue& queue, const InputLocation& where);
void check_put_reservation(const StateImpl& state, const Reservation& reservation, const InputLocation& where);
/// A job may start, or change its allocation: it fits its shape, and no other job holds these GPUs.
void check_start(const StateImpl& state, std::int32_t job_index, const Allocation& allocation, const InputLocation& where);

}  // namespace berth::core
