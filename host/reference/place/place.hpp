#pragma once

#include <span>

#include "berth/kernel/base/problem.hpp"
#include "host/backend/backend.hpp"

namespace berth::reference {

/// Sections 6 and 7 of docs/placement.md.
/// @param stop_token  When to stop before the end; null: never.
/// @throws std::length_error when `max_entries` is too small.
void place(const kernel::ProblemView& p, const kernel::PlaceRequest& request, std::span<const kernel::TakenRow> taken,
           const kernel::PlaceResult& result, core::StopToken* stop_token = nullptr);

}  // namespace berth::reference
