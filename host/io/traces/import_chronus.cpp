#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/files/read_whole.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/testbed_cluster.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMaxValue = 999'999'999;

/// "159-189-229-289" and "10-8-5-2": finishing within 159 s has the value 10, within 189 s 8, and so on. Instants count from submission.
std::vector<DeadlineStep> read_steps(const CsvReader& row, int times, int values) {
  const auto when = core::split(row.text(times), '-'), amounts = core::split(row.text(values), '-');
  if (when.size() != amounts.size())
    row.refuse(values, core::counted(static_cast<std::int64_t>(when.size()), "value") + ", one for each expected time");
  std::vector<DeadlineStep> steps;
  for (std::size_t i = 0; i < when.size(); ++i) {
    const auto after = core::parse_seconds(when[i]);
    if (!after || (!steps.empty() && *after <= steps.back().at_us)) row.refuse(times, "ascending seconds, separated by dashes");
    const auto value = core::parse_whole(amounts[i], kMaxValue);
    if (!value) row.refuse(values, "whole numbers, separated by dashes");
    steps.push_back({*after, *value});
  }
  return steps;
}

class DeadlineColumns {
 public:
  explicit DeadlineColumns(const CsvReader& row)
      : times_(row.column("expect_time_list")),
        values_(row.column("expect_value_list")),
        best_effort_(row.column("best_effort")),
        type_(row.column("job_type")) {}

  /// Sets the job's deadline. Best-effort jobs have none: their lists contain only the submission.
  void read(const CsvReader& row, TraceJob& job) const {
    const std::string_view type = row.text(type_);
    if (type != "strict" && type != "soft" && type != "best") row.refuse(type_, "strict, soft or best");
    if (row.integer(best_effort_, 0, 1) != (type == "best" ? 1 : 0)) row.refuse(best_effort_, "1 for job_type best, and 0 for the others");
    if (type == "best") return;
    const std::vector<DeadlineStep> steps = read_steps(row, times_, values_);
    if (job.submit_us > kMaxTimeUs - steps.back().at_us) row.refuse(times_, "an instant that can be counted");
    job.deadline_us = job.submit_us + steps.front().at_us;
    job.deadline_hard = type == "strict";
    job.deadline_value = steps.front().value;
    job.deadline_later.assign(steps.begin() + 1, steps.end());
    if (job.deadline_hard && steps.size() > 1) row.refuse(times_, "one time for a strict job");
    if (std::ssize(job.deadline_later) > kMaxLaterSteps)
      row.refuse(times_, fmt::format("at most {} seconds, separated by dashes", 1 + kMaxLaterSteps));
    for (std::size_t i = 1; i < steps.size(); ++i) {
      if (steps[i].value < 1 || steps[i].value >= steps[i - 1].value) row.refuse(values_, "falling whole numbers, at least 1");
    }
    for (DeadlineStep& step : job.deadline_later) step.at_us += job.submit_us;
  }

 private:
  int times_, values_, best_effort_, type_;
};

/// (model, GPUs) -> the profile of such jobs: their speed on one node and on several, relative to one node.
using Spreads = std::map<std::pair<std::string, std::int32_t>, Profile>;

std::int32_t key_number(JsonCursor& in, std::string_view key, std::int32_t most) {
  const std::int64_t value = core::parse_whole(key, most).value_or(0);
  if (value < 1) in.fail(fmt::format("expected a count from 1 to {} as the key, found '{}'", most, key));
  return static_cast<std::int32_t>(value);
}

/// One GPU count of one model. Two rates are kept: for one node, and for the fewest of several nodes, as jobs use whole nodes.
Profile read_spread(JsonCursor& in, const std::string& model, std::int32_t gpus) {
  std::map<std::int32_t, std::int64_t> speed;
  in.object([&](std::string_view nodes) {
    const std::int32_t n = key_number(in, nodes, gpus);
    const auto value = parse_measured(in.raw(), 6);
    if (!value || *value < 1) in.fail(fmt::format("expected a speed above 0, found {}", in.shown()));
    if (!speed.emplace(n, *value).second) in.fail(fmt::format("duplicate speed on {}", core::counted(n, "node")));
  });
  if (speed.count(1) == 0) in.fail("no speed on one node");
  Profile profile;
  profile.kind = ProfileKind::kTable;
  profile.model = model;
  profile.points.push_back({"", gpus, 0, "node", speed.at(1)});
  if (speed.size() > 1) profile.points.push_back({"", gpus, 0, "", std::next(speed.begin())->second});
  return profile;
}

Spreads read_spreads(GzipInput& input) {
  const std::string json = read_whole(input);
  const std::string& name = input.name();
  Spreads spreads;
  JsonCursor in(json, name);
  in.object([&](std::string_view model_key) {
    const std::string model(model_key);
    in.object([&](std::string_view gpus_key) {
      const std::int32_t gpus = key_number(in, gpus_key, kMaxGpusPerJob);
      if (!spreads.emplace(std::make_pair(model, gpus), read_spread(in, model, gpus)).second) {
        in.fail(fmt::format("the speeds of '{}' on {} stand here twice", model, core::counted(gpus, "GPU")));
      }
    });
  });
  in.finish();
  return spreads;
}

/// job_id,user,num_gpu,submit_time,iterations,model_name,duration,interval,expect_time_list,expect_value_list,best_effort,job_type
Imported import_chronus(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  Imported imported;
  Spreads spreads;
  std::vector<CsvReader> tables;
  for (const std::string& file : files) {
    auto input = std::make_unique<GzipInput>(file);
    if (input->peek() != '{') {
      tables.emplace_back(std::move(input));
      continue;
    }
    if (!spreads.empty()) throw InvalidArgument(fmt::format("{}: a second file of model speeds", file));
    spreads = read_spreads(*input);
    if (spreads.empty()) throw InputError(input->name(), "", 1, "no model");
  }
  CsvReader row = jobs_with_cluster("chronus", std::move(tables), imported);
  const int id = row.column("job_id"), user = row.column("user"), gpus = row.column("num_gpu"), submit = row.column("submit_time"),
            model = row.column("model_name"), duration = row.column("duration");
  const DeadlineColumns deadlines(row);
  TraceBuilder trace("chronus", row.file());
  std::map<std::string, Profile> used;
  while (row.next()) {
    TraceJob job;
    job.id = row.text(id);
    job.user = row.text(user);
    job.virtual_cluster = job.user;
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    job.submit_us = row.seconds(submit);
    job.run_us = row.signed_seconds(duration);
    job.model = row.text(model);
    deadlines.read(row, job);
    const auto spread = spreads.find({job.model, job.gpus});
    if (spread != spreads.end()) {
      job.profile = fmt::format("{}, {}", job.model, core::counted(job.gpus, "GPU"));
      job.work = job.run_us;  // seconds on one node
      if (job.gpus > 0 && job.run_us > 0) used.emplace(job.profile, spread->second);
    }
    trace.add(std::move(job), row);
  }
  trace.note("a deadline counts from submission; the value of a soft one may fall in steps");
  trace.note(
      "the workload is compressed: what is published puts 30,940 jobs into 5.6 hours. user is the virtual cluster of the Philly log");
  if (spreads.empty()) {
    trace.note("no model_info.json: a job is as fast across nodes as on one");
  } else {
    trace.note("speeds are relative to one node; for several nodes that of the fewest which the file has");
  }
  imported.trace = trace.finish();
  imported.trace.profiles.assign(used.begin(), used.end());
  return imported;
}

}  // namespace

std::vector<Importer> chronus_importers() {
  return {
      {"chronus", "Chronus, deadline workloads from Philly (SoCC '21)",
       "one jobs CSV; model_info.json (speed across nodes); cluster spec CSV", import_chronus},
  };
}

}  // namespace berth::io
