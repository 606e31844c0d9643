#include "host/io/traces/importers.hpp"

#include <fmt/format.h>

#include <utility>

#include "berth/error.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/traces/trace_json.hpp"

namespace berth::io {

const std::vector<Importer>& importers() {
  static const std::vector<Importer> all{
      {"chronus", "Chronus, deadline workloads from Philly (SoCC '21)",
       "one jobs CSV; model_info.json (speed across nodes); cluster spec CSV", import_chronus},
      {"gavel", "Gavel (OSDI '20)", "one tab-separated .trace of 7 or 10 columns, and the throughputs of its models (JSON)", import_gavel},
      {"helios-venus", "Helios, cluster Venus (SenseTime, 2020)",
       "one jobs CSV (4-column sample or official); venus_cluster_gpu_number.csv", import_helios},
      {"muri", "Muri (SIGCOMM '22), times in milliseconds", "one jobs CSV; cluster spec CSV such as n8g8.csv", import_muri},
      {"pai", "Alibaba PAI, sample of 2020 (cluster-trace-gpu-v2020)", "one jobs CSV (4-column sample)", import_pai},
      {"philly", "Microsoft Philly (2017)", "one jobs file (Pollux CSV or cluster_job_log.json); cluster_machine_list.csv; vc node counts",
       import_philly},
      {"pollux", "Pollux (OSDI '21) and Sia (SOSP '23)",
       "one workload CSV; of its applications APPLICATION/placements.csv, scalability.csv, validation-BATCH.csv", import_pollux},
      {"pollux-epochs", "Pollux and Sia, work counted by gradient statistics, at any batch size and the rate of each epoch", "as pollux",
       import_pollux_epochs},
      {"pollux-goodput", "Pollux and Sia, work counted by gradient statistics, at any batch size", "as pollux", import_pollux_goodput},
      {"pollux-progress", "Pollux and Sia, work counted by gradient statistics as its simulator does", "as pollux", import_pollux_progress},
      {"sacct", "a Slurm cluster's own accounting", "what sacct -P (see docs/trace-importers.md) or sacct --json prints", import_sacct},
      {"shockwave", "Shockwave (NSDI '23)", "one tab-separated .trace of 12 columns, and the throughputs of its models (JSON)",
       import_shockwave},
      {"tiresias", "Tiresias (NSDI '19), times in seconds", "one jobs CSV; cluster spec CSV", import_tiresias},
      {"trace", "a trace in the normal form, as import writes it without --at", "one berth.trace.v1", import_normal_form},
  };
  return all;
}

Imported import_files(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options) {
  if (files.empty()) throw InvalidArgument("no file to import");
  std::string known;
  for (const Importer& one : importers()) {
    if (one.name == format) {
      Imported imported = one.run(files, options);
      check_profiles(imported.trace, input_name(files.front()));
      return imported;
    }
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  throw InvalidArgument(fmt::format("unknown trace format '{}'; known: {}", format, known));
}

Trace import_trace(std::string_view format, const std::vector<std::string>& files, const ImportOptions& options) {
  return import_files(format, files, options).trace;
}

}  // namespace berth::io
