#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "berth/what_if.hpp"
#include "host/core/base/name_source.hpp"

namespace berth::report {

/// One edit: totals that differ, jobs whose answer differs, use by queue, reasons.
/// @param most_rows  jobs, and then reasons, listed at most; 0: all
std::string what_if_text(const core::NameSource& names, const Plan& base, const EditOutcome& outcome, std::size_t most_rows);

/// Which jobs would move, what that costs, and what it gives.
std::string make_room_text(const core::NameSource& names, const Plan& base, const RoomAnswer& room);

/// Many edits: a row each.
std::string what_if_table(const Plan& base, const std::vector<EditOutcome>& outcomes);

}  // namespace berth::report
