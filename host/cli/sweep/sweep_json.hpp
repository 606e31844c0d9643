#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/sweep/shown_interval.hpp"

namespace berth::cli {

/// A cell of a sweep, as `--json` prints it.
struct SweepLine {
  std::vector<std::pair<std::string, std::string>> cell;  ///< keys with several values
  std::int64_t seeds = 0;
  ShownMetrics metrics, differences;  ///< the latter empty: there is no baseline
};

/// One line of `berth.sweep.v1` (docs/formats/sweep.md).
std::string sweep_line_json(const SweepLine& line);
/// Its JSON Schema.
std::string sweep_schema();

}  // namespace berth::cli
