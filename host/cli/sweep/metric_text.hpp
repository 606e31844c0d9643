#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "host/cli/sweep/shown_interval.hpp"
#include "host/cli/sweep/sweep_intervals.hpp"

/// How figures of runs are shown.
namespace berth::cli {

/// Its place in results::kSweepMetricTable. @param key  that names it, for messages. @throws InvalidArgument with the nearest known name.
std::size_t metric_named(std::string_view key, std::string_view name);

/// By what a figure of results::kSweepMetricTable is divided: microseconds become seconds, millionths parts of 1.
double metric_scale(std::size_t metric);

/// "P90 QUEUE S".
std::string metric_head(std::size_t metric);
/// "p90_queue_s", of JSON.
std::string metric_key(std::size_t metric);

/// Its key and its interval, for JSON.
std::pair<std::string, ShownInterval> shown_metric(std::size_t metric, const SweepInterval& interval);

/// A key of a spec, or a parameter, as the head of a column.
std::string column_head(std::string_view name);

/// With as many digits as the interval makes sense of.
std::string number_text(double value, double half_width);
/// "35.2 +- 1.4", or the value alone where there is no interval.
std::string interval_text(const SweepInterval& interval, double scale, bool sign = false);

}  // namespace berth::cli
