#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/files/read_whole.hpp"
#include "host/io/slurm/sacct.hpp"
#include "host/io/traces/importers.hpp"

namespace berth::io {
namespace {

bool is_unknown(std::string_view text) { return text.empty() || text == "Unknown" || text == "None" || text == "N/A"; }

// "[DD-[HH:]]MM:SS[.ffffff]" in microseconds; sacct truncates the fraction.
std::optional<TimeUs> clock_of(std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000;
  std::int64_t days = 0, seconds = 0;
  if (const std::size_t dash = text.find('-'); dash != text.npos) {
    const auto read = core::parse_whole(text.substr(0, dash), kMost);
    if (!read) return {};
    days = *read;
    text.remove_prefix(dash + 1);
  }
  const auto parts = core::split(text.substr(0, text.find('.')), ':');
  if (parts.size() < 2 || parts.size() > 3) return {};
  for (const std::string_view part : parts) {
    const auto read = core::parse_whole(part, kMost);
    if (!read) return {};
    seconds = seconds * 60 + *read;
  }
  return (days * 86'400 + seconds) * kSecond;
}

// Columns by name; -1: not in the file.
struct SacctColumns {
  int id, user, partition, state, submit, start, end, elapsed, elapsed_s, limit, limit_min, tres;

  explicit SacctColumns(const CsvReader& row)
      : id(row.find("JobID") >= 0 ? row.find("JobID") : row.find("JobIDRaw")),
        user(row.find("User")),
        partition(row.find("Partition")),
        state(row.find("State")),
        submit(row.find("Submit")),
        start(row.find("Start")),
        end(row.find("End")),
        elapsed(row.find("Elapsed")),
        elapsed_s(row.find("ElapsedRaw")),
        limit(row.find("Timelimit")),
        limit_min(row.find("TimelimitRaw")),
        tres(row.find("AllocTRES")) {
    const std::string missing =
        names({{"JobID", id}, {"State", state}, {"Submit", submit}, {"Start", start}, {"End", end}, {"AllocTRES", tres}});
    if (missing.empty()) return;
    throw InputError(
        row.file(), "", 1,
        fmt::format("no column {} in the header '{}'; needed are JobID (or JobIDRaw), State, Submit, Start, End and AllocTRES: "
                    "'sacct -a -X -P -o JobID,User,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES' prints "
                    "them and all that is of use",
                    missing, row.header_text()));
  }

  /// The unknown data of all jobs, "" when there is none.
  std::string unknown() const {
    return names({{"User", user},
                  {"Partition", partition},
                  {"ElapsedRaw", std::max(elapsed, elapsed_s)},
                  {"TimelimitRaw", std::max(limit, limit_min)}});
  }

 private:
  // The names of the columns that are not in the file.
  static std::string names(std::initializer_list<std::pair<std::string_view, int>> columns) {
    std::string text;
    for (const auto& [name, column] : columns) text += column >= 0 ? "" : fmt::format("{}'{}'", text.empty() ? "" : ", ", name);
    return text;
  }
};

// A local time, or seconds since 1970 (SLURM_TIME_FORMAT=%s).
TimeUs instant_of(const CsvReader& row, int column, bool& unix_seconds) {
  const std::string_view text = row.text(column);
  if (is_unknown(text)) return -1;
  if (const auto seconds = core::parse_whole(text, kMaxTimeUs / kSecond)) {
    unix_seconds = true;
    return *seconds * kSecond;
  }
  return row.civil(column);
}

TimeUs run_of(const CsvReader& row, const SacctColumns& columns) {
  if (columns.elapsed_s >= 0 && !is_unknown(row.text(columns.elapsed_s)))
    return row.integer(columns.elapsed_s, 0, kMaxTimeUs / kSecond) * kSecond;
  if (columns.elapsed < 0 || is_unknown(row.text(columns.elapsed))) return -1;
  const auto run = clock_of(row.text(columns.elapsed));
  if (!run) row.refuse(columns.elapsed, "a duration [DAYS-[HOURS:]]MINUTES:SECONDS");
  return *run;
}

TimeUs limit_of(const CsvReader& row, const SacctColumns& columns) {
  const int column = columns.limit_min >= 0 ? columns.limit_min : columns.limit;
  if (column < 0) return kNever;
  const std::string_view text = row.text(column);
  if (is_unknown(text) || text == "UNLIMITED" || text == "Partition_Limit") return kNever;
  constexpr std::int64_t kMostMinutes = kMaxTimeUs / (60 * kSecond);
  if (columns.limit_min >= 0) return row.integer(column, 0, kMostMinutes) * 60 * kSecond;
  const auto limit = clock_of(text);
  if (!limit) row.refuse(column, "a duration [DAYS-[HOURS:]]MINUTES:SECONDS");
  return *limit;
}

Trace read_table(CsvReader& row) {
  const SacctColumns columns(row);
  SacctTrace trace(row.file());
  bool unix_seconds = false;
  if (const std::string unknown = columns.unknown(); !unknown.empty()) trace.odd().say("columns that are not in the file: " + unknown);
  while (row.next()) {
    SacctJob job;
    job.id = row.text(columns.id);
    if (is_job_step(job.id)) {
      trace.drop("job step (part of a job)");
      continue;
    }
    if (columns.user >= 0) job.user = row.text(columns.user);
    if (columns.partition >= 0) job.partition = row.text(columns.partition);
    job.state = row.text(columns.state);
    job.submit_us = instant_of(row, columns.submit, unix_seconds);
    job.start_us = instant_of(row, columns.start, unix_seconds);
    job.end_us = instant_of(row, columns.end, unix_seconds);
    job.run_us = run_of(row, columns);
    job.time_limit_us = limit_of(row, columns);
    const std::string problem = parse_tres(row.text(columns.tres), job.allocated);
    if (!problem.empty()) row.refuse(columns.tres, "a list of resources such as cpu=4,gres/gpu=2");
    trace.add(std::move(job), row.file(), row.line());
  }
  return trace.finish(unix_seconds ? "UTC" : "those of the zone that sacct ran in");
}

/// Output of `sacct -P` (a header, fields separated by '|', no quotes) or `sacct --json`.
Imported import_sacct(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  if (files.size() != 1) throw InvalidArgument(fmt::format("sacct takes one file, and {} are given", files.size()));
  auto input = std::make_unique<GzipInput>(files.front());
  if (input->peek() == '{') {
    const std::string name = input->name();
    return {read_sacct_json(read_whole(*input), name), std::nullopt, {}};
  }
  CsvReader row(std::move(input), {'|', false});
  return {read_table(row), std::nullopt, {}};
}

}  // namespace

std::vector<Importer> sacct_importers() {
  return {
      {"sacct", "a Slurm cluster's own accounting", "what sacct -P (see docs/trace-importers.md) or sacct --json prints", import_sacct},
  };
}

}  // namespace berth::io
