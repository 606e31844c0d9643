#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/philly.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

// Daylight saving time in US Pacific time ended at 02:00 on this day, so this hour occurs twice.
constexpr const char* kTwiceFrom = "2017-11-05T01:00:00";
constexpr const char* kTwiceTo = "2017-11-05T02:00:00";

struct PhillyRow {
  TraceJob job;
  std::uint64_t scrambled = 0;
  int line = 0;
};

/// Scrambles a duration. The numbering of jobs with equal keys must not depend on the order of rows.
/// It must not show which of them is longer either, because job ids enter snapshots.
std::uint64_t scramble(TimeUs duration) {  // the finaliser of MurmurHash3
  auto x = static_cast<std::uint64_t>(duration);
  x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
  x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

/// "6214e9-20171009T070155-1g": only what the cluster knew at submission, without the run time.
std::string key_of(const TraceJob& job) {
  std::string stamp = core::format_civil(job.submit_us);
  stamp.erase(std::remove_if(stamp.begin(), stamp.end(), [](char c) { return c == '-' || c == ':'; }), stamp.end());
  return fmt::format("{}-{}-{}g", job.virtual_cluster, stamp, job.gpus);
}

/// timestamp,duration,num_gpus,gpu_time,cluster: the subset that Pollux and Sia sample from. Not sorted, no job ids.
Trace read_csv(CsvReader& row) {
  const int timestamp = row.column("timestamp"), duration = row.column("duration"), gpus = row.column("num_gpus"),
            cluster = row.column("cluster"), gpu_time = row.find("gpu_time");
  std::vector<PhillyRow> rows;
  while (row.next()) {
    TraceJob job;
    job.submit_us = row.civil(timestamp);
    job.run_us = row.signed_seconds(duration);
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    job.virtual_cluster = row.text(cluster);
    // Checks the units: seconds and whole GPUs.
    if (gpu_time >= 0 && static_cast<__int128>(row.signed_seconds(gpu_time)) != static_cast<__int128>(job.run_us) * job.gpus) {
      row.refuse(gpu_time, "duration x num_gpus");
    }
    job.id = key_of(job);
    const std::uint64_t scrambled = scramble(job.run_us);
    rows.push_back({std::move(job), scrambled, row.line()});
    if (rows.size() > static_cast<std::size_t>(kMaxJobs)) row.refuse(timestamp, fmt::format("at most {} jobs", kMaxJobs));
  }
  std::sort(rows.begin(), rows.end(),
            [](const PhillyRow& a, const PhillyRow& b) { return std::tie(a.job.id, a.scrambled) < std::tie(b.job.id, b.scrambled); });
  TraceBuilder trace("philly", row.file());
  std::string key;
  std::int64_t ordinal = 0;
  for (PhillyRow& one : rows) {
    ordinal = one.job.id == key ? ordinal + 1 : 1;
    key = one.job.id;
    one.job.id += fmt::format("-{}", ordinal);
    trace.add(std::move(one.job), row.file(), one.line);
  }
  trace.note("the source has no job ids: ids are virtual cluster, submission, GPUs and a number among equals, whatever the order of rows");
  trace.note("users, final states and queueing times are not in this file, and its selection rule is not documented");
  return finish_philly(trace);
}

/// The official log is the only JSON among the files.
bool is_json_name(const std::string& file) {
  const auto ends = [&](const std::string& tail) {
    return file.size() >= tail.size() && file.compare(file.size() - tail.size(), tail.size(), tail) == 0;
  };
  return ends(".json") || ends(".json.gz");
}

}  // namespace

Trace finish_philly(TraceBuilder& trace) {
  const TimeUs from = *core::parse_civil(kTwiceFrom), to = *core::parse_civil(kTwiceTo);
  const auto twice = std::count_if(trace.jobs().begin(), trace.jobs().end(),
                                   [&](const TraceJob& job) { return job.submit_us >= from && job.submit_us < to; });
  trace.note(
      fmt::format("times are the cluster's wall clock (US Pacific), taken as even: the hour from {} occurred twice, {} jobs were submitted "
                  "in it, and later instants stand one hour too near to earlier ones",
                  kTwiceFrom, twice));
  trace.start_at_first_submission();
  return trace.finish();
}

namespace {

Imported import_philly(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  Imported imported;
  bool have_trace = false;
  std::vector<std::pair<std::string, std::int64_t>> vc_nodes;
  const auto take = [&](Trace trace, const std::string& file) {
    if (have_trace) throw InvalidArgument(fmt::format("{}: a second file of jobs", file));
    imported.trace = std::move(trace);
    have_trace = true;
  };
  for (const std::string& file : files) {
    if (is_json_name(file)) {
      take(read_philly_json(file), file);
      continue;
    }
    CsvReader row(file);
    if (row.find("machineId") >= 0) {
      if (imported.cluster) throw InvalidArgument(fmt::format("{}: a second list of machines", file));
      imported.cluster = read_philly_machines(row);
    } else if (row.find("node num") >= 0) {
      if (!vc_nodes.empty()) throw InvalidArgument(fmt::format("{}: a second list of virtual clusters", file));
      vc_nodes = read_philly_vc_nodes(row);
    } else {
      take(read_csv(row), file);
    }
  }
  if (!have_trace) throw InvalidArgument("philly: no file of jobs");
  if (!vc_nodes.empty() && !imported.cluster)
    throw InvalidArgument("philly: node counts of virtual clusters need the list of machines, too");
  if (!vc_nodes.empty()) deal_philly_machines(*imported.cluster, vc_nodes, imported.cluster_notes);
  return imported;
}

}  // namespace

std::vector<Importer> philly_importers() {
  return {
      {"philly", "Microsoft Philly (2017)", "one jobs file (Pollux CSV or cluster_job_log.json); cluster_machine_list.csv; vc node counts",
       import_philly},
  };
}

}  // namespace berth::io
