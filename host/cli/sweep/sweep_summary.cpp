#include "host/cli/sweep/sweep_summary.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <optional>
#include <vector>

#include "host/cli/sweep/sweep_intervals.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

using results::SweepMetric;

const SweepMetric& metric_at(std::size_t metric) { return results::kSweepMetricTable[metric]; }

double unit_of(std::size_t metric) {
  switch (metric_at(metric).unit) {
    case SweepMetric::kMicroseconds:
    case SweepMetric::kMillionths:
      return 1e6;
    case SweepMetric::kCount:
      break;
  }
  return 1;
}

// With as many digits as the interval makes sense of.
std::string number_text(double value, double half_width) {
  const double scale = half_width > 0 ? half_width : std::abs(value) / 1000;
  const int digits = scale > 0 ? std::min(6, std::max(0, 1 - static_cast<int>(std::floor(std::log10(scale))))) : 0;
  std::string text = fmt::format("{:.{}f}", value, digits);
  return text == "-0" ? "0" : text;
}

std::string interval_text(const SweepInterval& interval, double unit, bool sign = false) {
  if (interval.values == 0) return "-";
  const double mean = interval.mean / unit, half = interval.half_width / unit;
  std::string text = (sign && mean > 0 ? "+" : "") + number_text(mean, half);
  if (interval.values > 1) text += " +- " + number_text(half, half);
  return text;
}

std::string head_of(std::string_view name) {
  if (name.substr(0, kParamKey.size()) == kParamKey) name.remove_prefix(kParamKey.size());
  std::string head(name);
  for (char& c : head) c = c == '_' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return head;
}

std::vector<std::int64_t> values_of(const SweepState& state, std::size_t cell, std::size_t metric) {
  std::vector<std::int64_t> values;
  for (const auto& [seed, figures] : state.figures(cell)) values.push_back(figures[metric]);
  return values;
}

/// The cell of the same block and the same other settings under the baseline policy.
std::optional<std::size_t> baseline_of(const SweepPlan& plan, std::size_t cell) {
  if (plan.spec.baseline.empty() || plan.cells[cell].draft.policy == plan.spec.baseline) return std::nullopt;
  std::optional<std::size_t> any;
  for (const std::size_t other : plan.blocks[plan.cells[cell].block]) {
    if (plan.cells[other].draft.policy != plan.spec.baseline) continue;
    bool same = true;
    for (std::size_t c = 0; c < plan.columns.size(); ++c) {
      const std::string &mine = plan.cells[cell].labels[c], &theirs = plan.cells[other].labels[c];
      same = same && (plan.columns[c] == "policy" || mine == theirs || theirs == "-" || mine == "-");
    }
    if (same && !any) any = other;
  }
  return any;
}

/// Differences of the seeds that both have.
SweepInterval difference(const SweepState& state, std::size_t cell, std::size_t baseline, std::size_t metric) {
  std::vector<std::int64_t> values;
  for (const auto& [seed, figures] : state.figures(cell)) {
    const auto other = state.figures(baseline).find(seed);
    if (other != state.figures(baseline).end()) values.push_back(figures[metric] - other->second[metric]);
  }
  return interval_of(values);
}

report::Row head_row(const SweepPlan& plan) {
  report::Row head;
  for (const std::string& column : plan.columns) head.push_back(head_of(column));
  head.emplace_back("SEEDS");
  for (const std::size_t metric : plan.spec.metrics) {
    const char* unit = metric_at(metric).unit == SweepMetric::kMicroseconds ? " S" : "";
    head.push_back(head_of(metric_at(metric).name) + unit);
  }
  return head;
}

std::string json_name(std::size_t metric) {
  return fmt::format("{}{}", metric_at(metric).name, metric_at(metric).unit == SweepMetric::kMicroseconds ? "_s" : "");
}

void write_intervals(io::JsonWriter& out, const SweepPlan& plan, const auto& interval_for) {
  out.object([&] {
    for (const std::size_t metric : plan.spec.metrics) {
      const SweepInterval interval = interval_for(metric);
      out.key(json_name(metric));
      out.object([&] {
        out.key("mean"), out.raw(fmt::format("{}", interval.mean / unit_of(metric)));
        if (interval.values > 1) out.key("half_width"), out.raw(fmt::format("{}", interval.half_width / unit_of(metric)));
      });
    }
  });
}

}  // namespace

std::string sweep_text(const SweepPlan& plan, const SweepState& state) {
  std::vector<report::Row> rows, differences;
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    if (state.figures(c).empty()) continue;
    report::Row row = plan.cells[c].labels;
    row.push_back(fmt::format("{}", state.figures(c).size()));
    report::Row other = row;
    for (const std::size_t metric : plan.spec.metrics)
      row.push_back(interval_text(interval_of(values_of(state, c, metric)), unit_of(metric)));
    rows.push_back(std::move(row));
    const std::optional<std::size_t> baseline = baseline_of(plan, c);
    if (!baseline) continue;
    for (const std::size_t metric : plan.spec.metrics)
      other.push_back(interval_text(difference(state, c, *baseline, metric), unit_of(metric), true));
    differences.push_back(std::move(other));
  }
  const std::size_t keys = plan.columns.size();
  std::string text = report::table(head_row(plan), rows, {}, keys);
  if (!differences.empty()) {
    text +=
        fmt::format("\nDifferences from {}, seed by seed\n\n", plan.spec.baseline) + report::table(head_row(plan), differences, {}, keys);
  }
  return text;
}

std::string sweep_json(const SweepPlan& plan, const SweepState& state) {
  std::string text;
  for (std::size_t c = 0; c < plan.cells.size(); ++c) {
    if (state.figures(c).empty()) continue;
    io::JsonWriter out;
    out.object([&] {
      out.key("cell");
      out.object([&] {
        for (std::size_t column = 0; column < plan.columns.size(); ++column) out.text(plan.columns[column], plan.cells[c].labels[column]);
      });
      out.key("seeds"), out.integer(static_cast<std::int64_t>(state.figures(c).size()));
      out.key("metrics");
      write_intervals(out, plan, [&](std::size_t metric) { return interval_of(values_of(state, c, metric)); });
      if (const std::optional<std::size_t> baseline = baseline_of(plan, c)) {
        out.key("differences");
        write_intervals(out, plan, [&](std::size_t metric) { return difference(state, c, *baseline, metric); });
      }
    });
    text += out.finish();
  }
  return text;
}

}  // namespace berth::cli
