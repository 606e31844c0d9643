#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/cli/base/real_fields.hpp"

namespace berth::cli {

/// A mean in the unit that is shown, with half of its interval.
struct ShownInterval {
  double mean = 0;
  std::optional<double> half_width;  ///< with one value there is none
  bool operator==(const ShownInterval&) const = default;
};
/// By metric; times end in "_s", in seconds.
using ShownMetrics = std::vector<std::pair<std::string, ShownInterval>>;

inline constexpr io::Field<io::NotRead, ShownInterval> kShownIntervalFields[] = {
    io::field<RealNumber, &ShownInterval::mean>("mean", io::kRequired),
    io::field<OptionalReal, &ShownInterval::half_width>("half_width", {}, "Half of the 95 % interval; absent with one seed."),
};
using MetricIntervals = io::Map<io::Object<kShownIntervalFields>>;

}  // namespace berth::cli
