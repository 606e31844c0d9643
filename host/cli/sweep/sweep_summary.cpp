#include "host/cli/sweep/sweep_summary.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "host/cli/sweep/metric_text.hpp"
#include "host/cli/sweep/sweep_json.hpp"
#include "host/core/base/violations.hpp"
#include "host/report/table.hpp"

namespace berth::cli {
namespace {

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
  for (const std::string& column : plan.columns) head.push_back(column_head(column));
  head.emplace_back("SEEDS");
  for (const std::size_t metric : plan.spec.metrics) head.push_back(metric_head(metric));
  return head;
}

ShownMetrics shown_metrics(const SweepPlan& plan, const auto& interval_for) {
  ShownMetrics all;
  for (const std::size_t metric : plan.spec.metrics) all.push_back(shown_metric(metric, interval_for(metric)));
  return all;
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
      row.push_back(interval_text(interval_of(values_of(state, c, metric)), metric_scale(metric)));
    rows.push_back(std::move(row));
    const std::optional<std::size_t> baseline = baseline_of(plan, c);
    if (!baseline) continue;
    for (const std::size_t metric : plan.spec.metrics)
      other.push_back(interval_text(difference(state, c, *baseline, metric), metric_scale(metric), true));
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
    SweepLine line;
    for (std::size_t column = 0; column < plan.columns.size(); ++column)
      line.cell.emplace_back(plan.columns[column], plan.cells[c].labels[column]);
    line.seeds = static_cast<std::int64_t>(state.figures(c).size());
    line.metrics = shown_metrics(plan, [&](std::size_t metric) { return interval_of(values_of(state, c, metric)); });
    if (const std::optional<std::size_t> baseline = baseline_of(plan, c))
      line.differences = shown_metrics(plan, [&](std::size_t metric) { return difference(state, c, *baseline, metric); });
    text += sweep_line_json(line);
  }
  return text;
}

}  // namespace berth::cli
