#pragma once

#include <string>

#include "berth/plan.hpp"
#include "host/core/base/name_source.hpp"

namespace berth::core {

/// Whether a job with this reason found no room in what is free.
constexpr bool lacks_room(ReasonCode code) {
  return code == ReasonCode::kNodeConstraint || code == ReasonCode::kInsufficientGpus || code == ReasonCode::kTopologyRequired ||
         code == ReasonCode::kFragmented || code == ReasonCode::kCpu || code == ReasonCode::kMemory;
}

/// One sentence without a full stop: "needs 16 GPUs in one rack; best rack has 12 left: r07". Empty for kNone.
std::string render_reason(const NameSource& names, const Reason& reason, std::int32_t job);
/// What follows "would start if": "4 more were free there"; empty when no single change is known.
std::string render_would_start_if(const NameSource& names, const Reason& reason, std::int32_t job);
/// The node or domain that `best` refers to; empty: none.
std::string render_where(const NameSource& names, const Reason& reason);

/// "1 h 30 min", "45 s", "never"; exact to the microsecond.
std::string duration_text(TimeUs us);
/// "2026-11-21T23:14:41Z" where the clock is a real one (the origin is known), else from now on: "in 3 h 20 min", "5 min ago", "now".
/// `exact`: to the microsecond, else rounded as rough_duration does from ten seconds on.
std::string instant_text(const NameSource& names, TimeUs at, bool exact = false);
/// The same after a verb: "at 2026-11-21T23:14:41Z", "in 3 h 20 min".
std::string at_instant(const NameSource& names, TimeUs at, bool exact = false);
/// A duration in at most two units, rounded to the second of them: "3 h 11 min", "1 min 5 s", "0.4 s"; for tables.
std::string rough_duration(TimeUs us);
/// "80 GiB", "1.5 GiB", "123 bytes"; rounded down to one decimal.
std::string bytes_text(std::int64_t bytes);

}  // namespace berth::core
