#include "host/cli/tune/day_bootstrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/sweep/metric_text.hpp"
#include "host/sim/base/random.hpp"

namespace berth::cli {
namespace {

/// A configuration's metric over days that count several times, or not at all.
class WeightedMetric {
 public:
  WeightedMetric(const std::vector<const DayValues*>& windows, std::int64_t percent) : percent_(percent) {
    std::size_t day = 0;
    for (const DayValues* window : windows) {
      for (const std::vector<std::int64_t>& values : *window) {
        counts_.push_back(static_cast<std::int64_t>(values.size()));
        double& sum = sums_.emplace_back(0);
        for (const std::int64_t value : values) {
          sum += static_cast<double>(value);
          if (percent_ > 0) sorted_.emplace_back(value, day);
        }
        ++day;
      }
    }
    std::sort(sorted_.begin(), sorted_.end());
  }

  /// Nothing where no day with jobs counts.
  std::optional<double> of(const std::vector<std::int64_t>& weights) const {
    std::int64_t jobs = 0;
    double sum = 0;
    for (std::size_t day = 0; day < weights.size(); ++day) {
      jobs += weights[day] * counts_[day];
      sum += static_cast<double>(weights[day]) * sums_[day];
    }
    if (jobs == 0) return std::nullopt;
    if (percent_ == 0) return sum / static_cast<double>(jobs);
    std::int64_t rank = (percent_ * jobs + 99) / 100;
    for (const auto& [value, day] : sorted_) {
      rank -= weights[day];
      if (rank <= 0) return static_cast<double>(value);
    }
    return std::nullopt;
  }

 private:
  std::int64_t percent_;
  std::vector<std::int64_t> counts_;
  std::vector<double> sums_;
  std::vector<std::pair<std::int64_t, std::size_t>> sorted_;  // value, day
};

}  // namespace

DayMetric day_metric(std::string_view name) {
  using results::CompletedJob;
  DayMetric metric;
  metric.metric = metric_named("--metric", name);
  const std::string_view full = results::kSweepMetricTable[metric.metric].name;
  if (full == "makespan") {
    metric.percent = 100;
    return metric;
  }
  const std::size_t underscore = full.find('_');
  constexpr std::pair<std::string_view, std::int64_t> kKinds[] = {{"mean", 0}, {"median", 50}, {"p90", 90}, {"p99", 99}, {"max", 100}};
  constexpr std::pair<std::string_view, std::int64_t CompletedJob::*> kValues[] = {
      {"jct", &CompletedJob::jct_us}, {"queue", &CompletedJob::queue_us}, {"first_start", &CompletedJob::first_us}};
  bool known = false;
  for (const auto& [kind, percent] : kKinds) {
    if (full.substr(0, underscore) != kind || underscore == full.npos) continue;
    metric.percent = percent;
    for (const auto& [value, member] : kValues) {
      if (full.substr(underscore + 1) != value) continue;
      metric.value = member;
      known = true;
    }
  }
  if (!known)
    throw InvalidArgument(fmt::format(
        "--metric: '{}' is not of days of jobs; use makespan, or mean, median, p90, p99 or max of jct or queue, such as mean_jct",
        echoed(name)));
  return metric;
}

DayValues day_values(const std::vector<results::CompletedJob>& jobs, const DayMetric& metric, TimeUs from_us, TimeUs until_us) {
  DayValues days(static_cast<std::size_t>((until_us - from_us + kDayUs - 1) / kDayUs));
  for (const results::CompletedJob& job : jobs) {
    if (job.submit_us < from_us || job.submit_us >= until_us) continue;
    days[static_cast<std::size_t>((job.submit_us - from_us) / kDayUs)].push_back(metric.of(job, from_us));
  }
  return days;
}

std::int64_t block_days(std::int64_t days) { return std::max<std::int64_t>(1, std::llround(std::cbrt(static_cast<double>(days)))); }

PairedGain paired_gain(const std::vector<PairedDays>& windows, const DayMetric& metric, std::uint64_t seed) {
  constexpr std::uint64_t kFirstItem = std::uint64_t{1} << 40;
  constexpr std::size_t kDraws = 2000;
  std::vector<const DayValues*> usual, tuned;
  PairedGain result;
  std::size_t days = 0;
  for (const PairedDays& window : windows) {
    usual.push_back(&window.usual), tuned.push_back(&window.tuned);
    days += window.usual.size();
    for (std::size_t day = 0; day < window.usual.size(); ++day) {
      if (!window.usual[day].empty() || !window.tuned[day].empty()) ++result.days;
    }
  }
  const WeightedMetric of_usual(usual, metric.percent), of_tuned(tuned, metric.percent);
  const std::vector<std::int64_t> once(days, 1);
  result.usual = of_usual.of(once).value_or(0), result.tuned = of_tuned.of(once).value_or(0);
  result.gain = result.usual - result.tuned;
  if (result.days < 2) return result;
  std::vector<double> gains;
  for (std::size_t draw = 0; draw < kDraws; ++draw) {
    sim::ItemDraws draws(seed, sim::RandomStream::kResample, kFirstItem + draw);
    std::vector<std::int64_t> weights(days, 0);
    std::size_t first = 0;
    for (const PairedDays& window : windows) {
      const std::size_t of_window = window.usual.size();
      const auto block = static_cast<std::size_t>(block_days(static_cast<std::int64_t>(of_window)));
      for (std::size_t drawn = 0; drawn < of_window;) {
        const auto begin = static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(of_window)));
        for (std::size_t d = 0; d < block && drawn < of_window; ++d, ++drawn) ++weights[first + (begin + d) % of_window];
      }
      first += of_window;
    }
    const auto a = of_usual.of(weights), b = of_tuned.of(weights);
    if (a && b) gains.push_back(*a - *b);
  }
  if (gains.empty()) return result;
  std::sort(gains.begin(), gains.end());
  const std::size_t tail = gains.size() / 40;  // 2.5 %
  result.low = gains[tail], result.high = gains[gains.size() - 1 - tail];
  result.interval = true;
  return result;
}

}  // namespace berth::cli
