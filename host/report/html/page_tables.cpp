#include "host/report/html/page_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "host/core/base/decimal.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/report/html/html_text.hpp"

namespace berth::report {
namespace {

std::string scrolling(const std::string& label, const std::string& table) {
  return fmt::format("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{}\">{}</div>\n", html_text(label), table);
}

std::string table_of(const std::string& id, const std::string& caption, const std::string& head, const std::string& rows) {
  return fmt::format("<table id=\"{}\"><caption>{}</caption><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table>", id, html_text(caption),
                     head, rows);
}

std::string column_head(const std::string& label, const char* unit = "") {
  return fmt::format("<th scope=\"col\">{}{}</th>", html_text(label), *unit == '\0' ? "" : fmt::format(" <small>{}</small>", unit));
}

std::string row_head(const std::string& label) { return fmt::format("<th scope=\"row\">{}</th>", html_text(label)); }

std::string with_half(MetricUnit unit, const std::optional<double>& half) {
  return half ? fmt::format(" <span class=\"half\">&plusmn; {}</span>", shown(unit, *half)) : std::string();
}

std::string value_cell(const Metric& metric, const MeanEstimate& value) {
  return fmt::format("<td data-metric=\"{}\" data-value=\"{}\">{}{}</td>", metric.key, core::decimal_text(value.mean, 6),
                     shown(metric.unit, static_cast<double>(value.mean)), with_half(metric.unit, value.half));
}

std::string difference_cell(const Metric& metric, const Compared& compared, const MeanEstimate& base) {
  if (!compared.difference) return fmt::format("<td data-metric=\"{}\">-</td>", metric.key);
  const MeanEstimate& by = *compared.difference;
  const bool clear = is_clear(by) && metric.better != 0;
  const bool good = clear && (by.mean > 0) == (metric.better > 0);
  std::string part;
  if (base.mean != 0 && metric.unit != MetricUnit::kPart)
    part = fmt::format(" <small>({:+.1f} %)</small>", 100 * static_cast<double>(by.mean) / std::abs(static_cast<double>(base.mean)));
  return fmt::format("<td data-metric=\"{}\" data-value=\"{}\"{}>{}{}{}{}</td>", metric.key, core::decimal_text(by.mean, 6),
                     clear ? good ? " class=\"better\"" : " class=\"worse\"" : "", shown(metric.unit, static_cast<double>(by.mean), true),
                     with_half(metric.unit, by.half), part, clear ? good ? " <b>better</b>" : " <b>worse</b>" : "");
}

// Metrics that are 0 for all configurations are of no use.
std::vector<std::size_t> metrics_of(const ReportFacts& facts, const ComparedScenario& scenario) {
  std::vector<std::size_t> metrics;
  for (std::size_t m = 0; m < kMetrics.size(); ++m) {
    const bool some = std::any_of(scenario.configurations.begin(), scenario.configurations.end(),
                                  [&](std::size_t c) { return facts.comparison[c][m].value.mean != 0; });
    if (some || m == 0) metrics.push_back(m);
  }
  return metrics;
}

std::string seeds_text(const ReportFacts& facts, const Configuration& one) {
  std::string seeds;
  for (const std::size_t r : one.runs) seeds += fmt::format("{}{}", seeds.empty() ? "" : ", ", facts.input.runs[r].stored.number("seed"));
  return seeds;
}

constexpr double kHourUs = 3.6e9;

}  // namespace

std::string comparison_tables(const ReportFacts& facts) {
  std::string html;
  for (std::size_t s = 0; s < facts.input.scenarios.size(); ++s) {
    const ComparedScenario& scenario = facts.input.scenarios[s];
    const std::vector<std::size_t> metrics = metrics_of(facts, scenario);
    std::string head = column_head("Policy") + column_head("Seeds"), rows, difference_rows;
    std::string difference_head = column_head("Policy") + column_head("Pairs");
    for (const std::size_t m : metrics) {
      head += column_head(kMetrics[m].label, unit_name(kMetrics[m].unit));
      difference_head += column_head(kMetrics[m].label, unit_name(kMetrics[m].unit));
    }
    for (const std::size_t c : scenario.configurations) {
      const Configuration& one = facts.input.configurations[c];
      rows += fmt::format("<tr data-configuration=\"{}\">{}<td title=\"seeds {}\">{}</td>", c, row_head(one.label), seeds_text(facts, one),
                          one.runs.size());
      for (const std::size_t m : metrics) rows += value_cell(kMetrics[m], facts.comparison[c][m].value);
      rows += "</tr>\n";
      if (c == scenario.baseline) continue;
      const auto& pairs = facts.comparison[c][0].difference;
      difference_rows += fmt::format("<tr data-configuration=\"{}\">{}<td>{}</td>", c, row_head(one.label), pairs ? pairs->runs : 0);
      for (const std::size_t m : metrics)
        difference_rows += difference_cell(kMetrics[m], facts.comparison[c][m], facts.comparison[scenario.baseline][m].value);
      difference_rows += "</tr>\n";
    }
    const std::string& base = facts.input.configurations[scenario.baseline].label;
    html += fmt::format("<h3>{}</h3>\n", html_text(scenario.label));
    html += scrolling("Figures of " + scenario.label,
                      table_of(fmt::format("comparison-{}", s), "Means over seeds, with half of the 95 % interval", head, rows));
    if (difference_rows.empty()) continue;
    html += scrolling(
        "Differences in " + scenario.label,
        table_of(fmt::format("differences-{}", s), "Paired differences from " + base + ", by seed", difference_head, difference_rows));
  }
  return html;
}

std::string percentile_tables(const ReportFacts& facts) {
  std::string html;
  const std::array<std::pair<const char*, std::vector<std::int64_t> ConfigurationFacts::*>, 2> tables{
      {{"JCT", &ConfigurationFacts::jct_percentiles_us}, {"Wait", &ConfigurationFacts::wait_percentiles_us}}};
  for (const auto& [name, member] : tables) {
    std::string head = column_head("Policy") + column_head("Jobs"), rows;
    for (const std::int64_t percent : kPercentiles) head += column_head(percent == 100 ? "max" : fmt::format("p{}", percent), "s");
    for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
      const std::vector<std::int64_t>& values = facts.configurations[c].*member;
      if (values.empty()) continue;
      const Configuration& one = facts.input.configurations[c];
      const std::string label = facts.input.scenarios.size() > 1 ? one.label + ", " + facts.input.scenarios[one.scenario].label : one.label;
      rows += "<tr>" + row_head(label) + fmt::format("<td>{}</td>", facts.configurations[c].jct_us.values);
      for (const std::int64_t value : values)
        rows += fmt::format("<td data-value=\"{}\">{}</td>", core::decimal_text(value, 6),
                            shown(MetricUnit::kSeconds, static_cast<double>(value)));
      rows += "</tr>\n";
    }
    if (rows.empty()) continue;
    const std::string caption = fmt::format("{} of completed jobs of all seeds", name);
    html += scrolling(caption, table_of(fmt::format("percentiles-{}", name), caption, head, rows));
  }
  return html;
}

std::string deadline_tables(const ReportFacts& facts) {
  const auto cell = [](std::int64_t value, const std::string& text) { return fmt::format("<td data-value=\"{}\">{}</td>", value, text); };
  const auto none = [] { return std::string("<td>-</td>"); };
  const auto count = [&](std::int64_t value) { return cell(value, shown(MetricUnit::kCount, 1e6 * static_cast<double>(value))); };
  const auto part = [&](std::int64_t some, std::int64_t all) {
    if (all <= 0) return none();
    const std::int64_t ppm = core::mul_div(some, 1'000'000, all);
    return cell(ppm, fmt::format("{} <small>of {}</small>", shown(MetricUnit::kPart, static_cast<double>(ppm)),
                                 shown(MetricUnit::kCount, 1e6 * static_cast<double>(all))));
  };
  std::string head = column_head("Policy"), rows, late_head = column_head("Policy") + column_head("Jobs"), late_rows;
  for (const char* label : {"Hard met", "Soft met", "Soft met later"}) head += column_head(label, "%");
  for (const char* label : {"Value met", "Value lost", "Promised", "Promises broken"}) head += column_head(label);
  head += column_head("Warned") + column_head("Of these met", "%") + column_head("Refused");
  for (const std::int64_t percent : kPercentiles) late_head += column_head(percent == 100 ? "max" : fmt::format("p{}", percent), "s");
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const ConfigurationFacts& own = facts.configurations[c];
    const DeadlineSums& sums = own.deadlines;
    if (sums.hard + sums.soft == 0) continue;
    const Configuration& one = facts.input.configurations[c];
    const std::string label = facts.input.scenarios.size() > 1 ? one.label + ", " + facts.input.scenarios[one.scenario].label : one.label;
    rows += fmt::format("<tr data-configuration=\"{}\">", c) + row_head(label);
    rows += part(sums.hard - sums.hard_missed, sums.hard) + part(sums.soft - sums.soft_missed, sums.soft);
    rows += sums.said ? part(sums.said->met_later, sums.soft) : none();
    if (sums.said) {
      const results::StoredDeadlines& said = *sums.said;
      rows += count(said.value_met) + count(said.value - said.value_met);
      const bool promises = said.promised + said.warned + said.refused > 0;
      for (const std::int64_t value : {said.promised, said.promised_missed, said.warned}) rows += promises ? count(value) : none();
      rows += promises ? part(said.warned_met, said.warned) + count(said.refused) : none() + none();
    } else {
      for (int column = 0; column < 7; ++column) rows += none();
    }
    rows += "</tr>\n";
    if (own.late_percentiles_us.empty()) continue;
    late_rows += "<tr>" + row_head(label) + fmt::format("<td>{}</td>", own.late_us.values);
    for (const std::int64_t value : own.late_percentiles_us)
      late_rows += fmt::format("<td data-value=\"{}\">{}</td>", core::decimal_text(value, 6),
                               shown(MetricUnit::kSeconds, static_cast<double>(value)));
    late_rows += "</tr>\n";
  }
  std::string html =
      scrolling("Deadlines", table_of("deadlines-table", "Deadlines; sums over seeds. A rejected job missed its deadline", head, rows));
  const std::string caption = "Lateness of completed jobs with deadlines, of all seeds; below 0: before the deadline";
  if (!late_rows.empty()) html += scrolling(caption, table_of("percentiles-late", caption, late_head, late_rows));
  return html;
}

std::string gpu_time_table(const ReportFacts& facts) {
  std::string head = column_head("Policy"), rows;
  std::vector<std::size_t> parts;
  for (std::size_t p = 0; p < kGpuTimeParts.size(); ++p) {
    const bool some = std::any_of(facts.configurations.begin(), facts.configurations.end(),
                                  [&](const ConfigurationFacts& one) { return one.gpu_time[p] > 0; });
    if (some || p == 0) parts.push_back(p);
  }
  for (const std::size_t p : parts)
    head += fmt::format("<th scope=\"col\" title=\"{}\">{} <small>h</small></th>", kGpuTimeParts[p].about, kGpuTimeParts[p].label);
  head += column_head("all", "h");
  for (std::size_t c = 0; c < facts.configurations.size(); ++c) {
    const Configuration& one = facts.input.configurations[c];
    const std::string label = facts.input.scenarios.size() > 1 ? one.label + ", " + facts.input.scenarios[one.scenario].label : one.label;
    rows += fmt::format("<tr data-configuration=\"{}\">", c) + row_head(label);
    double all = 0;
    for (const std::int64_t us : facts.configurations[c].gpu_time) all += static_cast<double>(us);
    for (const std::size_t p : parts) {
      const std::int64_t us = facts.configurations[c].gpu_time[p];
      rows += fmt::format("<td data-part=\"{}\" data-value=\"{}\">{:.1f} <small>({:.1f} %)</small></td>", kGpuTimeParts[p].key,
                          core::decimal_text(us, 6), static_cast<double>(us) / kHourUs, all > 0 ? 100 * static_cast<double>(us) / all : 0);
    }
    rows += fmt::format("<td>{:.1f}</td></tr>\n", all / kHourUs);
  }
  std::string html = scrolling("GPU-hours", table_of("gpu-hours-table", "GPU-hours by part; means over seeds", head, rows));
  html += "<dl>";
  for (const std::size_t p : parts) html += fmt::format("<dt>{}</dt><dd>{}</dd>", kGpuTimeParts[p].label, kGpuTimeParts[p].about);
  return html + "</dl>\n";
}

std::string run_details(const ReportFacts& facts) {
  std::string html, rows;
  for (const ReportRun& run : facts.input.runs) {
    rows += fmt::format("<tr>{}<td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                        row_head(fmt::format("{}", run.stored.id)), html_text(run.stored.text("policy")), run.stored.number("seed"),
                        html_text(run.stored.text("trace")), html_text(run.stored.text("cluster")), run.stored.number("jobs"),
                        html_text(run.stored.text("written")), run.stored.number("interrupted") != 0 ? "interrupted" : "whole");
  }
  std::string head;
  for (const char* label : {"Run", "Policy", "Seed", "Trace", "Cluster", "Jobs", "Written", "End"}) head += column_head(label);
  html += scrolling("Runs", table_of("runs", core::counted(static_cast<std::int64_t>(facts.input.runs.size()), "run"), head, rows));
  // Runs of one command have the same inputs.
  std::vector<std::pair<std::string, std::string>> seen;  // command with inputs -> runs
  for (const ReportRun& run : facts.input.runs) {
    const auto command = run.details.find("command");
    std::string text = command == run.details.end()
                           ? "<p>The file does not say which command made this.</p>\n"
                           : fmt::format("<pre tabindex=\"0\" aria-label=\"Command\"><code>{}</code></pre>\n", html_text(command->second));
    if (!run.inputs.empty()) text += "<ul class=\"inputs\">";
    for (const results::InputFile& file : run.inputs) {
      text += fmt::format("<li><code>{} {}</code>: {} bytes, SHA-256 <code class=\"hash\">{}</code></li>\n", html_text(file.option),
                          html_text(file.path), file.bytes, html_text(file.sha256));
    }
    if (!run.inputs.empty()) text += "</ul>";
    const auto same = std::find_if(seen.begin(), seen.end(), [&](const auto& one) { return one.first == text; });
    if (same == seen.end()) {
      seen.emplace_back(text, fmt::format("{}", run.stored.id));
    } else {
      same->second += fmt::format(", {}", run.stored.id);
    }
  }
  for (const auto& [text, runs] : seen) html += fmt::format("<h3>Command of run {}</h3>\n{}", runs, text);
  return html;
}

}  // namespace berth::report
