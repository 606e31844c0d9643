#pragma once

#include <span>

#include "berth/kernel/problem.hpp"
#include "host/core/backend.hpp"

namespace berth::reference {

/// Sections 6 and 7 of docs/placement.md. `watch`: when to stop before the end; null: never. @throws std::length_error when `max_entries`
/// is too small.
void place_in_order(const kernel::ProblemView& p, const kernel::PlaceRequest& request, std::span<const kernel::TakenRow> taken,
                    const kernel::PlaceResult& result, core::Watch* watch = nullptr);

}  // namespace berth::reference
