#include "host/forecast/backtest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/wide.hpp"
#include "host/forecast/forecast_times.hpp"
#include "host/forecast/futures.hpp"
#include "host/forecast/past_waits.hpp"
#include "host/forecast/run_times.hpp"
#include "host/sim/base/random.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim {
namespace {

constexpr TimeUs kHour = 3'600 * kSecond;

constexpr double kStep = 0.1;  // of a correction, for each instant
constexpr std::size_t kKept = 40;

/// One job at one instant.
struct Asked {
  TimeUs at = 0, truth = 0, low = 0, high = 0, raw_low = 0, raw_high = 0, median = 0, past_low = 0, past_high = 0;
  ForecastLevels levels;  // at the truth
  int horizon = 0;
  std::int32_t job = 0, gpus = 0;
  bool first = false;
  std::array<TimeUs, kKept> futures{};  // starts in some of the futures, ascending
};

double seconds(TimeUs t) { return static_cast<double>(t) / static_cast<double>(kSecond); }

double score(TimeUs low, TimeUs high, TimeUs truth, double alpha) {
  double out = seconds(high - low);
  if (truth < low) out += 2 / alpha * seconds(low - truth);
  if (truth > high) out += 2 / alpha * seconds(truth - high);
  return out;
}

bool has(TimeUs low, TimeUs high, TimeUs truth) { return low <= truth && truth <= high; }

std::string size_name(std::int32_t gpus) {
  if (gpus <= 1) return "1 GPU";
  if (gpus <= 4) return "2-4 GPUs";
  if (gpus <= 8) return "5-8 GPUs";
  return "9 GPUs and more";
}

class BacktestRun {
 public:
  BacktestRun(Trace trace, const Snapshot& cluster, const BacktestSettings& settings)
      : trace_(std::move(trace)), cluster_(cluster), settings_(settings) {
    cluster_.jobs.clear();
    cluster_.history.clear();
  }

  Backtest run() {
    if (settings_.limit_factor > 0) draw_limits(trace_, settings_.limit_factor, settings_.request.seed);
    find_truth();
    const TimeUs begin = trace_.jobs.empty() ? 0 : trace_.jobs.front().submit_us;
    const TimeUs last = trace_.jobs.empty() ? 0 : trace_.jobs.back().submit_us;
    from_ = begin + settings_.from_us;
    const TimeUs to = settings_.to_us == kNever ? last : std::min(last, begin + settings_.to_us);
    const TimeUs first = std::max(begin + settings_.every_us, from_ - settings_.learn_us);
    const auto all = static_cast<std::int32_t>(std::max<TimeUs>(0, (to - first) / settings_.every_us));
    std::int32_t done = 0;
    for (TimeUs at = first; at < to; at += settings_.every_us) {
      if (settings_.learn_us == 0 && at < from_) continue;
      ask(at);
      if (settings_.progress) settings_.progress(++done, std::max(all, done));
    }
    report();
    return std::move(out_);
  }

 private:
  void find_truth() {
    SimulationSettings settings;
    settings.request = settings_.request;
    settings.request.threads = 1;
    settings.estimates = "none";
    start_.assign(trace_.jobs.size(), kNever);
    end_.assign(trace_.jobs.size(), kNever);
    JobsOf jobs(trace_);
    const TraceFacts facts = facts_of(trace_);
    simulate({trace_.profiles, facts, jobs}, cluster_, settings, [&](const JobOutcome& job) {
      start_[to_index(job.job)] = job.start_us;
      if (job.end == JobOutcome::End::kCompleted) end_[to_index(job.job)] = job.end_us;
    });
    const TimeUs origin = core::parse_civil(std::string_view(trace_.origin_iso).substr(0, 19)).value_or(0);
    history_.clock_us = origin;
    for (std::size_t j = 0; j < trace_.jobs.size(); ++j) {
      const TraceJob& job = trace_.jobs[j];
      if (start_[j] == kNever) continue;
      PastJob past = forecasts::past_job(job, 0);
      past.start_us = start_[j];
      history_.jobs.push_back(std::move(past));
    }
  }

  void ask(TimeUs at) {
    Present present;
    present.cluster = &cluster_;
    present.now_us = at;
    std::vector<std::int32_t> rows;
    for (std::size_t j = 0; j < trace_.jobs.size() && trace_.jobs[j].submit_us <= at; ++j) {
      if (start_[j] == kNever || end_[j] <= at) continue;
      PresentJob one;
      one.job = trace_.jobs[j];
      one.job.run_us = 1;
      if (start_[j] <= at) {
        one.held_us = at - start_[j];
      } else {
        one.asked = static_cast<std::int32_t>(rows.size());
        rows.push_back(static_cast<std::int32_t>(j));
      }
      present.jobs.push_back(std::move(one));
    }
    if (at >= from_) ++out_.instants;
    if (rows.empty()) return;
    present.asked = static_cast<std::int32_t>(rows.size());
    const Learned learned(history_, at);
    if (learned.times.jobs() < kLeastPastJobs) {
      if (at >= from_) ++out_.without_history;
      return;
    }
    FutureSettings settings;
    settings.request = settings_.request;
    settings.request.seed = settings_.request.seed + static_cast<std::uint64_t>(at / kSecond);
    settings.futures = settings_.futures;
    settings.ends = false;
    bool by_counts = false;
    const FutureTimes times = simulate_futures(present, learned, settings, by_counts);
    if (!by_counts)
      throw InvalidArgument("--backtest: it needs a policy and a cluster that are simulated by counts (docs/simulation-reference.md)");
    const LevelsByHorizon levels = corrected(learned_levels(at), at);
    out_.last_levels = levels;
    for (std::size_t row = 0; row < rows.size(); ++row) record(at, rows[row], times, static_cast<std::int32_t>(row), levels);
  }

  void record(TimeUs at, std::int32_t job, const FutureTimes& times, std::int32_t row, const LevelsByHorizon& by_horizon) {
    std::vector<TimeUs> starts(times.starts(row), times.starts(row) + times.futures);
    for (TimeUs& start : starts) start = std::min(start, at + 60 * kDay);
    std::sort(starts.begin(), starts.end());
    Asked one;
    one.at = at;
    one.job = job;
    one.gpus = trace_.jobs[to_index(job)].gpus;
    one.truth = start_[to_index(job)];
    one.first = seen_.insert(job).second;
    one.median = low_quantile(starts, 500'000);
    one.horizon = forecast_horizon(one.median - at);
    const ForecastLevels& levels = by_horizon.at(static_cast<std::size_t>(one.horizon));
    one.low = std::max(at, low_quantile(starts, levels.low_ppm));
    one.high = high_quantile(starts, levels.high_ppm);
    one.raw_low = low_quantile(starts, settings_.levels.low_ppm);
    one.raw_high = high_quantile(starts, settings_.levels.high_ppm);
    one.levels = levels_at(starts, one.truth);
    for (std::size_t i = 0; i < kKept; ++i) one.futures[i] = starts[(2 * i + 1) * starts.size() / (2 * kKept)];
    past_waits(at, job, one);
    open_.push_back(asked_.size());
    asked_.push_back(one);
  }

  // The levels between which nine of ten truths would have been. The truth of a job that still waits is later than now: it is
  // some future of those that start later.
  LevelsByHorizon learned_levels(TimeUs now) const {
    LevelsByHorizon out;
    out.fill(settings_.levels);
    if (settings_.learn_us == 0) return out;
    std::array<std::vector<std::int32_t>, kForecastHorizons + 1> low, high;  // the last: of all
    std::uint64_t count = 0;
    for (const Asked& one : asked_) {
      if (one.at < now - settings_.learn_us) continue;
      ForecastLevels at = one.levels;
      if (one.truth > now) {
        const auto later = one.futures.end() - std::upper_bound(one.futures.begin(), one.futures.end(), now);
        ItemDraws draws(settings_.request.seed, RandomStream::kReport, ++count);
        at.low_ppm = at.high_ppm =
            1'000'000 - static_cast<std::int32_t>(draws.below(1 + later * (1'000'000 / static_cast<std::int64_t>(kKept))));
      }
      for (const int h : {one.horizon, kForecastHorizons}) {
        low.at(static_cast<std::size_t>(h)).push_back(at.low_ppm);
        high.at(static_cast<std::size_t>(h)).push_back(at.high_ppm);
      }
    }
    const auto quantile = [&](std::vector<std::int32_t>& values, std::int64_t ppm) {
      const auto rank = static_cast<std::ptrdiff_t>(static_cast<std::int64_t>(values.size() - 1) * ppm / 1'000'000);
      std::nth_element(values.begin(), values.begin() + rank, values.end());
      return values[static_cast<std::size_t>(rank)];
    };
    // Few jobs change the usual levels little.
    constexpr ForecastLevels kUsual;
    constexpr std::int64_t kWeight = 300;  // jobs asked about that the usual levels stand for
    constexpr std::size_t kEnoughAsked = 200;
    for (int h = 0; h < kForecastHorizons; ++h) {
      const auto from = static_cast<std::size_t>(low.at(static_cast<std::size_t>(h)).size() >= kEnoughAsked ? h : kForecastHorizons);
      const auto n = static_cast<std::int64_t>(low.at(from).size());
      const std::int64_t low_ppm = n == 0 ? 0 : std::min(quantile(low.at(from), settings_.levels.low_ppm), 499'999);
      const std::int64_t high_ppm = n == 0 ? 0 : std::max(quantile(high.at(from), settings_.levels.high_ppm), 500'000);
      ForecastLevels& levels = out.at(static_cast<std::size_t>(h));
      levels.low_ppm = static_cast<std::int32_t>((n * low_ppm + kWeight * kUsual.low_ppm) / (n + kWeight));
      levels.high_ppm = static_cast<std::int32_t>((n * high_ppm + kWeight * kUsual.high_ppm) / (n + kWeight));
    }
    return out;
  }

  // What has become known since the last instant corrects the levels: up after starts above their intervals, down where there were few
  // (Gibbs and Candes 2021). That a start is above is known at the end of its interval, and all else at the start. So what is known is
  // no selection of short waits.
  LevelsByHorizon corrected(LevelsByHorizon levels, TimeUs now) {
    if (settings_.learn_us == 0) return levels;
    std::array<std::array<double, 3>, kForecastHorizons> seen{};  // all, below, above
    std::size_t kept = 0;
    for (const std::size_t row : open_) {
      const Asked& one = asked_[row];
      if (std::min(one.truth, one.high) > now) {
        open_[kept++] = row;
        continue;
      }
      auto& counts = seen.at(static_cast<std::size_t>(one.horizon));
      counts[0] += 1;
      counts[1] += one.truth < one.low ? 1 : 0;
      counts[2] += one.truth > one.high ? 1 : 0;
    }
    open_.resize(kept);
    for (std::size_t h = 0; h < kForecastHorizons; ++h) {
      if (seen.at(h)[0] == 0) continue;
      const double weight = kStep * std::min(1.0, seen.at(h)[0] / 20);
      low_by_.at(h) -= weight * (seen.at(h)[1] / seen.at(h)[0] - settings_.levels.low_ppm / 1e6);
      high_by_.at(h) += weight * (seen.at(h)[2] / seen.at(h)[0] - (1 - settings_.levels.high_ppm / 1e6));
    }
    for (std::size_t h = 0; h < kForecastHorizons; ++h) {
      levels.at(h).low_ppm = std::min(499'999, levels.at(h).low_ppm + static_cast<std::int32_t>(std::lround(1e6 * low_by_.at(h))));
      levels.at(h).high_ppm = std::max(500'000, levels.at(h).high_ppm + static_cast<std::int32_t>(std::lround(1e6 * high_by_.at(h))));
    }
    return levels;
  }

  // Quantiles of past waits in the queue and of the size, of jobs that had waited for as long.
  void past_waits(TimeUs at, std::int32_t job, Asked& out) {
    const TraceJob& asked = trace_.jobs[to_index(job)];
    const TimeUs waited = at - asked.submit_us;
    refresh_waits(at);
    const std::string queue = asked.queue.empty() ? asked.virtual_cluster : asked.queue;
    for (const auto& key :
         {std::pair{queue, size_name(asked.gpus)}, std::pair{queue, std::string()}, std::pair{std::string(), std::string()}}) {
      const auto found = waits_.find(key);
      if (found == waits_.end()) continue;
      const std::vector<TimeUs>& waits = found->second;  // sorted
      const auto from = std::upper_bound(waits.begin(), waits.end(), waited);
      constexpr std::ptrdiff_t kFew = 20;
      if (waits.end() - from < kFew && !(key.first.empty() && key.second.empty())) continue;
      if (from == waits.end()) break;
      const std::span<const TimeUs> rest(&*from, static_cast<std::size_t>(waits.end() - from));
      out.past_low = asked.submit_us + low_quantile(rest, settings_.levels.low_ppm);
      out.past_high = asked.submit_us + high_quantile(rest, settings_.levels.high_ppm);
      return;
    }
    out.past_low = at;
    out.past_high = at + waited;  // longer than any wait of the past
  }

  void refresh_waits(TimeUs at) {
    if (waits_at_ == at) return;
    waits_at_ = at;
    waits_.clear();
    for (const PastJob& past : history_.jobs) {
      if (past.start_us > at || past.start_us < at - 28 * kDay) continue;
      const std::string queue = past.queue.empty() ? past.virtual_cluster : past.queue;
      const TimeUs wait = past.start_us - past.submit_us;
      waits_[{queue, size_name(past.gpus)}].push_back(wait);
      if (!queue.empty()) waits_[{queue, ""}].push_back(wait);
      waits_[{"", ""}].push_back(wait);
    }
    for (auto& [key, waits] : waits_) std::sort(waits.begin(), waits.end());
  }

  void report() {
    std::map<std::string, std::vector<const Asked*>> by_queue, by_size, by_week;
    std::vector<const Asked*> all, first;
    for (const Asked& one : asked_) {
      if (one.at < from_) continue;
      all.push_back(&one);
      if (one.first) first.push_back(&one);
      const TraceJob& job = trace_.jobs[to_index(one.job)];
      by_queue["queue " + (job.queue.empty() ? job.virtual_cluster : job.queue)].push_back(&one);
      by_size[size_name(one.gpus)].push_back(&one);
      by_week[fmt::format("week {}", (one.at - from_) / (7 * kDay) + 1)].push_back(&one);
    }
    add("all", all);
    add("each job once", first);
    if (by_queue.size() > 1) {
      for (const auto& [name, rows] : by_queue) add(name, rows);
    }
    for (const auto& [name, rows] : by_size) add(name, rows);
    for (const auto& [name, rows] : by_week) add(name, rows);
  }

  void add(const std::string& name, const std::vector<const Asked*>& rows) {
    if (rows.empty()) return;
    Coverage out;
    out.name = name;
    std::set<std::int32_t> jobs;
    std::map<TimeUs, std::pair<double, double>> days;  // covered, asked
    const double alpha = 1 - static_cast<double>(settings_.levels.high_ppm - settings_.levels.low_ppm) / 1e6;
    for (const Asked* one : rows) {
      ++out.asked;
      jobs.insert(one->job);
      const bool covered = has(one->low, one->high, one->truth);
      out.covered += covered ? 1 : 0;
      out.above += one->truth > one->high ? 1 : 0;
      out.raw_covered += has(one->raw_low, one->raw_high, one->truth) ? 1 : 0;
      out.past_covered += has(one->past_low, one->past_high, one->truth) ? 1 : 0;
      out.score_s += score(one->low, one->high, one->truth, alpha);
      out.raw_score_s += score(one->raw_low, one->raw_high, one->truth, alpha);
      out.past_score_s += score(one->past_low, one->past_high, one->truth, alpha);
      out.width_s += seconds(one->high - one->low);
      out.past_width_s += seconds(one->past_high - one->past_low);
      out.median_error_s += std::abs(seconds(one->median - one->truth));
      auto& day = days[one->at / kDay];
      day.first += covered ? 1 : 0;
      day.second += 1;
    }
    out.jobs = static_cast<std::int64_t>(jobs.size());
    const auto n = static_cast<double>(out.asked);
    for (double* sum : {&out.score_s, &out.raw_score_s, &out.past_score_s, &out.width_s, &out.past_width_s, &out.median_error_s}) *sum /= n;
    bootstrap(days, out);
    out_.rows.push_back(std::move(out));
  }

  // Of 1,000 draws of as many days.
  void bootstrap(const std::map<TimeUs, std::pair<double, double>>& days, Coverage& out) const {
    std::vector<std::pair<double, double>> rows;
    rows.reserve(days.size());
    for (const auto& [day, row] : days) rows.push_back(row);
    std::vector<double> drawn;
    drawn.reserve(1000);
    for (std::uint64_t draw = 0; draw < 1000; ++draw) {
      ItemDraws draws(settings_.request.seed, RandomStream::kReport, draw);
      double covered = 0, asked = 0;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto& row = rows[static_cast<std::size_t>(draws.below(static_cast<std::int64_t>(rows.size())))];
        covered += row.first;
        asked += row.second;
      }
      drawn.push_back(covered / asked);
    }
    std::sort(drawn.begin(), drawn.end());
    out.coverage_low = drawn[25];
    out.coverage_high = drawn[974];
  }

  Trace trace_;
  Snapshot cluster_;
  const BacktestSettings& settings_;
  JobHistory history_;
  std::vector<TimeUs> start_, end_;
  TimeUs from_ = 0, waits_at_ = -1;
  std::map<std::pair<std::string, std::string>, std::vector<TimeUs>> waits_;
  std::vector<Asked> asked_;
  std::vector<std::size_t> open_;                               // of `asked_`: it is not known yet whether they are covered
  std::array<double, kForecastHorizons> low_by_{}, high_by_{};  // corrections of levels
  std::set<std::int32_t> seen_;
  Backtest out_;
};

}  // namespace

void draw_limits(Trace& trace, std::int32_t factor, std::uint64_t seed) {
  constexpr TimeUs kUsual[] = {kHour / 4, kHour / 2, kHour,    2 * kHour, 4 * kHour, 8 * kHour, 12 * kHour, kDay,     2 * kDay,
                               3 * kDay,  5 * kDay,  7 * kDay, 10 * kDay, 14 * kDay, 21 * kDay, 30 * kDay,  60 * kDay};
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    TraceJob& job = trace.jobs[j];
    if (job.time_limit_us != kNever) continue;
    ItemDraws draws(seed, RandomStream::kEstimate, j);
    const TimeUs asks = core::mul_div(job.run_us, 1000 + draws.below(1000LL * (factor - 1) + 1), 1000);
    const TimeUs* const usual = std::lower_bound(std::begin(kUsual), std::end(kUsual), std::max(asks, job.run_us));
    job.time_limit_us = usual == std::end(kUsual) ? job.run_us : *usual;
  }
}

Backtest backtest(Trace trace, const Snapshot& cluster, const BacktestSettings& settings) {
  return BacktestRun(std::move(trace), cluster, settings).run();
}

}  // namespace berth::sim
