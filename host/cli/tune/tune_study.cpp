#include "host/cli/tune/tune_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "berth/error.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/base/progress.hpp"
#include "host/cli/tune/halving.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/violations.hpp"

namespace berth::cli {
namespace {

constexpr std::int64_t kMostConfigurations = 1000;
constexpr std::int64_t kDecisionsTimes = 20;     // as many as under the default, before a run counts as one that does not end
constexpr std::int64_t kFewDecisions = 100'000;  // that are no sign of it
constexpr std::int64_t kDecisionsOfJob = 1'000;  // for the default itself

std::string days_text(TimeUs us) { return fmt::format("{:.1f}", static_cast<double>(us) / static_cast<double>(kDayUs)); }

std::string days_of(const TuneWindow& window) {
  return fmt::format("days {} to {} of the trace", days_text(window.from_us), days_text(window.until_us));
}

std::size_t metric_of(const char* name) { return results::sweep_metric(name).value(); }

/// The study while it goes on.
class TuneStudy {
 public:
  TuneStudy(const TuneTask& task, SearchRuns& runs) : task_(task), runs_(runs) {}

  std::optional<TuneResult> run() {
    find_windows();
    if (!run_default() || !(task_.timers ? run_timers() : run_rungs())) return std::nullopt;
    if (result_.best && !compare()) return std::nullopt;
    return std::move(result_);
  }

 private:
  using Figures = std::vector<SeedFigures>;

  TuneWindow window_of(TimeUs from, TimeUs until) const {
    TuneWindow window;
    window.from_us = from, window.until_us = until;
    const auto count_before = [&](TimeUs at) { return std::lower_bound(submits_.begin(), submits_.end(), at) - submits_.begin(); };
    window.jobs = count_before(until) - count_before(from);
    return window;
  }

  void find_windows() {
    const std::shared_ptr<const SweepWorld> world = runs_.world(task_.texts, task_.seeds.front());
    const std::unique_ptr<sim::JobSource> jobs = world->jobs->all();
    while (const TraceJob* job = jobs->next()) {
      submits_.push_back(job->submit_us - world->first_submit_us);
      jobs->release(*job);
    }
    if (submits_.size() < 2)
      throw InvalidArgument(fmt::format("--trace: it has {}: there is nothing to tune for",
                                        submits_.empty() ? "no jobs" : "1 job, which no parameters can order"));
    const TimeUs end = submits_.back() + 1, wanted = task_.window_us;
    const std::int64_t windows = task_.later + 1;
    if (wanted > end / windows)
      throw InvalidArgument(
          fmt::format("--window: the trace has {} days, which are less than {} windows of {} days: with --validate {} a "
                      "window has at most {} days",
                      days_text(end), windows, days_text(wanted), task_.later, days_text(end / windows)));
    for (std::int64_t w = windows; w-- > 0;) windows_.push_back(window_of(end - (w + 1) * wanted, end - w * wanted));
    for (std::size_t w = 0; w < windows_.size(); ++w) {
      if (windows_[w].jobs >= 2) continue;
      throw InvalidArgument(fmt::format("--window: {}, {}, has {}: {}", w == 0 ? "the one to tune on" : "a later one", days_of(windows_[w]),
                                        windows_[w].jobs == 0 ? "no jobs" : "1 job", "choose another length, or other files"));
    }
    for (const std::int64_t days : rung_days(std::max<std::int64_t>(1, wanted / kDayUs))) {
      TuneRung rung;
      rung.window = windows_.front();
      const TimeUs length = std::min(wanted, days * kDayUs);
      const bool last = days == std::max<std::int64_t>(1, wanted / kDayUs);
      if (!last) rung.window = window_of(windows_.front().until_us - length, windows_.front().until_us);
      if (last || (rung.window.jobs >= 2 && !task_.timers)) result_.rungs.push_back(rung);
    }
  }

  SearchCell cell(const TuneWindow& window, const ParamValues& values, bool rows, std::int64_t most_decisions) const {
    SearchCell one;
    one.texts = task_.texts;
    one.texts["window"] = window.text();
    if (rows) one.texts["keep"] = "jobs";
    if (task_.timers && !values.empty()) {
      // The policy's text has all of its parameters.
      std::erase_if(one.texts, [](const auto& text) { return text.first.starts_with(kParamKey); });
      one.texts["policy"] = task_.timers->policy;
      one.texts["placement"].clear();
    }
    for (const auto& [name, value] : values) one.texts[std::string(kParamKey) + name] = value;
    one.most_decisions = most_decisions;
    one.most_us = task_.run_limit_us;
    return one;
  }

  /// False after a signal.
  bool make(const std::vector<SearchCell>& cells, const std::string& what, Figures& figures) {
    std::optional<SearchBatch> batch = runs_.make(cells, task_.seeds, [&](std::int64_t done, std::int64_t all) {
      line_.show(static_cast<int>(100 * done / std::max<std::int64_t>(1, all)), fmt::format("{}: {} of {} runs", what, done, all));
    });
    line_.clear();
    if (!batch) return false;
    problems_ = std::move(batch->problems);
    for (SeedFigures& one : batch->figures) figures.push_back(std::move(one));
    return true;
  }

  // The sum over seeds. Nothing where a run has no result, or leaves more jobs without one than the default does.
  std::optional<std::int64_t> value_of(const SeedFigures& figures, const SeedFigures* usual) const {
    if (figures.size() != task_.seeds.size()) return std::nullopt;
    std::int64_t sum = 0;
    for (const auto& [seed, one] : figures) {
      sum += one[task_.metric.metric];
      if (usual != nullptr && one[metric_of("completed")] < usual->at(seed)[metric_of("completed")]) return std::nullopt;
    }
    return sum;
  }

  /// How many configurations the budget is for. @throws InvalidArgument where it is for none
  std::int64_t affordable() const {
    if (task_.runs == 0 || task_.timers) return kMostConfigurations;
    const auto seeds = static_cast<std::int64_t>(task_.seeds.size());
    const std::int64_t other = static_cast<std::int64_t>(result_.rungs.size() + windows_.size() - 1) + task_.later;
    const std::int64_t count = configurations_for(task_.runs / seeds, other, result_.rungs.size());
    if (count == 0)
      throw InvalidArgument(fmt::format("--budget: {} {} too few: the default and the windows need {}, and each configuration {} more",
                                        core::counted(task_.runs, "run"), task_.runs == 1 ? "is" : "are", other * seeds,
                                        result_.rungs.size() * task_.seeds.size()));
    return std::min(count, kMostConfigurations);
  }

  bool run_default() {
    (void)affordable();
    std::vector<SearchCell> cells;
    const auto add = [&](const TuneWindow& window, bool rows) {
      cells.push_back(cell(window, {}, rows, kFewDecisions + kDecisionsOfJob * window.jobs));
    };
    for (std::size_t r = 0; r < result_.rungs.size(); ++r) add(result_.rungs[r].window, r + 1 == result_.rungs.size());
    for (std::size_t w = 1; w < windows_.size(); ++w) add(windows_[w], true);
    if (!make(cells, "the default", usual_)) return false;
    for (const auto& [problem, runs] : problems_)
      throw InvalidArgument(
          fmt::format("--policy {}: {} with its default parameters failed: {}", task_.policy.name, core::counted(runs, "run"), problem));
    for (const SeedFigures& figures : usual_) {
      const bool none =
          std::all_of(figures.begin(), figures.end(), [](const auto& one) { return one.second[metric_of("completed")] == 0; });
      if (none)
        throw InvalidArgument(fmt::format("--policy {}: no job of a window completes with its default parameters", task_.policy.name));
    }
    for (std::size_t r = 0; r < result_.rungs.size(); ++r) result_.rungs[r].usual = *value_of(usual_[r], nullptr);
    return true;
  }

  std::int64_t most_decisions(const SeedFigures& usual) const {
    std::int64_t most = 0;
    for (const auto& [seed, one] : usual) most = std::max(most, one[metric_of("decisions")]);
    return kFewDecisions + kDecisionsTimes * most;
  }

  void note_lost(const ParamValues& values, TuneRung& rung) {
    ++rung.lost;
    if (!result_.example_lost) result_.example_lost = values;
  }

  /// The configurations of the first rung, and their values there.
  bool run_first(std::vector<std::optional<std::int64_t>>& values) {
    const bool timed = task_.runs == 0;
    const std::vector<ParamValues> drawn = draw_configurations(task_.policy, task_.space, task_.seed, affordable());
    if (drawn.empty()) throw InvalidArgument("--space: it has no values besides the default's");
    // A third of the time is for each rung: one has a third of the configurations of the last, and three times its days.
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::microseconds(task_.budget_us / static_cast<TimeUs>(result_.rungs.size()));
    constexpr std::size_t kTogether = 16;
    const std::size_t step = timed ? kTogether : drawn.size();
    TuneRung& rung = result_.rungs.front();
    for (std::size_t begin = 0; begin < drawn.size(); begin += step) {
      if (timed && begin > 0 && std::chrono::steady_clock::now() >= until) break;
      result_.tried.insert(result_.tried.end(), drawn.begin() + static_cast<std::ptrdiff_t>(begin),
                           drawn.begin() + static_cast<std::ptrdiff_t>(std::min(begin + step, drawn.size())));
      std::vector<ParamValues> part(result_.tried.begin() + static_cast<std::ptrdiff_t>(begin), result_.tried.end());
      if (!run_on(rung, usual_.front(), part, values)) return false;
    }
    return true;
  }

  bool run_on(TuneRung& rung, const SeedFigures& usual, const std::vector<ParamValues>& configurations,
              std::vector<std::optional<std::int64_t>>& values) {
    std::vector<SearchCell> cells;
    const bool last = &rung == &result_.rungs.back();
    cells.reserve(configurations.size());
    for (const ParamValues& one : configurations) cells.push_back(cell(rung.window, one, last, most_decisions(usual)));
    Figures figures;
    const std::string what = fmt::format("{} of {} days", core::counted(static_cast<std::int64_t>(configurations.size()), "configuration"),
                                         days_text(rung.window.until_us - rung.window.from_us));
    if (!make(cells, what, figures)) return false;
    for (const auto& [problem, runs] : problems_) result_.lost[problem] += runs;
    for (std::size_t c = 0; c < configurations.size(); ++c) {
      values.push_back(value_of(figures[c], &usual));
      ++rung.tried;
      if (!values.back()) note_lost(configurations[c], rung);
    }
    return true;
  }

  bool run_rungs() {
    std::vector<ParamValues> configurations;
    for (std::size_t r = 0; r < result_.rungs.size(); ++r) {
      TuneRung& rung = result_.rungs[r];
      std::vector<std::optional<std::int64_t>> values;
      if (r == 0) {
        if (!run_first(values)) return false;
        configurations = result_.tried;
      } else if (!run_on(rung, usual_[r], configurations, values)) {
        return false;
      }
      const bool last = r + 1 == result_.rungs.size();
      const std::vector<std::size_t> best = best_of(values, last ? 1 : kept_of(static_cast<std::int64_t>(configurations.size())));
      rung.kept = static_cast<std::int64_t>(best.size());
      if (!best.empty()) rung.best = values[best.front()];
      std::vector<ParamValues> kept;
      kept.reserve(best.size());
      for (const std::size_t c : best) kept.push_back(configurations[c]);
      configurations = std::move(kept);
    }
    const TuneRung& rung = result_.rungs.back();
    if (!configurations.empty() && rung.best && *rung.best < rung.usual) result_.best = configurations.front();
    return true;
  }

  /// Replays of the whole window, and a run with the best timers.
  bool run_timers() {
    TuneRung& rung = result_.rungs.back();
    const SeedFigures& usual = usual_[result_.rungs.size() - 1];
    const std::shared_ptr<const SweepWorld> world = runs_.world(cell(rung.window, {}, true, 0).texts, task_.seeds.front());
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(task_.budget_us);
    const TimerResult found = find_timers(*task_.timers, *world, task_.metric, task_.seed, most_decisions(usual), [&](std::int64_t made) {
      const std::int64_t most = std::max<std::int64_t>(1, task_.timers->settings);
      line_.show(static_cast<int>(std::min<std::int64_t>(100, 100 * made / most)), fmt::format("timers: {} settings", made));
      return remembered_signal() == 0 && (task_.budget_us == 0 || std::chrono::steady_clock::now() < until);
    });
    line_.clear();
    if (remembered_signal() != 0) return false;
    rung.tried = found.settings;
    rung.lost = found.lost;
    result_.backend_note = found.note;
    if (!found.timers) return true;
    rung.kept = 1;
    const ParamValues best{{"timers", *found.timers}};
    Figures figures;
    if (!make({cell(rung.window, best, true, most_decisions(usual))}, "the best timers", figures)) return false;
    rung.best = value_of(figures.front(), &usual);
    if (rung.best && *rung.best < rung.usual) result_.best = best;
    return true;
  }

  DayValues days(const TuneWindow& window, const ParamValues& values) {
    std::vector<results::CompletedJob> all;
    for (const std::int64_t seed : task_.seeds) {
      const std::vector<results::CompletedJob> jobs = runs_.jobs(cell(window, values, true, 0).texts, seed);
      all.insert(all.end(), jobs.begin(), jobs.end());
    }
    // Jobs keep their instants of the trace.
    const TimeUs first = runs_.world(task_.texts, task_.seeds.front())->first_submit_us;
    return day_values(all, task_.metric, first + window.from_us, first + window.until_us);
  }

  PairedDays paired(const TuneWindow& window) {
    PairedDays both;
    both.usual = days(window, {});
    both.tuned = days(window, *result_.best);
    return both;
  }

  static void add_effort(const SeedFigures& figures, TuneEffort& effort) {
    for (const auto& [seed, one] : figures) {
      effort.decisions += one[metric_of("decisions")];
      effort.preemptions += one[metric_of("preemptions")];
    }
  }

  bool compare() {
    result_.tuned.window = windows_.front();
    result_.tuned.gain = paired_gain({paired(windows_.front())}, task_.metric, task_.seed);
    std::vector<SearchCell> cells;
    for (std::size_t w = 1; w < windows_.size(); ++w)
      cells.push_back(cell(windows_[w], *result_.best, true, most_decisions(usual_[result_.rungs.size() - 1 + w])));
    Figures figures;
    if (!make(cells, "later windows", figures)) return false;
    std::vector<PairedDays> all;
    for (std::size_t w = 1; w < windows_.size(); ++w) {
      if (!value_of(figures[w - 1], &usual_[result_.rungs.size() - 1 + w])) {
        result_.lost_later = problems_.empty() ? fmt::format("fewer jobs complete on {}", days_of(windows_[w])) : problems_.begin()->first;
        return true;
      }
      all.push_back(paired(windows_[w]));
      add_effort(usual_[result_.rungs.size() - 1 + w], result_.usual_effort);
      add_effort(figures[w - 1], result_.tuned_effort);
      TuneComparison& one = result_.later.emplace_back();
      one.window = windows_[w];
      one.gain = paired_gain({all.back()}, task_.metric, task_.seed);
    }
    result_.all_later = paired_gain(all, task_.metric, task_.seed);
    result_.better = result_.all_later.interval && result_.all_later.low > 0;
    return true;
  }

  const TuneTask& task_;
  SearchRuns& runs_;
  ProgressLine line_;
  TuneResult result_;
  std::vector<TimeUs> submits_;                   // since the first
  std::vector<TuneWindow> windows_;               // the first is to tune on
  Figures usual_;                                 // of the default: on the rungs, then on the later windows
  std::map<std::string, std::int64_t> problems_;  // of the last batch
};

}  // namespace

std::string TuneWindow::text() const { return fmt::format("{}s..{}s", core::format_seconds(from_us), core::format_seconds(until_us)); }

std::int64_t TuneResult::lost_runs() const {
  std::int64_t all = 0;
  for (const auto& [problem, runs] : lost) all += runs;
  return all;
}

std::optional<TuneResult> tune(const TuneTask& task, SearchRuns& runs) { return TuneStudy(task, runs).run(); }

}  // namespace berth::cli
