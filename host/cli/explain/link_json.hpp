#pragma once

#include <string>

#include "host/report/links/link_report.hpp"

namespace berth::cli {

/// The whole report: links, gangs, pairs, rotations, reservations, and jobs of which nothing is known. Times in seconds, parts as
/// decimals; docs/contention.md names the fields.
std::string link_json(const ClusterState& state, const report::LinkReport& links);

}  // namespace berth::cli
