#pragma once

#include <array>
#include <string>
#include <string_view>

#include "host/report/html/facts.hpp"

/// A report as files for other programs.
namespace berth::report {

enum class ReportPart : std::uint8_t {
  kComparison,
  kJct,
  kWait,
  kAllocation,
  kQueue,
  kFragmentation,
  kGpuHours,
  kCapacity,
  kDeadlines,
  kLate
};
inline constexpr std::array<std::string_view, 10> kReportParts{"comparison",    "jct",       "wait",     "allocation", "queue",
                                                               "fragmentation", "gpu-hours", "capacity", "deadlines",  "late"};

/// Rows by RFC 4180. Numbers are exact where they come from the file.
std::string report_csv(const ReportFacts& facts, ReportPart part);
/// A chart. @param metric  Of kMetrics, for the parts `comparison` and `capacity`. @throws InvalidArgument when there is nothing to draw.
std::string report_svg(const ReportFacts& facts, ReportPart part, std::size_t metric);
/// A `berth.report.v1` document: docs/formats/report.md.
std::string report_json(const ReportFacts& facts);

}  // namespace berth::report
