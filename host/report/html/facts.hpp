#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "host/report/html/comparison.hpp"
#include "host/report/html/configurations.hpp"
#include "host/report/html/gpu_time.hpp"
#include "host/report/html/link_heat.hpp"
#include "host/sim/measures/stays.hpp"

namespace berth::report {

/// A distribution by its values at equally spaced ranks: `at[k]` is that of rank ceil((k + 1) values / at.size()).
struct RankedValues {
  std::int64_t values = 0;
  std::vector<std::int64_t> at;  ///< at most kMostRanks
};
inline constexpr std::int64_t kMostRanks = 1'000;

/// @param sorted  Ascending.
RankedValues ranked_values(const std::vector<std::int64_t>& sorted);
/// The value at rank ceil(part values), by millionths.
std::int64_t value_at(const std::vector<std::int64_t>& sorted, std::int64_t part_ppm);

/// Of all runs of a configuration.
struct DeadlineSums {
  std::int64_t hard = 0, hard_missed = 0, soft = 0, soft_missed = 0;
  std::optional<results::StoredDeadlines> said;  ///< none: files from before that
};

struct ConfigurationFacts {
  RankedValues jct_us, wait_us;                                       ///< of completed jobs of all of its runs
  std::vector<std::int64_t> jct_percentiles_us, wait_percentiles_us;  ///< of kPercentiles; empty: rows of jobs are not stored
  GpuTimeParts gpu_time{};
  RankedValues late_us;  ///< end - deadline, of completed jobs that have one, of all of its runs; below 0: in time
  std::vector<std::int64_t> late_percentiles_us;
  DeadlineSums deadlines;
};
inline constexpr std::int64_t kPercentiles[] = {10, 25, 50, 75, 90, 95, 99, 100};

/// Of more runs than this only the first seed of each configuration has its series in a report.
inline constexpr std::size_t kMostSeries = 200;

struct RunSeries {
  std::size_t run = 0, configuration = 0;
  std::vector<sim::Sample> samples;
};

struct RunBars {
  std::size_t run = 0, configuration = 0;
  std::vector<results::StoredJob> jobs;
  std::vector<sim::StayNode> nodes;
  std::vector<results::StoredStay> stays;
};

/// All that a report shows.
struct ReportFacts {
  ReportInput input;
  ComparedFigures comparison;
  std::vector<ConfigurationFacts> configurations;
  std::vector<RunSeries> series;
  std::vector<RunBars> bars;
  std::vector<std::size_t> without_bars;  ///< runs that have rows of jobs, but would exceed the limit
  std::vector<HeatedLink> links;          ///< empty: not asked for
};

/// @param most_bars  Rows of jobs and stays for the Gantt charts, of all runs together; the first run with any is taken always.
/// @param bars       Whether to read such rows.
ReportFacts read_report_facts(results::ResultsReader& store, ReportInput input, std::int64_t most_bars, bool bars);

}  // namespace berth::report
