#include "host/results/results_reader.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "berth/error.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/json/json_text.hpp"
#include "host/results/schema.hpp"

namespace berth::results {
namespace {

// Another program may have written anything.
std::string clean(std::string_view text) {
  std::string valid;
  for (const char* bad = io::first_invalid_utf8(text); bad != text.data() + text.size(); bad = io::first_invalid_utf8(text)) {
    const auto before = static_cast<std::size_t>(bad - text.data());
    valid += text.substr(0, before);
    valid += "\xEF\xBF\xBD";  // U+FFFD
    text.remove_prefix(before + 1);
  }
  valid += text;
  return core::escape_control(valid);
}

TimeUs instant_of(const Statement& row, int column) { return row.is_null(column) ? kNever : row.number(column); }

[[noreturn]] void fail_column(const std::string& file, std::string_view column) {
  throw InputError(file, "", 0, fmt::format("has no number or text in the column '{}' of table 'runs'", column));
}

}  // namespace

const std::string& StoredRun::text(std::string_view column) const {
  const auto found = texts.find(column);
  if (found == texts.end()) fail_column(file, column);
  return found->second;
}

std::int64_t StoredRun::number(std::string_view column) const {
  const auto found = numbers.find(column);
  if (found == numbers.end()) fail_column(file, column);
  return found->second.value_or(0);
}

ResultsReader::ResultsReader(const std::string& path) : database_(path, Database::ReadOnly{}) {
  database_.run("BEGIN");
  if (database_.number("SELECT count(*) FROM sqlite_schema") == 0) throw InputError(path, "", 0, "is empty: it has no results");
  const std::int64_t kind = database_.number("PRAGMA application_id"), version = database_.number("PRAGMA user_version");
  if (kind != kApplicationId) throw InputError(path, "", 0, "is an SQLite file of something else, not of results");
  if (version > kSchemaVersion) {
    throw InputError(path, "", 0,
                     fmt::format("has results in version {}; this program knows version {}: use a newer berth", version, kSchemaVersion));
  }
  if (version < kSchemaVersion) {
    throw InputError(path, "", 0,
                     fmt::format("has results in version {}; this program knows version {}: repeat the runs, or use an older berth",
                                 version, kSchemaVersion));
  }
}

ResultsReader::~ResultsReader() { sqlite3_exec(database_.handle(), "ROLLBACK", nullptr, nullptr, nullptr); }

bool ResultsReader::has_table(const std::string& name) {
  return database_.number(fmt::format("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = '{}'", name)) > 0;
}

void ResultsReader::query(const std::string& sql, std::int64_t run, const std::function<void(const Statement&)>& row) {
  Statement statement(database_, sql);
  statement.bind(run);
  while (statement.step()) row(statement);
}

std::vector<StoredRun> ResultsReader::runs() {
  std::vector<StoredRun> runs;
  Statement row(database_, "SELECT * FROM runs ORDER BY id");
  while (row.step()) {
    StoredRun& run = runs.emplace_back();
    run.file = database_.path();
    for (int c = 0; c < row.columns(); ++c) {
      if (row.is_number(c)) {
        run.numbers[row.name(c)] = row.number(c);
      } else if (row.is_null(c)) {
        run.numbers[row.name(c)] = std::nullopt;
      } else {
        run.texts[row.name(c)] = clean(row.text(c));
      }
    }
    run.id = run.number("id");
  }
  return runs;
}

StoredTimes ResultsReader::times(std::int64_t run) {
  StoredTimes times;
  query("SELECT jct_us, queue_us FROM jobs WHERE run = ? AND jct_us IS NOT NULL", run, [&](const Statement& row) {
    times.jct_us.push_back(row.number(0));
    times.queue_us.push_back(row.number(1));
  });
  query("SELECT end_us, deadline_us FROM jobs WHERE run = ? AND jct_us IS NOT NULL AND end_us IS NOT NULL AND deadline_us IS NOT NULL", run,
        [&](const Statement& row) { times.late_us.push_back(core::saturate(core::Wide{row.number(0)} - row.number(1))); });
  std::sort(times.late_us.begin(), times.late_us.end());
  std::sort(times.jct_us.begin(), times.jct_us.end());
  std::sort(times.queue_us.begin(), times.queue_us.end());
  return times;
}

std::optional<StoredDeadlines> ResultsReader::deadlines(std::int64_t run) {
  std::optional<StoredDeadlines> all;
  if (!has_table("deadlines")) return all;
  query(
      "SELECT value, value_met, promised, promised_missed, warned, warned_met, refused, best_effort, best_effort_completed FROM deadlines "
      "WHERE run = ?",
      run, [&](const Statement& row) {
        all = {row.number(0), row.number(1), row.number(2), row.number(3), row.number(4),
               row.number(5), row.number(6), row.number(7), row.number(8)};
      });
  if (all && has_table("deadline_steps")) {
    query("SELECT met_later FROM deadline_steps WHERE run = ?", run, [&](const Statement& row) { all->met_later = row.number(0); });
  }
  return all;
}

std::int64_t ResultsReader::job_count(std::int64_t run) {
  std::int64_t jobs = 0;
  query("SELECT count(*) FROM jobs WHERE run = ?", run, [&](const Statement& row) { jobs = row.number(0); });
  return jobs;
}

std::vector<StoredJob> ResultsReader::jobs(std::int64_t run) {
  std::vector<StoredJob> jobs;
  query("SELECT job, gpus, submit_us, start_us, end_us, outcome FROM jobs WHERE run = ?", run, [&](const Statement& row) {
    StoredJob job{clean(row.text(0)), row.number(1), row.number(2), instant_of(row, 3), instant_of(row, 4), 0};
    const auto* end = std::find(std::begin(sim::kEndNames), std::end(sim::kEndNames), row.text(5));
    job.outcome = static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(end - std::begin(sim::kEndNames), std::size(sim::kEndNames) - 1));
    jobs.push_back(std::move(job));
  });
  return jobs;
}

std::vector<sim::Sample> ResultsReader::series(std::int64_t run) {
  std::string levels;
  for (const char* name : sim::kLevelNames) levels += fmt::format(", {}_micro", name);
  std::vector<sim::Sample> samples;
  query(fmt::format("SELECT from_us, until_us{} FROM series WHERE run = ? ORDER BY from_us", levels), run, [&](const Statement& row) {
    sim::Sample& sample = samples.emplace_back();
    sample.from_us = row.number(0);
    sample.until_us = row.number(1);
    for (int l = 0; l < sim::kLevels; ++l) sample.micro[static_cast<std::size_t>(l)] = row.number(2 + l);
  });
  return samples;
}

std::map<std::string, std::int64_t> ResultsReader::losses(std::int64_t run) {
  std::map<std::string, std::int64_t> losses;
  query("SELECT cause, gpu_us FROM losses WHERE run = ?", run, [&](const Statement& row) { losses[clean(row.text(0))] = row.number(1); });
  return losses;
}

std::map<std::string, std::string> ResultsReader::details(std::int64_t run) {
  std::map<std::string, std::string> details;
  if (!has_table("details")) return details;
  query("SELECT name, value FROM details WHERE run = ?", run,
        [&](const Statement& row) { details[clean(row.text(0))] = clean(row.text(1)); });
  return details;
}

std::string ResultsReader::sweep_inputs(std::int64_t run) {
  std::string inputs;
  if (!has_table("sweep_runs")) return inputs;
  query("SELECT inputs FROM sweep_runs WHERE run = ?", run, [&](const Statement& row) { inputs = clean(row.text(0)); });
  return inputs;
}

std::vector<InputFile> ResultsReader::inputs(std::int64_t run) {
  std::vector<InputFile> files;
  if (!has_table("inputs")) return files;
  query("SELECT option, path, bytes, sha256 FROM inputs WHERE run = ?", run, [&](const Statement& row) {
    files.push_back({clean(row.text(0)), clean(row.text(1)), row.number(2), clean(row.text(3))});
  });
  return files;
}

std::vector<sim::StayNode> ResultsReader::nodes(std::int64_t run) {
  std::vector<sim::StayNode> nodes;
  if (!has_table("nodes")) return nodes;
  query("SELECT name, gpus FROM nodes WHERE run = ? ORDER BY node", run, [&](const Statement& row) {
    nodes.push_back({clean(row.text(0)), static_cast<std::int32_t>(std::clamp<std::int64_t>(row.number(1), 0, 64))});
  });
  return nodes;
}

std::int64_t ResultsReader::stay_count(std::int64_t run) {
  std::int64_t stays = 0;
  if (has_table("stays")) query("SELECT count(*) FROM stays WHERE run = ?", run, [&](const Statement& row) { stays = row.number(0); });
  return stays;
}

std::vector<StoredStay> ResultsReader::stays(std::int64_t run) {
  std::vector<StoredStay> stays;
  if (!has_table("stays")) return stays;
  query("SELECT job, node, share_ppm, gpus, from_us, until_us FROM stays WHERE run = ?", run, [&](const Statement& row) {
    stays.push_back(
        {clean(row.text(0)), row.number(1), row.number(2), static_cast<std::uint64_t>(row.number(3)), row.number(4), row.number(5)});
  });
  return stays;
}

}  // namespace berth::results
