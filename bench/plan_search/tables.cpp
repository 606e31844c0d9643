#include "bench/plan_search/tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "host/report/table.hpp"

namespace berth::bench {
namespace {

struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first: names of the columns
  std::string plots;                           // a link to them, where there are any
};

std::string percent(double gap) {
  if (gap == 0) return "0";
  if (gap < 0) return gap > -0.001 ? ">-0.001" : "-" + percent(-gap);
  if (gap < 0.001) return "<0.001";
  return gap < 10 ? fmt::format("{:.3f}", gap) : fmt::format("{:.1f}", gap);
}

std::string cell(const MedianRange& gap) {
  const std::string low = percent(gap.lowest), high = percent(gap.highest);
  return low == high ? low : fmt::format("{} ({} to {})", percent(gap.median), low, high);
}

std::string milliseconds(double ms) { return fmt::format("{:.{}f}", ms, ms < 1 ? 3 : ms < 10 ? 2 : ms < 100 ? 1 : 0); }

bool is_shown(double ms) {
  const double decade = std::pow(10, std::floor(std::log10(ms) + 1e-9));
  return std::abs(ms / decade - 1) < 1e-9 || std::abs(ms / decade - 3) < 1e-9;
}

// Coupled: how far below the best plan that was found; separable: how far below the bound. The other gap stands last.
bool to_bound(const SearchRow& row) { return row.kind == "separable"; }

const std::vector<std::optional<MedianRange>>& gaps_at(const SearchRow& row) { return to_bound(row) ? row.bound_gap_at : row.best_gap_at; }

std::string plot_name(const SearchRow& row) { return fmt::format("search-{}-{}-{}", row.cluster, row.kind, row.gpus); }

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
      const std::optional<MedianRange>& gap = gaps_at(row)[t];
      line.push_back(gap ? cell(*gap) : "");
    }
    line.push_back(row.plans > 0 ? cell(bound ? row.best_gap : row.bound_gap) : "");
    table.rows.push_back(std::move(line));
  }
  table.plots = fmt::format("[Plots of {0}, {1}](search-plots.md#{0}-{1})\n\n", first.cluster, first.kind);
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

std::map<std::string, std::string> point_tables(const SearchResult& result) {
  std::map<std::string, std::vector<const SearchRow*>> plots;
  for (const SearchRow& row : result.rows) {
    if (row.section == "search" && row.plans > 0) plots[plot_name(row)].push_back(&row);
  }
  std::map<std::string, std::string> tables;
  for (const auto& [name, rows] : plots) {
    const SearchRow& first = *rows.front();
    std::string later, head = "ms";
    std::vector<std::string> lines;
    for (const double ms : result.times_ms) lines.push_back(fmt::format("{:g}", ms));
    for (const SearchRow* const row : rows) {
      const std::vector<std::optional<MedianRange>>& gaps = gaps_at(*row);
      if (std::none_of(gaps.begin(), gaps.end(), [](const auto& gap) { return gap.has_value(); })) {
        later += (later.empty() ? "; later: " : ", ") + row->contender;
        continue;
      }
      head += fmt::format("\t{0} lowest\t{0} median\t{0} highest", row->contender);
      for (std::size_t t = 0; t < lines.size(); ++t) {
        lines[t] += gaps[t] ? fmt::format("\t{}\t{}\t{}", gaps[t]->lowest, gaps[t]->median, gaps[t]->highest) : "\t?\t?\t?";
      }
    }
    tables[name] = fmt::format("# {}, {}: {} GPUs, {} jobs{}\n{}\n{}\n", first.cluster, first.kind, first.gpus, first.jobs, later, head,
                               fmt::join(lines, "\n"));
  }
  return tables;
}

}  // namespace berth::bench
