#pragma once

#include <string>

#include "host/report/links/link_report.hpp"

namespace berth::cli {

/// The document `berth.links.v1`: docs/formats/links.md.
std::string link_json(const ClusterState& state, const report::LinkReport& links);
std::string links_schema();

}  // namespace berth::cli
