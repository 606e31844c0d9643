#pragma once

#include <cstdint>

#include "host/core/check_snapshot.hpp"
#include "host/core/where.hpp"

namespace berth {
class StateImpl;
}

/// What one delta must satisfy against the state at hand. Each throws InputError naming the place and the value.
namespace berth::core {

void check_put_node(const StateImpl& state, const Node& node, const Where& where);
void check_put_job(const StateImpl& state, const Job& job, const Where& where);
void check_put_queue(const StateImpl& state, const Queue& queue, const Where& where);
void check_put_reservation(const StateImpl& state, const Reservation& reservation, const Where& where);
/// A job may start, or change its allocation: it fits its shape, and nobody else holds what it takes.
void check_start(const StateImpl& state, std::int32_t slot, const Allocation& allocation, const Where& where);

}  // namespace berth::core
