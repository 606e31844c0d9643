#pragma once

#include <string>

#include "host/report/html/facts.hpp"

/// Tables of the page, in HTML. Each value has its exact number in `data-value`: seconds, a part of 1, a count, GPU-seconds.
namespace berth::report {

std::string comparison_tables(const ReportFacts& facts);
std::string percentile_tables(const ReportFacts& facts);
/// Per cent of deadlines met by class, values, what was promised and what came of it, and percentiles of lateness.
std::string deadline_tables(const ReportFacts& facts);
std::string gpu_time_table(const ReportFacts& facts);
/// Each run with its command and inputs.
std::string run_details(const ReportFacts& facts);

}  // namespace berth::report
