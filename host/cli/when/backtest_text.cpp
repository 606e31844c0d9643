#include "host/cli/when/backtest_text.hpp"

#include <fmt/format.h>

#include <vector>

#include "host/core/base/civil_time.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

std::string share(std::int64_t part, std::int64_t all) {
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(all));
}

std::string hours(double seconds) { return fmt::format("{:.1f}", seconds / 3600); }

}  // namespace

std::string backtest_text(const sim::Backtest& backtest, const sim::BacktestSettings& settings) {
  std::vector<report::Row> rows;
  for (const sim::Coverage& one : backtest.rows) {
    rows.push_back({one.name, fmt::to_string(one.jobs), fmt::to_string(one.asked), share(one.covered, one.asked),
                    fmt::format("{:.0f}..{:.0f} %", 100 * one.coverage_low, 100 * one.coverage_high), share(one.above, one.asked),
                    share(one.raw_covered, one.asked), share(one.past_covered, one.asked), hours(one.score_s), hours(one.raw_score_s),
                    hours(one.past_score_s), hours(one.width_s), hours(one.past_width_s), hours(one.median_error_s)});
  }
  const double nominal = static_cast<double>(settings.levels.high_ppm - settings.levels.low_ppm) / 1e4;
  std::string text = fmt::format("{} instants; intervals of {:.0f} %; times in hours\n", backtest.instants, nominal);
  if (backtest.without_history > 0) text += fmt::format("{} instants had too short a history\n", backtest.without_history);
  if (rows.empty()) return text + "no job waited\n";
  text += "\n" + report::table({"JOBS", "NUMBER", "ASKED", "COVERED", "BY DAYS", "LATER", "RAW", "PAST WAITS", "SCORE", "RAW SCORE",
                                "PAST SCORE", "WIDTH", "PAST WIDTH", "MEDIAN ERROR"},
                               rows);
  text += "\nlevels learned at the end: --levels ";
  for (const ForecastLevels& one : backtest.last_levels)
    text += fmt::format("{}{},{}", &one == backtest.last_levels.data() ? "" : "/", core::format_seconds(one.low_ppm),
                        core::format_seconds(one.high_ppm));
  return text + "\n";
}

}  // namespace berth::cli
