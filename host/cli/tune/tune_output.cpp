#include "host/cli/tune/tune_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/cli/sweep/metric_text.hpp"
#include "host/cli/tune/tune_json.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

double days(TimeUs us) { return static_cast<double>(us) / (86'400.0 * kSecond); }

std::string window_text(const TuneWindow& window) { return fmt::format("{:.1f} to {:.1f}", days(window.from_us), days(window.until_us)); }

std::string seconds_text(double us) {
  constexpr double kLarge = 1e8;
  return std::abs(us) >= kLarge ? fmt::format("{:.0f}", us / 1e6) : number_text(us / 1e6, 0);
}

std::string gain_text(const PairedGain& gain) {
  const double scale = gain.interval ? (gain.high - gain.low) / 2e6 : 0;
  return fmt::format("{}{}", gain.gain > 0 ? "+" : "", number_text(gain.gain / 1e6, scale));
}

std::string interval_of_gain(const PairedGain& gain) {
  if (!gain.interval) return "-";
  const double scale = (gain.high - gain.low) / 2e6;
  return fmt::format("{} to {}", number_text(gain.low / 1e6, scale), number_text(gain.high / 1e6, scale));
}

std::string part_text(const PairedGain& gain) { return gain.usual > 0 ? fmt::format("{:+.1f} %", 100 * gain.gain / gain.usual) : "-"; }

report::Row row_of(const std::string& name, const std::string& window, std::int64_t jobs, const PairedGain& gain) {
  return {name,
          window,
          fmt::format("{}", jobs),
          seconds_text(gain.usual),
          seconds_text(gain.tuned),
          gain_text(gain),
          part_text(gain),
          interval_of_gain(gain)};
}

std::string rungs_text(const TuneTask& task, const TuneResult& result) {
  std::vector<report::Row> rows;
  const auto seeds = static_cast<double>(task.seeds.size());
  for (const TuneRung& rung : result.rungs) {
    rows.push_back({fmt::format("{:.1f}", days(rung.window.until_us - rung.window.from_us)), fmt::format("{}", rung.window.jobs),
                    fmt::format("{}", rung.tried), fmt::format("{}", rung.lost), seconds_text(static_cast<double>(rung.usual) / seeds),
                    rung.best ? seconds_text(static_cast<double>(*rung.best) / seeds) : "-", fmt::format("{}", rung.kept)});
  }
  const std::string head = metric_head(task.metric.metric);
  return report::table({"DAYS", "JOBS", "CONFIGURATIONS", "LOST", "DEFAULT " + head, "BEST " + head, "KEPT"}, rows);
}

std::string lost_text(const TuneTask& task, const TuneResult& result) {
  if (!result.example_lost) return "";
  std::int64_t configurations = 0;
  for (const TuneRung& rung : result.rungs) configurations += rung.lost;
  std::string text = fmt::format("{} lost, such as {}", core::counted(configurations, "configuration"), task.text_of(*result.example_lost));
  if (result.lost.empty()) return text + ": fewer jobs complete than by default\n";
  return text + fmt::format(": {}\n", result.lost.begin()->first);
}

/// What the gain costs, where it costs much.
std::string effort_text(const TuneTask& task, const TuneResult& result) {
  constexpr std::int64_t kMuch = 2;  // times the default
  const TuneEffort &usual = result.usual_effort, &tuned = result.tuned_effort;
  std::string text;
  if (tuned.decisions > kMuch * usual.decisions)
    text += fmt::format("  It decides {:.0f} times as often: {} decisions, {} by default.\n",
                        static_cast<double>(tuned.decisions) / static_cast<double>(std::max<std::int64_t>(1, usual.decisions)),
                        tuned.decisions, usual.decisions);
  if (tuned.preemptions > usual.preemptions)
    text += fmt::format("  It preempts jobs {} times, {} by default{}.\n", tuned.preemptions, usual.preemptions,
                        task.texts.at("overheads") == "none" ? ", at no cost here: --overheads default charges for it" : "");
  return text;
}

TuneGainRow gain_row(const PairedGain& gain) {
  TuneGainRow row;
  row.default_s = gain.usual / 1e6, row.tuned_s = gain.tuned / 1e6, row.gain_s = gain.gain / 1e6;
  row.days = gain.days;
  if (gain.interval) row.low_s = gain.low / 1e6, row.high_s = gain.high / 1e6;
  return row;
}

TuneWindowRow window_row(const TuneComparison& one) {
  TuneWindowRow row;
  row.from_us = one.window.from_us, row.until_us = one.window.until_us, row.jobs = one.window.jobs;
  row.gain = gain_row(one.gain);
  return row;
}

}  // namespace

std::string tune_text(const TuneTask& task, const TuneResult& result) {
  std::string text = fmt::format("Tuned {} for {} on days {} of the trace\n\n", task.policy.name,
                                 results::kSweepMetricTable[task.metric.metric].name, window_text(result.rungs.back().window));
  std::vector<report::Row> space;
  for (const ParamDomain& domain : task.space) space.push_back({domain.name, domain_text(domain)});
  text += report::table({"PARAMETER", "VALUES"}, space) + "\n" + rungs_text(task, result);
  if (const std::string lost = lost_text(task, result); !lost.empty()) text += "\n" + lost;
  if (!result.best) return text + "\nKeep the default: no configuration is better on the days on which it is tuned.\n";
  const std::string use = task.text_of(*result.best);
  text += fmt::format("\nThe best there: --policy {}\n\n", use);
  std::vector<report::Row> rows{row_of("tuned on", window_text(result.tuned.window), result.tuned.window.jobs, result.tuned.gain)};
  std::int64_t jobs = 0;
  for (const TuneComparison& one : result.later) {
    rows.push_back(row_of("later", window_text(one.window), one.window.jobs, one.gain));
    jobs += one.window.jobs;
  }
  if (result.later.size() > 1 && result.lost_later.empty()) rows.push_back(row_of("all later", "", jobs, result.all_later));
  text += report::table({"WINDOW", "DAYS", "JOBS", "DEFAULT S", "TUNED S", "GAIN S", "GAIN", "95 % INTERVAL S"}, rows, {}, 2) + "\n";
  if (!result.lost_later.empty()) return text + fmt::format("Keep the default: {}.\n", result.lost_later);
  const PairedGain& gain = result.all_later;
  if (!gain.interval) return text + "Keep the default: jobs of one day give no interval.\n";
  if (gain.high < 0) return text + "Keep the default: the other is worse on later days.\n";
  if (!result.better) return text + "Keep the default: the interval of the gain on later days contains 0.\n";
  return text +
         fmt::format("Use: --policy {}\n  The expected gain is {} s of {} s ({}), with a 95 % interval of {} s.\n", use,
                     number_text(gain.gain / 1e6, (gain.high - gain.low) / 2e6), seconds_text(gain.usual), part_text(gain),
                     interval_of_gain(gain)) +
         effort_text(task, result);
}

std::string tune_json(const TuneTask& task, const TuneResult& result) {
  TuneDocument document;
  document.policy = task.policy.name;
  document.metric = results::kSweepMetricTable[task.metric.metric].name;
  for (const ParamDomain& domain : task.space) document.space.emplace_back(domain.name, domain_text(domain));
  document.seeds = static_cast<std::int64_t>(task.seeds.size());
  document.configurations = task.timers ? result.rungs.back().tried : static_cast<std::int64_t>(result.tried.size());
  const double scale = 1e6 * static_cast<double>(task.seeds.size());
  for (const TuneRung& rung : result.rungs) {
    TuneRungRow& row = document.rungs.emplace_back();
    row.from_us = rung.window.from_us, row.until_us = rung.window.until_us, row.jobs = rung.window.jobs;
    row.tried = rung.tried, row.lost = rung.lost, row.kept = rung.kept;
    row.default_s = static_cast<double>(rung.usual) / scale;
    if (rung.best) row.best_s = static_cast<double>(*rung.best) / scale;
  }
  document.lost_runs.assign(result.lost.begin(), result.lost.end());
  if (result.best) {
    document.best = *result.best;
    document.tuned_on = window_row(result.tuned);
    for (const TuneComparison& one : result.later) document.later.push_back(window_row(one));
    document.lost_later = result.lost_later;
    if (result.lost_later.empty()) document.all_later = gain_row(result.all_later);
  }
  document.use = result.better ? task.text_of(*result.best) : task.policy.name;
  document.keep_default = !result.better;
  return tune_document_json(document);
}

}  // namespace berth::cli
