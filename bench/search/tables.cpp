#include "bench/search/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "bench/search/plot.hpp"
#include "host/report/table.hpp"

namespace berth::bench {
namespace {

struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first: names of the columns
  std::string plots;                           // a line of links to them, where there are any
};

std::string percent(double gap) {
  if (gap == 0) return "0";
  if (gap < 0) return gap > -0.001 ? ">-0.001" : "-" + percent(-gap);
  if (gap < 0.001) return "<0.001";
  return gap < 10 ? fmt::format("{:.3f}", gap) : fmt::format("{:.1f}", gap);
}

std::string cell(const Spread& gap) {
  const std::string low = percent(gap.lowest), high = percent(gap.highest);
  return low == high ? low : fmt::format("{} ({} to {})", percent(gap.median), low, high);
}

std::string milliseconds(double ms) { return fmt::format("{:.{}f}", ms, ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0); }

bool is_shown(double ms) {
  const double decade = std::pow(10, std::floor(std::log10(ms) + 1e-9));
  return std::abs(ms / decade - 1) < 1e-9 || std::abs(ms / decade - 3) < 1e-9;
}

// Coupled: how far from the best that anybody found; separable: from what no plan can beat. The other gap stands last.
bool to_bound(const SearchRow& row) { return row.kind == "separable"; }

Table search_table(const SearchResult& result, const SearchRow& first) {
  const bool bound = to_bound(first);
  Table table{
      fmt::format("{}, {}: per cent below {}", first.cluster, first.kind, bound ? "the separable bound" : "the best known"), {}, ""};
  std::vector<std::size_t> shown;
  std::vector<std::string> head{"GPUs x jobs", "policy", "last, ms"};
  for (std::size_t t = 0; t < result.times_ms.size(); ++t) {
    if (!is_shown(result.times_ms[t])) continue;
    shown.push_back(t);
    head.push_back(fmt::format("at {:g} ms", result.times_ms[t]));
  }
  head.emplace_back(bound ? "in the end: below the best known" : "in the end: below the bound");
  table.rows.push_back(std::move(head));
  for (const SearchRow& row : result.rows) {
    if (row.section != "search" || row.cluster != first.cluster || row.kind != first.kind) continue;
    std::vector<std::string> line{fmt::format("{} x {}", row.gpus, row.jobs), row.contender,
                                  row.plans > 0 ? milliseconds(row.last_ms.median) : row.note};
    for (const std::size_t t : shown) {
      const std::optional<Spread>& gap = (bound ? row.bound_gap_at : row.best_gap_at)[t];
      line.push_back(gap ? cell(*gap) : "");
    }
    line.push_back(row.plans > 0 ? cell(bound ? row.best_gap : row.bound_gap) : "");
    table.rows.push_back(std::move(line));
    const std::string plot = fmt::format("[{}](plots/{})", row.gpus, plot_name(row));
    if (table.plots.find(plot) == std::string::npos) table.plots += (table.plots.empty() ? "" : ", ") + plot;
  }
  table.plots = fmt::format("Plots of {}, {}, by GPUs: {}\n\n", first.cluster, first.kind, table.plots);
  return table;
}

Table ablation_table(const SearchResult& result, const SearchRow& first) {
  Table table{fmt::format("{}, {}: {} GPUs x {} jobs, parts left out", first.cluster, first.kind, first.gpus, first.jobs), {}, ""};
  table.rows.push_back({"search", "plans", "per cent below the best known", "below the bound"});
  for (const SearchRow& row : result.rows) {
    if (row.section != "ablation" || row.cluster != first.cluster || row.kind != first.kind || row.gpus != first.gpus) continue;
    table.rows.push_back({row.contender, std::to_string(row.plans), cell(row.best_gap), cell(row.bound_gap)});
  }
  return table;
}

std::vector<Table> tables_of(const SearchResult& result) {
  std::vector<Table> tables;
  std::vector<std::string> seen;
  for (const SearchRow& row : result.rows) {
    const std::string key = row.section + row.cluster + row.kind;
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    tables.push_back(row.section == "search" ? search_table(result, row) : ablation_table(result, row));
  }
  return tables;
}

}  // namespace

std::string text_tables(const SearchResult& result) {
  std::string text;
  for (const Table& table : tables_of(result)) {
    text += table.title + "\n\n" + report::table(table.rows.front(), {table.rows.begin() + 1, table.rows.end()}) + '\n';
  }
  return text;
}

std::string markdown_tables(const SearchResult& result) {
  std::string text;
  for (const Table& table : tables_of(result)) {
    text += "### " + table.title + "\n\n";
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      text += fmt::format("| {} |\n", fmt::join(table.rows[r], " | "));
      if (r > 0) continue;
      text += '|';
      for (std::size_t c = 0; c < table.rows[r].size(); ++c) text += " --- |";
      text += '\n';
    }
    text += '\n' + table.plots;
  }
  return text;
}

}  // namespace berth::bench
