#pragma once

#include <string>
#include <utility>
#include <vector>

#include "host/report/html/facts.hpp"

/// Charts as SVG, for papers and for the page.
namespace berth::report {

struct SvgLine {
  std::string label;
  std::vector<std::pair<double, double>> points;  ///< ascending x
  std::vector<double> halves;                     ///< of intervals, for each point; empty: none
};

struct SvgAxes {
  std::string title, x, y;
  bool log_x = false;  ///< values of 0 and below are drawn at the left edge
  bool steps = false;  ///< a value holds until the next point
  double most_y = 0;   ///< 0: the largest
};

/// Lines with axes and a legend.
std::string line_chart_svg(const SvgAxes& axes, const std::vector<SvgLine>& lines);
/// A mark with its interval for each configuration.
std::string metric_svg(const ReportFacts& facts, std::size_t metric);
/// Where the GPU-time of each configuration went. @param inside  Within a page, whose colour of text it takes.
std::string gpu_time_svg(const ReportFacts& facts, bool inside);

}  // namespace berth::report
