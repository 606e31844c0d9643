#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/files/read_whole.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/traces/gavel.hpp"

namespace berth::io {
namespace {

using ColumnNames = std::span<const std::string_view>;
constexpr std::array<std::string_view, 7> kGavel7{"job_type",    "command",      "num_steps_arg", "needs_data_dir",
                                                  "total_steps", "arrival_time", "scale_factor"};
constexpr std::array<std::string_view, 10> kGavel10{"job_type",    "command",      "working_dir",     "num_steps_arg", "needs_data_dir",
                                                    "total_steps", "scale_factor", "priority_weight", "SLO",           "arrival_time"};
constexpr std::array<std::string_view, 12> kShockwave12{"job_type",        "command",     "working_dir",  "num_steps_arg",
                                                        "needs_data_dir",  "total_steps", "scale_factor", "mode",
                                                        "priority_weight", "SLO",         "duration",     "arrival_time"};

/// One line, split at tabs.
class TabbedRow {
 public:
  TabbedRow(const std::string& file, ColumnNames columns) : file_(file), columns_(columns) {}

  void set(std::string_view line, int number) {
    line_ = number;
    fields_ = core::split(line, '\t');
    if (fields_.size() != columns_.size()) {
      throw InputError(file_, "", line_, fmt::format("{} columns, where the file has {}", fields_.size(), columns_.size()));
    }
  }

  int line() const { return line_; }
  bool has(std::string_view column) const { return std::find(columns_.begin(), columns_.end(), column) != columns_.end(); }
  std::string_view text(std::string_view column) const { return fields_[index(column)]; }

  std::int64_t integer(std::string_view column, std::int64_t low, std::int64_t high) const {
    std::string_view digits = text(column);
    const bool negative = !digits.empty() && digits.front() == '-';
    if (negative) digits.remove_prefix(1);
    const auto size = core::parse_whole(digits, INT64_MAX);
    const std::int64_t value = size.value_or(0) * (negative ? -1 : 1);
    if (!size || value < low || value > high) refuse(column, fmt::format("a whole number from {} to {}", low, high));
    return value;
  }
  /// Not negative, in millionths.
  std::int64_t micro(std::string_view column, std::int64_t high) const {
    const auto value = parse_measured(text(column), 6);
    if (!value || *value > high) refuse(column, "a number that is not negative");
    return *value;
  }

  [[noreturn]] void refuse(std::string_view column, const std::string& expected) const {
    throw InputError(file_, fmt::format("column '{}' ({})", column, index(column) + 1), line_,
                     fmt::format("expected {}, found '{}'", expected, core::escape_control(cut_utf8(text(column), 60))));
  }

 private:
  std::size_t index(std::string_view column) const {
    return static_cast<std::size_t>(std::find(columns_.begin(), columns_.end(), column) - columns_.begin());
  }

  const std::string& file_;
  ColumnNames columns_;
  int line_ = 0;
  std::vector<std::string_view> fields_;
};

ColumnNames columns_of(const std::string& file, std::string_view first_line, bool shockwave) {
  const auto n = static_cast<std::size_t>(std::count(first_line.begin(), first_line.end(), '\t')) + 1;
  if (n == kShockwave12.size()) {
    if (shockwave) return kShockwave12;
    throw InputError(file, "", 1, "12 columns: this is a workload of Shockwave: format shockwave");
  }
  if (n == kGavel7.size() || n == kGavel10.size()) {
    if (!shockwave) return n == kGavel7.size() ? ColumnNames(kGavel7) : ColumnNames(kGavel10);
    throw InputError(file, "", 1, fmt::format("{} columns: this is a workload of Gavel: format gavel", n));
  }
  throw InputError(
      file, "", 1,
      fmt::format("{} tab-separated columns, where a workload of {}", n, shockwave ? "Shockwave has 12" : "Gavel has 7 or 10"));
}

/// -1: none.
std::int64_t slo_of(const TabbedRow& row) {
  const std::string_view text = row.text("SLO");
  if (text.substr(0, 1) != "-") return row.micro("SLO", kScoreCeiling);
  if (parse_measured(text.substr(1), 6) != 1'000'000) row.refuse("SLO", "-1 (none), or how many run times");
  return 0;
}

GavelRow read_row(const TabbedRow& row) {
  GavelRow out;
  out.line = row.line();
  TraceJob& job = out.job;
  job.model = row.text("job_type");
  if (job.model.empty()) row.refuse("job_type", "the name of a model");
  job.gpus = static_cast<std::int32_t>(row.integer("scale_factor", -kMaxGpusPerJob, kMaxGpusPerJob));
  job.work = row.integer("total_steps", -kScoreCeiling / 1'000'000, kScoreCeiling / 1'000'000) * 1'000'000;
  job.submit_us = row.micro("arrival_time", kMaxTimeUs);
  if (row.has("priority_weight")) {
    job.weight_ppm = row.micro("priority_weight", kScoreCeiling);
    if (job.weight_ppm == 0) row.refuse("priority_weight", "a weight above 0");
  }
  if (row.has("SLO")) out.slo_ppm = slo_of(row);
  if (row.has("duration")) out.stated_us = row.micro("duration", kMaxTimeUs);
  if (row.has("mode")) {
    const std::string_view mode = row.text("mode");
    if (mode != "static" && mode != "accordion" && mode != "gns") row.refuse("mode", "static, accordion or gns");
    out.mode = mode;
    job.x.emplace_back("x_mode", fmt::format("\"{}\"", mode));
  }
  return out;
}

}  // namespace

std::vector<GavelRow> read_gavel_rows(GzipInput& input, bool shockwave) {
  const std::string content = read_whole(input);
  const std::string& name = input.name();
  const char* const bad = first_invalid_utf8(content);
  if (bad != content.data() + content.size()) {
    throw InputError(name, "", static_cast<int>(1 + std::count(content.data(), bad, '\n')), "text that is not UTF-8");
  }
  std::vector<GavelRow> rows;
  std::optional<TabbedRow> row;
  int number = 0;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = std::min(content.find('\n', begin), content.size());
    std::string_view line = std::string_view(content).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) {
      if (content.find_first_not_of("\r\n", std::min(end, content.size())) == content.npos) break;
      throw InputError(name, "", number, "an empty line before the end");
    }
    if (!row) row.emplace(name, columns_of(name, line, shockwave));
    row->set(line, number);
    rows.push_back(read_row(*row));
    if (rows.size() > static_cast<std::size_t>(kMaxJobs)) throw InputError(name, "", number, fmt::format("more than {} jobs", kMaxJobs));
  }
  if (rows.empty()) throw InputError(name, "", 1, "the file is empty; expected a workload");
  return rows;
}

}  // namespace berth::io
