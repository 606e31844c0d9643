#include <utility>

#include "berth/error.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/testbed_cluster.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

/// Muri, Chronus and ElasticFlow write the same columns and more, in other units or with other meanings.
void refuse_descendants(const CsvReader& row) {
  const auto other = [&](const char* column, const char* what) {
    if (row.find(column) >= 0) throw InputError(row.file(), "", 1, what);
  };
  other("iteration_time", "this is a trace of Muri, whose times are milliseconds: format muri");
  other("expect_time_list", "this is a trace of Chronus: format chronus");
  other("ddl", "this is a trace of ElasticFlow, which no format reads");
}

/// job_id,num_gpu,submit_time,iterations,model_name,duration,interval: all times are seconds.
Imported import_tiresias(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  Imported imported;
  CsvReader row = jobs_with_cluster("tiresias", open_tables(files), imported);
  refuse_descendants(row);
  const int id = row.column("job_id"), gpus = row.column("num_gpu"), submit = row.column("submit_time"), model = row.column("model_name"),
            duration = row.column("duration");
  TraceBuilder trace("tiresias", row.file());
  while (row.next()) {
    TraceJob job;
    job.id = row.text(id);
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    job.submit_us = row.seconds(submit);
    job.run_us = row.signed_seconds(duration);
    job.model = row.text(model);
    trace.add(std::move(job), row);
  }
  trace.note("times are seconds; iterations are left out: how fast a model runs is not in this file");
  imported.trace = trace.finish();
  return imported;
}

}  // namespace

std::vector<Importer> tiresias_importers() {
  return {
      {"tiresias", "Tiresias (NSDI '19), times in seconds", "one jobs CSV; cluster spec CSV", import_tiresias},
  };
}

}  // namespace berth::io
