#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

/// Time 0 of the published 4-column sample, local to the cluster.
constexpr const char* kSampleOrigin = "2020-03-18T04:01:39";
constexpr int kGpusPerNode = 8;

/// job_id,arrival_s,service_sec,gpu_count: all GPU jobs of Venus, with run times cut at 48 h.
Trace read_sample(CsvReader& row) {
  const int id = row.column("job_id"), arrival = row.column("arrival_s"), service = row.column("service_sec"),
            gpus = row.column("gpu_count");
  TraceBuilder trace("helios-venus", row.file());
  while (row.next()) {
    TraceJob job;
    job.id = row.text(id);
    if (job.id.compare(0, 4, "ali-") == 0) row.refuse(id, "a Slurm job id (this is the PAI sample: format pai)");
    job.submit_us = row.seconds(arrival);
    job.run_us = row.signed_seconds(service);
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    trace.add(std::move(job), row);
  }
  trace.mark_clamped();
  trace.note("jobs of all final states are mixed; users, virtual clusters and states are not in this file");
  trace.note("times are local to the cluster (China, no daylight saving)");
  return trace.finish(kSampleOrigin);
}

struct HeliosStatus {
  std::string_view source, status;
  bool ended;
};
constexpr std::array<HeliosStatus, 7> kStates{{{"COMPLETED", "completed", true},
                                               {"CANCELLED", "cancelled", true},
                                               {"FAILED", "failed", true},
                                               {"TIMEOUT", "timeout", true},
                                               {"NODE_FAIL", "node_fail", true},
                                               {"RUNNING", "", false},
                                               {"SUSPENDED", "", false}}};

bool blank(std::string_view text) { return text.empty() || text == "None" || text == "Unknown" || text == "nan"; }

/// The official CSV. The run time is end - start; the `duration` column is only compared with it.
Trace read_official(CsvReader& row) {
  const int id = row.column("job_id"), user = row.column("user"), vc = row.column("vc"), gpus = row.column("gpu_num"),
            cpus = row.column("cpu_num"), state = row.column("state"), submit = row.column("submit_time"), start = row.column("start_time"),
            end = row.column("end_time"), duration = row.find("duration");
  TraceBuilder trace("helios-venus", row.file());
  std::int64_t other_duration = 0, early = 0;
  while (row.next()) {
    TraceJob job;
    job.id = row.text(id);
    job.user = row.text(user);
    job.virtual_cluster = row.text(vc);
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    job.cpu_milli = row.integer(cpus, 0, kMaxGpusPerJob) * 1'000;
    job.submit_us = row.civil(submit);
    const std::string_view text = row.text(state).substr(0, row.text(state).find(' '));  // Slurm writes "CANCELLED by 1001"
    const auto known = std::find_if(kStates.begin(), kStates.end(), [&](const HeliosStatus& s) { return s.source == text; });
    if (known == kStates.end()) row.refuse(state, "COMPLETED, CANCELLED, FAILED, TIMEOUT, NODE_FAIL, RUNNING or SUSPENDED");
    job.status = known->status;
    if (job.gpus == 0) {
      trace.drop("CPU job (gpu_num 0)");
      continue;
    }
    if (!known->ended) {
      trace.drop("state " + std::string(text));
      continue;
    }
    if (blank(row.text(start)) || blank(row.text(end))) {
      trace.drop("no start or end time");
      continue;
    }
    const TimeUs from = row.civil(start), to = row.civil(end);
    job.run_us = to - from;
    if (from < job.submit_us) ++early;
    if (duration >= 0 && !blank(row.text(duration)) && row.signed_seconds(duration) != job.run_us) ++other_duration;
    trace.add(std::move(job), row);
  }
  trace.note("run time is end_time - start_time; submission is submit_time, and start times are left to the replay");
  if (other_duration > 0) trace.note(core::counted(other_duration, "row") + " with another duration than end_time - start_time");
  if (early > 0) trace.note(core::counted(early, "row") + " with a start before the submission");
  trace.note("time 0 is the first submission kept; times are local to the cluster (China, no daylight saving)");
  trace.start_at_first_submission();
  return trace.finish();
}

struct DayQuotas {
  std::string date;
  std::vector<std::pair<std::string, std::int64_t>> gpus;  ///< (virtual cluster, GPUs), in the file's order
};

/// Whether date `a` suits `day` better than `b`: the last one not after it, otherwise the first of all.
bool nearer(const std::string& a, const std::string& b, const std::string& day) {
  if ((a <= day) != (b <= day)) return a <= day;
  return a <= day ? a > b : a < b;
}

/// Reads date x virtual cluster -> GPUs with a total, rows in any order. Keeps the row that suits `day` ("YYYY-MM-DD") best.
DayQuotas read_quotas(CsvReader& row, const std::string& day) {
  const int date = row.column("date"), total = row.column("total");
  DayQuotas best;
  while (row.next()) {
    DayQuotas one{std::string(row.text(date)), {}};
    if (!core::parse_civil(one.date + "T00:00:00")) row.refuse(date, "a date YYYY-MM-DD");
    std::int64_t sum = 0;
    for (int c = 0; c < static_cast<int>(row.header().size()); ++c) {
      if (c == date || c == total) continue;
      const std::int64_t gpus = row.integer(c, 0, std::int64_t{kMaxNodes} * kGpusPerNode);
      if (gpus % kGpusPerNode != 0) row.refuse(c, "whole nodes of 8 GPUs");
      one.gpus.emplace_back(row.header()[static_cast<std::size_t>(c)], gpus);
      sum += gpus;
    }
    if (sum != row.integer(total, 0, kMaxGpusPerJob)) row.refuse(total, fmt::format("the sum of the row, {}", sum));
    if (best.date.empty() || nearer(one.date, best.date, day)) best = std::move(one);
  }
  if (best.date.empty()) throw InputError(row.file(), "", row.line(), "no row of quotas");
  return best;
}

Snapshot quota_cluster(const DayQuotas& quotas, bool with_names) {
  Snapshot cluster;
  cluster.name = "helios-venus " + quotas.date;
  cluster.gpu_types.push_back({});
  cluster.gpu_types.back().id = "gpu";
  for (const auto& [vc, gpus] : quotas.gpus) {
    for (std::int64_t i = 0; i < gpus / kGpusPerNode; ++i) {
      Node node;
      node.id = fmt::format("{}-{:03}", vc, i);
      node.gpu_type = "gpu";
      node.gpus = kGpusPerNode;
      if (with_names) node.virtual_clusters.push_back(vc);
      cluster.nodes.push_back(std::move(node));
    }
  }
  return cluster;
}

void derive_cluster(Imported& imported, CsvReader& row, const ImportOptions& options) {
  std::string day;
  if (!options.at.empty()) {
    const auto origin = core::parse_civil(imported.trace.origin_iso);
    const TimeUs at = core::parse_instant(options.at, imported.trace.origin_iso);
    if (origin) day = core::format_civil(*origin + at).substr(0, 10);
  }
  const DayQuotas quotas = read_quotas(row, day);
  const bool with_names =
      std::any_of(imported.trace.jobs.begin(), imported.trace.jobs.end(), [](const TraceJob& job) { return !job.virtual_cluster.empty(); });
  imported.cluster = quota_cluster(quotas, with_names);
  imported.cluster_notes.push_back(fmt::format(
      "nodes of 8 GPUs from the GPU quota of each virtual cluster on {}; GPU types and the network are not published", quotas.date));
  if (!day.empty() && quotas.date > day)
    imported.cluster_notes.push_back(fmt::format("the quotas begin on {}, after {}", quotas.date, day));
  if (!with_names) imported.cluster_notes.push_back("the trace names no virtual clusters, so every node serves every job");
}

Imported import_helios(const std::vector<std::string>& files, const ImportOptions& options) {
  Imported imported;
  bool have_trace = false;
  std::optional<CsvReader> quotas;
  for (const std::string& file : files) {
    CsvReader row(file);
    if (row.find("date") >= 0 && row.find("total") >= 0) {
      if (quotas) throw InvalidArgument(fmt::format("{}: a second file of GPU quotas", file));
      quotas.emplace(std::move(row));
      continue;
    }
    if (have_trace) throw InvalidArgument(fmt::format("{}: a second file of jobs", file));
    imported.trace = row.find("arrival_s") >= 0 ? read_sample(row) : read_official(row);
    have_trace = true;
  }
  if (!have_trace) throw InvalidArgument("helios-venus: no file of jobs");
  if (quotas) derive_cluster(imported, *quotas, options);
  return imported;
}

}  // namespace

std::vector<Importer> helios_importers() {
  return {
      {"helios-venus", "Helios, cluster Venus (SenseTime, 2020)",
       "one jobs CSV (4-column sample or official); venus_cluster_gpu_number.csv", import_helios},
  };
}

}  // namespace berth::io
