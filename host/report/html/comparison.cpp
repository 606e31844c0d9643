#include "host/report/html/comparison.hpp"

#include <cmath>
#include <map>

#include "host/core/base/wide.hpp"

namespace berth::report {
namespace {

std::map<std::int64_t, std::int64_t> values_by_seed(const ReportInput& input, const Configuration& one, const Metric& metric) {
  std::map<std::int64_t, std::int64_t> values;
  for (const std::size_t run : one.runs) {
    const results::StoredRun& stored = input.runs[run].stored;
    // Means of counts have fractions, too.
    const std::int64_t value = stored.number(metric.column);
    values[stored.number("seed")] = metric.unit == MetricUnit::kCount ? core::saturating_mul(value, 1'000'000) : value;
  }
  return values;
}

std::vector<std::int64_t> only_values(const std::map<std::int64_t, std::int64_t>& by_seed) {
  std::vector<std::int64_t> values;
  values.reserve(by_seed.size());
  for (const auto& [seed, value] : by_seed) values.push_back(value);
  return values;
}

}  // namespace

ComparedFigures compare_configurations(const ReportInput& input) {
  ComparedFigures all(input.configurations.size(), std::vector<Compared>(kMetrics.size()));
  for (std::size_t m = 0; m < kMetrics.size(); ++m) {
    for (const ComparedScenario& scenario : input.scenarios) {
      const auto base = values_by_seed(input, input.configurations[scenario.baseline], kMetrics[m]);
      for (const std::size_t c : scenario.configurations) {
        const auto own = values_by_seed(input, input.configurations[c], kMetrics[m]);
        all[c][m].value = estimate_of(only_values(own));
        if (c == scenario.baseline) continue;
        std::vector<std::int64_t> differences;
        for (const auto& [seed, value] : own) {
          const auto there = base.find(seed);
          std::int64_t difference = 0;
          if (there != base.end() && !__builtin_sub_overflow(value, there->second, &difference)) differences.push_back(difference);
        }
        if (!differences.empty()) all[c][m].difference = estimate_of(differences);
      }
    }
  }
  return all;
}

bool is_clear(const MeanEstimate& difference) {
  return difference.half && std::abs(static_cast<double>(difference.mean)) > *difference.half;
}

}  // namespace berth::report
