#pragma once

#include <string>

#include "host/report/html/facts.hpp"

namespace berth::report {

/// One HTML file with all that it needs.
std::string report_page(const ReportFacts& facts);

}  // namespace berth::report
