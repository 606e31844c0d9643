#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth::cli {

/// A mean in the unit that is shown, with half of its interval.
struct ShownInterval {
  double mean = 0;
  std::optional<double> half_width;  ///< with one value there is none
  bool operator==(const ShownInterval&) const = default;
};

/// A cell of a sweep, as `--json` prints it.
struct SweepLine {
  std::vector<std::pair<std::string, std::string>> cell;  ///< keys with several values
  std::int64_t seeds = 0;
  std::vector<std::pair<std::string, ShownInterval>> metrics, differences;  ///< the latter empty: there is no baseline
};

/// One line of `berth.sweep.v1` (docs/formats/sweep.md).
std::string sweep_line_json(const SweepLine& line);
/// Its JSON Schema.
std::string sweep_schema();

}  // namespace berth::cli
