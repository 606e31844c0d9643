#pragma once

#include <optional>
#include <vector>

#include "host/report/html/configurations.hpp"
#include "host/report/html/estimate.hpp"
#include "host/report/html/metrics.hpp"

namespace berth::report {

/// One figure of a configuration, in millionths: microseconds, parts per million, millionths of a count.
struct Compared {
  MeanEstimate value;
  std::optional<MeanEstimate> difference;  ///< from the baseline, by seed, over the seeds that both have; absent: no such seed
};

/// [configurations][kMetrics]
using ComparedFigures = std::vector<std::vector<Compared>>;

ComparedFigures compare_configurations(const ReportInput& input);

/// Whether a difference is more than chance: its interval does not contain 0.
bool is_clear(const MeanEstimate& difference);

}  // namespace berth::report
