#include "host/report/html/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "host/core/base/wide.hpp"

namespace berth::report {
namespace {

void append(std::vector<std::int64_t>& all, const std::vector<std::int64_t>& sorted) {
  const auto middle = static_cast<std::ptrdiff_t>(all.size());
  all.insert(all.end(), sorted.begin(), sorted.end());
  std::inplace_merge(all.begin(), all.begin() + middle, all.end());
}

std::vector<std::int64_t> percentiles_of(const std::vector<std::int64_t>& sorted) {
  std::vector<std::int64_t> values;
  if (sorted.empty()) return values;
  for (const std::int64_t percent : kPercentiles) values.push_back(value_at(sorted, percent * 10'000));
  return values;
}

void add_deadlines(DeadlineSums& sums, const results::StoredRun& run, const std::optional<results::StoredDeadlines>& said) {
  const auto add = [](std::int64_t& to, std::int64_t more) { to = core::saturating_add(to, more); };
  add(sums.hard, run.number("hard_deadlines"));
  add(sums.hard_missed, run.number("hard_missed"));
  add(sums.soft, run.number("soft_deadlines"));
  add(sums.soft_missed, run.number("soft_missed"));
  if (!said) return;
  if (!sums.said) sums.said.emplace();
  using Said = results::StoredDeadlines;
  for (std::int64_t Said::*const one :
       {&Said::value, &Said::value_met, &Said::promised, &Said::promised_missed, &Said::warned, &Said::warned_met, &Said::refused,
        &Said::best_effort, &Said::best_effort_completed, &Said::met_later}) {
    add((*sums.said).*one, (*said).*one);
  }
}

}  // namespace

std::int64_t value_at(const std::vector<std::int64_t>& sorted, std::int64_t part_ppm) {
  if (sorted.empty()) return 0;
  const auto n = static_cast<__int128>(sorted.size());
  const auto rank = static_cast<std::size_t>((n * part_ppm + 999'999) / 1'000'000);
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

RankedValues ranked_values(const std::vector<std::int64_t>& sorted) {
  RankedValues ranked;
  ranked.values = static_cast<std::int64_t>(sorted.size());
  const std::int64_t ranks = std::min(ranked.values, kMostRanks);
  for (std::int64_t k = 1; k <= ranks; ++k)
    ranked.at.push_back(sorted[static_cast<std::size_t>((k * ranked.values + ranks - 1) / ranks - 1)]);
  return ranked;
}

ReportFacts read_report_facts(results::ResultsReader& store, ReportInput input, std::int64_t most_bars, bool bars) {
  ReportFacts facts;
  facts.comparison = compare_configurations(input);
  std::int64_t n_bars = 0;
  for (std::size_t c = 0; c < input.configurations.size(); ++c) {
    ConfigurationFacts& own = facts.configurations.emplace_back();
    std::vector<std::int64_t> jct, wait, late;
    std::vector<GpuTimeParts> gpu_times;
    for (const std::size_t r : input.configurations[c].runs) {
      const ReportRun& run = input.runs[r];
      const results::StoredTimes times = store.times(run.stored.id);
      append(jct, times.jct_us);
      append(wait, times.queue_us);
      append(late, times.late_us);
      add_deadlines(own.deadlines, run.stored, store.deadlines(run.stored.id));
      RunSeries series{r, c, store.series(run.stored.id)};
      gpu_times.push_back(gpu_time_of(run, store.losses(run.stored.id), series.samples));
      if (input.runs.size() <= kMostSeries || gpu_times.size() == 1) facts.series.push_back(std::move(series));
      if (!bars || run.jobs_stored == 0) continue;
      const std::int64_t more = run.jobs_stored + store.stay_count(run.stored.id);
      if (!facts.bars.empty() && more > most_bars - n_bars) {
        facts.without_bars.push_back(r);
        continue;
      }
      n_bars += more;
      facts.bars.push_back({r, c, store.jobs(run.stored.id), store.nodes(run.stored.id), store.stays(run.stored.id)});
    }
    own.jct_us = ranked_values(jct);
    own.wait_us = ranked_values(wait);
    own.jct_percentiles_us = percentiles_of(jct);
    own.wait_percentiles_us = percentiles_of(wait);
    own.late_us = ranked_values(late);
    own.late_percentiles_us = percentiles_of(late);
    own.gpu_time = mean_gpu_time(gpu_times);
  }
  if (input.runs.size() > kMostSeries)
    input.notes.push_back(
        fmt::format("series are those of the first seed of each configuration, as there are more than {} runs", kMostSeries));
  facts.input = std::move(input);
  return facts;
}

}  // namespace berth::report
