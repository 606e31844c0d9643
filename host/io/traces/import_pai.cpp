#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {

namespace {

/// Sample of Alibaba PAI tasks (cluster-trace-gpu-v2020): job_id,arrival_s,service_sec,gpu_count.
Imported import_pai(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  if (files.size() != 1) throw InvalidArgument(fmt::format("pai takes one file, and {} are given", files.size()));
  CsvReader row(files.front());
  const int id = row.column("job_id"), arrival = row.column("arrival_s"), service = row.column("service_sec"),
            gpus = row.column("gpu_count");
  TraceBuilder trace("pai", files.front());
  while (row.next()) {
    TraceJob job;
    job.id = row.text(id);
    // The Helios sample has the same header; the ids distinguish them.
    if (job.id.compare(0, 4, "ali-") != 0) row.refuse(id, "a task id 'ali-<job>-<task>#<row>' of the PAI sample");
    job.submit_us = row.seconds(arrival);
    job.run_us = row.signed_seconds(service);
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    job.status = "completed";  // the sample has only tasks in state Terminated
    trace.add(std::move(job), row);
  }
  trace.mark_clamped();
  trace.note("arrival is the START of the task: the source has no submission times, so real queueing is already taken out");
  trace.note("GPU counts are instances x max(1, round(plan_gpu / 100)): fractions of a GPU were rounded up to whole ones");
  trace.note("one job per task; only tasks that terminated are in the sample; the calendar date of time 0 is not published");
  return {trace.finish(""), std::nullopt, {}};
}

}  // namespace

std::vector<Importer> pai_importers() {
  return {
      {"pai", "Alibaba PAI, sample of 2020 (cluster-trace-gpu-v2020)", "one jobs CSV (4-column sample)", import_pai},
  };
}

}  // namespace berth::io
