#include "host/report/html/report_files.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/decimal.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/report/html/svg_charts.hpp"

namespace berth::report {
namespace {

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string half_text(const std::optional<double>& half) {
  if (!half || !std::isfinite(*half) || *half > 9e15) return "";
  return core::decimal_text(std::llround(*half), 6);
}

const char* file_unit(MetricUnit unit) { return unit == MetricUnit::kSeconds ? "s" : unit == MetricUnit::kPart ? "part" : "count"; }

std::string names_of(const ReportFacts& facts, std::size_t c) {
  const Configuration& one = facts.input.configurations[c];
  return csv_cell(facts.input.scenarios[one.scenario].label) + "," + csv_cell(one.label);
}

std::string comparison_csv(const ReportFacts& facts) {
  std::string text = "scenario,policy,metric,unit,runs,mean,half_width,baseline,pairs,difference,difference_half_width\n";
  for (std::size_t c = 0; c < facts.input.configurations.size(); ++c) {
    const ComparedScenario& scenario = facts.input.scenarios[facts.input.configurations[c].scenario];
    for (std::size_t m = 0; m < kMetrics.size(); ++m) {
      const Metric& metric = kMetrics[m];
      const Compared& one = facts.comparison[c][m];
      text += fmt::format("{},{},{},{},{},{},{}", names_of(facts, c), metric.key, file_unit(metric.unit), one.value.runs,
                          core::decimal_text(one.value.mean, 6), half_text(one.value.half),
                          csv_cell(facts.input.configurations[scenario.baseline].label));
      text += one.difference ? fmt::format(",{},{},{}\n", one.difference->runs, core::decimal_text(one.difference->mean, 6),
                                           half_text(one.difference->half))
                             : ",,,\n";
    }
  }
  return text;
}

using Ranked = RankedValues ConfigurationFacts::*;

std::string ranked_csv(const ReportFacts& facts, Ranked values) {
  std::string text = "scenario,policy,jobs,part,seconds\n";
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const RankedValues& ranked = facts.configurations[c].*values;
    const auto ranks = static_cast<std::int64_t>(ranked.at.size());
    for (std::int64_t k = 1; k <= ranks; ++k) {
      const std::int64_t rank = (k * ranked.values + ranks - 1) / ranks;
      text += fmt::format("{},{},{:.6f},{}\n", names_of(facts, c), ranked.values,
                          static_cast<double>(rank) / static_cast<double>(ranked.values),
                          core::format_seconds(ranked.at[static_cast<std::size_t>(k - 1)]));
    }
  }
  return text;
}

std::string series_csv(const ReportFacts& facts) {
  std::string text = "scenario,policy,run,seed,from_s,until_s";
  for (const char* name : sim::kLevelNames) text += fmt::format(",{}", name);
  text += '\n';
  for (const RunSeries& series : facts.series) {
    const results::StoredRun& run = facts.input.runs[series.run].stored;
    for (const sim::Sample& sample : series.samples) {
      text += fmt::format("{},{},{},{},{}", names_of(facts, series.configuration), run.id, run.number("seed"),
                          core::format_seconds(sample.from_us), core::format_seconds(sample.until_us));
      for (const std::int64_t micro : sample.micro) text += "," + core::decimal_text(micro, 6);
      text += '\n';
    }
  }
  return text;
}

std::string gpu_time_csv(const ReportFacts& facts) {
  std::string text = "scenario,policy,part,gpu_seconds\n";
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    for (std::size_t p = 0; p < kGpuTimeParts.size(); ++p) {
      text +=
          fmt::format("{},{},{}\n", names_of(facts, c), kGpuTimeParts[p].key, core::decimal_text(facts.configurations[c].gpu_time[p], 6));
    }
  }
  return text;
}

std::int64_t gpus_of(const ReportFacts& facts, const Configuration& one) {
  return facts.input.runs[one.runs.front()].stored.number("gpus");
}

// One line for what differs in more than the size of the cluster, as the page has it.
std::string curve_label(const Configuration& one) {
  std::string label = one.label;
  for (const auto& [name, value] : one.varying) {
    if (name == "gpus" || name == "cluster" || name.rfind("param", 0) == 0) continue;
    label += fmt::format(", {} {}", name, value.empty() ? "none" : value);
  }
  return label;
}

std::string capacity_csv(const ReportFacts& facts) {
  std::string text = "policy,gpus,metric,unit,runs,mean,half_width\n";
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const Configuration& one = facts.input.configurations[c];
    for (std::size_t m = 0; m < kMetrics.size(); ++m) {
      const MeanEstimate& value = facts.comparison[c][m].value;
      text += fmt::format("{},{},{},{},{},{},{}\n", csv_cell(curve_label(one)), gpus_of(facts, one), kMetrics[m].key,
                          file_unit(kMetrics[m].unit), value.runs, core::decimal_text(value.mean, 6), half_text(value.half));
    }
  }
  return text;
}

std::string full_label(const ReportFacts& facts, std::size_t c) {
  const Configuration& one = facts.input.configurations[c];
  return facts.input.scenarios.size() > 1 ? one.label + ", " + facts.input.scenarios[one.scenario].label : one.label;
}

std::string deadlines_csv(const ReportFacts& facts) {
  std::string text =
      "scenario,policy,hard,hard_missed,soft,soft_missed,value,value_met,promised,promised_missed,warned,warned_met,refused,best_effort,"
      "best_effort_completed,met_later\n";
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const DeadlineSums& sums = facts.configurations[c].deadlines;
    text += fmt::format("{},{},{},{},{}", names_of(facts, c), sums.hard, sums.hard_missed, sums.soft, sums.soft_missed);
    const auto& said = sums.said;
    text +=
        said ? fmt::format(",{},{},{},{},{},{},{},{},{},{}\n", said->value, said->value_met, said->promised, said->promised_missed,
                           said->warned, said->warned_met, said->refused, said->best_effort, said->best_effort_completed, said->met_later)
             : std::string(",,,,,,,,,,\n");
  }
  return text;
}

std::string ranked_svg(const ReportFacts& facts, Ranked values, const SvgAxes& axes) {
  std::vector<SvgLine> lines;
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const RankedValues& ranked = facts.configurations[c].*values;
    if (ranked.at.empty()) continue;
    SvgLine& line = lines.emplace_back();
    line.label = full_label(facts, c);
    for (std::size_t k = 0; k < ranked.at.size(); ++k) {
      const double part = static_cast<double>(k + 1) / static_cast<double>(ranked.at.size());
      line.points.emplace_back(static_cast<double>(ranked.at[k]) / 1e6, part);
    }
  }
  if (lines.empty()) throw InvalidArgument("--part: the file has no rows of completed jobs, as runs with --stream or --workload");
  return line_chart_svg(axes, lines);
}

std::string series_svg(const ReportFacts& facts, ReportPart part) {
  const std::size_t level = part == ReportPart::kAllocation ? 0 : part == ReportPart::kQueue ? 3 : 5;
  const char* title = part == ReportPart::kAllocation ? "GPUs that jobs have"
                      : part == ReportPart::kQueue    ? "Waiting jobs"
                                                      : "Fragmented GPUs";
  std::vector<SvgLine> lines;
  std::size_t last = facts.configurations.size();
  for (const RunSeries& series : facts.series) {
    if (series.configuration == last || series.samples.empty()) continue;  // the first seed of each
    last = series.configuration;
    SvgLine& line = lines.emplace_back();
    line.label = fmt::format("{} (seed {})", full_label(facts, last), facts.input.runs[series.run].stored.number("seed"));
    for (const sim::Sample& sample : series.samples)
      line.points.emplace_back(static_cast<double>(sample.from_us) / 3.6e9, static_cast<double>(sample.micro[level]) / 1e6);
    line.points.emplace_back(static_cast<double>(series.samples.back().until_us) / 3.6e9, line.points.back().second);
  }
  if (lines.empty()) throw InvalidArgument("--part: the file has no series");
  return line_chart_svg({title, "hours", part == ReportPart::kQueue ? "jobs" : "GPUs", false, true, 0}, lines);
}

std::string capacity_svg(const ReportFacts& facts, std::size_t metric) {
  const Metric& one = kMetrics[metric];
  const double unit = shown_scale(one.unit);
  std::map<std::string, std::map<std::int64_t, std::size_t>> by_policy;
  for (std::size_t c = 0; c < facts.configurations.size(); ++c)
    by_policy[curve_label(facts.input.configurations[c])][gpus_of(facts, facts.input.configurations[c])] = c;
  std::vector<SvgLine> lines;
  for (const auto& [label, sizes] : by_policy) {
    SvgLine& line = lines.emplace_back();
    line.label = label;
    for (const auto& [gpus, c] : sizes) {
      const MeanEstimate& value = facts.comparison[c][metric].value;
      line.points.emplace_back(static_cast<double>(gpus), static_cast<double>(value.mean) / unit);
      line.halves.push_back(value.half.value_or(0) / unit);
    }
  }
  return line_chart_svg({fmt::format("{} by GPUs", one.label), "GPUs", file_unit(one.unit), false, false, 0}, lines);
}

void put_estimate(io::JsonWriter& out, const MeanEstimate& value) {
  out.number("mean", value.mean, 6);
  const std::string half = half_text(value.half);
  if (half.empty()) return;
  out.key("half_width");
  out.raw(half);
}

void put_deadlines(io::JsonWriter& out, const DeadlineSums& sums) {
  if (sums.hard + sums.soft == 0) return;
  out.key("deadlines");
  out.object([&] {
    out.number("hard", sums.hard);
    out.number("hard_missed", sums.hard_missed);
    out.number("soft", sums.soft);
    out.number("soft_missed", sums.soft_missed);
    if (!sums.said) return;
    out.number("value", sums.said->value);
    out.number("value_met", sums.said->value_met);
    out.number("promised", sums.said->promised);
    out.number("promised_missed", sums.said->promised_missed);
    out.number("warned", sums.said->warned);
    out.number("warned_met", sums.said->warned_met);
    out.number("refused", sums.said->refused);
    out.number("best_effort", sums.said->best_effort);
    out.number("best_effort_completed", sums.said->best_effort_completed);
    out.number("met_later", sums.said->met_later);
  });
}

void put_report_configuration(io::JsonWriter& out, const ReportFacts& facts, std::size_t c) {
  const Configuration& one = facts.input.configurations[c];
  out.object([&] {
    out.text("label", one.label);
    out.text("policy", one.policy);
    out.key("settings");
    out.object([&] {
      for (const auto& [name, value] : one.varying) out.text(name, value);
    });
    out.list("runs", one.runs, [&](std::size_t r) { out.integer(facts.input.runs[r].stored.id); });
    out.list("seeds", one.runs, [&](std::size_t r) { out.integer(facts.input.runs[r].stored.number("seed")); });
    out.key("metrics");
    out.object([&] {
      for (std::size_t m = 0; m < kMetrics.size(); ++m) {
        const Compared& compared = facts.comparison[c][m];
        out.key(kMetrics[m].key);
        out.object([&] {
          out.text("unit", file_unit(kMetrics[m].unit));
          put_estimate(out, compared.value);
          if (!compared.difference) return;
          out.key("difference");
          out.object([&] {
            out.number("pairs", compared.difference->runs);
            put_estimate(out, *compared.difference);
          });
        });
      }
    });
    const auto percentiles = [&](const char* name, const std::vector<std::int64_t>& values) {
      if (values.empty()) return;
      out.key(name);
      out.object([&] {
        for (std::size_t p = 0; p < values.size(); ++p) out.number(fmt::format("p{}", kPercentiles[p]), values[p], 6);
      });
    };
    percentiles("jct_s", facts.configurations[c].jct_percentiles_us);
    percentiles("wait_s", facts.configurations[c].wait_percentiles_us);
    percentiles("late_s", facts.configurations[c].late_percentiles_us);
    put_deadlines(out, facts.configurations[c].deadlines);
    out.key("gpu_seconds");
    out.object([&] {
      for (std::size_t p = 0; p < kGpuTimeParts.size(); ++p) out.number(kGpuTimeParts[p].key, facts.configurations[c].gpu_time[p], 6);
    });
  });
}

void put_report_run(io::JsonWriter& out, const ReportRun& run) {
  out.object([&] {
    out.number("id", run.stored.id);
    out.text("policy", run.stored.text("policy"));
    out.number("seed", run.stored.number("seed"));
    out.text("trace", run.stored.text("trace"));
    out.text("cluster", run.stored.text("cluster"));
    out.text("berth", run.stored.text("berth"));
    out.flag_unless("interrupted", run.stored.number("interrupted") != 0, false);
    const auto command = run.details.find("command");
    if (command != run.details.end()) out.text("command", command->second);
    out.list("inputs", run.inputs, [&](const results::InputFile& file) {
      out.object([&] {
        out.text("option", file.option);
        out.text("path", file.path);
        out.number("bytes", file.bytes);
        out.text("sha256", file.sha256);
      });
    });
  });
}

}  // namespace

std::string report_csv(const ReportFacts& facts, ReportPart part) {
  switch (part) {
    case ReportPart::kComparison:
      return comparison_csv(facts);
    case ReportPart::kJct:
      return ranked_csv(facts, &ConfigurationFacts::jct_us);
    case ReportPart::kWait:
      return ranked_csv(facts, &ConfigurationFacts::wait_us);
    case ReportPart::kLate:
      return ranked_csv(facts, &ConfigurationFacts::late_us);
    case ReportPart::kDeadlines:
      return deadlines_csv(facts);
    case ReportPart::kGpuHours:
      return gpu_time_csv(facts);
    case ReportPart::kCapacity:
      return capacity_csv(facts);
    default:
      return series_csv(facts);
  }
}

std::string report_svg(const ReportFacts& facts, ReportPart part, std::size_t metric) {
  if (facts.input.configurations.empty()) throw InvalidArgument("--format svg: the file has no run that ended");
  switch (part) {
    case ReportPart::kComparison:
      return metric_svg(facts, metric);
    case ReportPart::kJct:
      return ranked_svg(facts, &ConfigurationFacts::jct_us,
                        {"Job completion time", "seconds", "part of the completed jobs", true, true, 1});
    case ReportPart::kWait:
      return ranked_svg(facts, &ConfigurationFacts::wait_us, {"Waiting time", "seconds", "part of the completed jobs", true, true, 1});
    case ReportPart::kLate:
    case ReportPart::kDeadlines:
      return ranked_svg(facts, &ConfigurationFacts::late_us,
                        {"Lateness", "seconds after the deadline", "part of the completed jobs with deadlines", false, true, 1});
    case ReportPart::kGpuHours:
      return gpu_time_svg(facts, false);
    case ReportPart::kCapacity:
      return capacity_svg(facts, metric);
    default:
      return series_svg(facts, part);
  }
}

std::string report_json(const ReportFacts& facts) {
  io::JsonWriter out;
  out.object([&] {
    out.text("schema", "berth.report.v1");
    out.text("source", facts.input.path);
    out.strings("notes", facts.input.notes);
    out.lines(
        "scenarios", facts.input.scenarios,
        [&](const ComparedScenario& scenario) {
          out.object([&] {
            out.text("label", scenario.label);
            out.text("baseline", facts.input.configurations[scenario.baseline].label);
            out.lines("configurations", scenario.configurations, [&](std::size_t c) { put_report_configuration(out, facts, c); });
          });
        },
        true);
    out.lines("runs", facts.input.runs, [&](const ReportRun& run) { put_report_run(out, run); });
  });
  return out.finish();
}

}  // namespace berth::report
