#pragma once

#include <functional>
#include <span>

#include "berth/delta.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

/// Applies deltas as StateImpl::apply does, calls `during`, and takes the deltas back: the state is as before, at its
/// revision. Readers of its change log see both.
/// @throws as StateImpl::apply, and what `during` throws; the state is then as before, too. StateLost: memory ran out.
void suppose(StateImpl& state, std::span<const Delta> deltas, const std::function<void()>& during);

}  // namespace berth::core
