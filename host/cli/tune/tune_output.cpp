#include "host/cli/tune/tune_output.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "host/cli/sweep/metric_text.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/json/json_writer.hpp"
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
  std::string text = fmt::format("{} lost, such as {}", core::counted(configurations, "configuration"),
                                 policy_text(task.policy.name, *result.example_lost));
  if (result.lost.empty()) return text + ": fewer jobs complete than by default\n";
  return text + fmt::format(": {}\n", result.lost.begin()->first);
}

void write_gain(io::JsonWriter& out, const PairedGain& gain) {
  const auto seconds = [&](const char* name, double us) { out.key(name), out.raw(fmt::format("{}", us / 1e6)); };
  seconds("default_s", gain.usual);
  seconds("tuned_s", gain.tuned);
  seconds("gain_s", gain.gain);
  out.number("days", gain.days);
  if (!gain.interval) return;
  seconds("low_s", gain.low);
  seconds("high_s", gain.high);
}

void write_window(io::JsonWriter& out, const TuneWindow& window) {
  out.number("from_s", window.from_us, 6);
  out.number("until_s", window.until_us, 6);
  out.number("jobs", window.jobs);
}

void write_comparison(io::JsonWriter& out, const TuneComparison& one) {
  out.object([&] {
    write_window(out, one.window);
    write_gain(out, one.gain);
  });
}

void write_values(io::JsonWriter& out, const char* key, const ParamValues& values) {
  out.key(key);
  out.object([&] {
    for (const auto& [name, value] : values) out.text(name, value);
  });
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
  const std::string use = policy_text(task.policy.name, *result.best);
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
  return text + fmt::format("Use: --policy {}\n  The expected gain is {} s of {} s ({}), with a 95 % interval of {} s.\n", use,
                            number_text(gain.gain / 1e6, (gain.high - gain.low) / 2e6), seconds_text(gain.usual), part_text(gain),
                            interval_of_gain(gain));
}

std::string tune_json(const TuneTask& task, const TuneResult& result) {
  io::JsonWriter out;
  out.object([&] {
    out.text("schema", "berth.tune.v1");
    out.text("policy", task.policy.name);
    out.text("metric", results::kSweepMetricTable[task.metric.metric].name);
    out.key("space");
    out.object([&] {
      for (const ParamDomain& domain : task.space) out.text(domain.name, domain_text(domain));
    });
    out.number("seeds", static_cast<std::int64_t>(task.seeds.size()));
    out.number("configurations", static_cast<std::int64_t>(result.tried.size()));
    out.lines("rungs", result.rungs, [&](const TuneRung& rung) {
      out.object([&] {
        const double scale = 1e6 * static_cast<double>(task.seeds.size());
        write_window(out, rung.window);
        out.number("tried", rung.tried);
        out.number("lost", rung.lost);
        out.number("kept", rung.kept);
        out.key("default_s"), out.raw(fmt::format("{}", static_cast<double>(rung.usual) / scale));
        if (rung.best) out.key("best_s"), out.raw(fmt::format("{}", static_cast<double>(*rung.best) / scale));
      });
    });
    if (!result.lost.empty()) {
      out.key("lost_runs");
      out.object([&] {
        for (const auto& [problem, runs] : result.lost) out.number(problem, runs);
      });
    }
    if (result.best) {
      write_values(out, "best", *result.best);
      out.key("tuned_on");
      write_comparison(out, result.tuned);
      out.lines("later", result.later, [&](const TuneComparison& one) { write_comparison(out, one); });
      if (result.lost_later.empty()) {
        out.key("all_later");
        out.object([&] { write_gain(out, result.all_later); });
      } else {
        out.text("lost_later", result.lost_later);
      }
    }
    out.text("use", result.better ? policy_text(task.policy.name, *result.best) : task.policy.name);
    out.key("keep_default"), out.raw(result.better ? "false" : "true");
  });
  return out.finish();
}

}  // namespace berth::cli
