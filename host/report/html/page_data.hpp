#pragma once

#include <string>

#include "host/report/html/facts.hpp"

namespace berth::report {

/// What the page's script draws, as JSON. Long columns are packed numbers.
std::string page_data(const ReportFacts& facts);

}  // namespace berth::report
