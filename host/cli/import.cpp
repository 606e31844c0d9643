#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/common_options.hpp"
#include "host/cli/console.hpp"
#include "host/cli/load.hpp"
#include "host/cli/places.hpp"
#include "host/cli/slurm_input.hpp"
#include "host/core/civil_time.hpp"
#include "host/core/suggest.hpp"
#include "host/core/violations.hpp"
#include "host/io/file_error.hpp"
#include "host/io/importers.hpp"
#include "host/io/kai.hpp"
#include "host/io/trace_json.hpp"
#include "host/sim/replay.hpp"

namespace berth::cli {
namespace {

/// The formats that are no traces: a cluster as it is now.
constexpr std::string_view kKai = "kai", kSlurm = "slurm";

struct ImportArguments {
  std::string format, cluster, at, out;
  bool held = false;
  std::string estimates = "history-mean";
  bool elastic = false;
  std::vector<std::string> files;
};

std::string formats() {
  std::string text = "\nFormats:\n";
  for (const io::Importer& importer : io::importers())
    text += fmt::format("  {:<15} {}\n  {:<15} {}\n", importer.name, importer.help, "", importer.files);
  text += fmt::format("  {:<15} {}\n  {:<15} {}\n", kKai, "a cluster of KAI-Scheduler as it is now, to berth.snapshot.v1", "",
                      "one snapshot.zip of its snapshot plugin, or the JSON in it");
  text += fmt::format("  {:<15} {}\n  {:<15} {}\n", kSlurm, "a Slurm cluster as it is now, to berth.snapshot.v1", "",
                      "squeue --json; sinfo --json or scontrol show nodes --json; scontrol show topology");
  return text;
}

void check_format(const std::string& format) {
  std::vector<std::string_view> names;
  for (const io::Importer& importer : io::importers()) names.push_back(importer.name);
  names.push_back(kKai);
  names.push_back(kSlurm);
  for (const std::string_view name : names) {
    if (name == format) return;
  }
  throw InvalidArgument(
      fmt::format("unknown format '{}' (known: {}){}", format, fmt::join(names, ", "), core::did_you_mean(format, names)));
}

std::string account(const Trace& trace) {
  std::string text =
      fmt::format("{}: {} from {}\n", trace.name, core::counted(static_cast<std::int64_t>(trace.jobs.size()), "job"), trace.source);
  for (const auto& [cause, count] : trace.dropped) text += fmt::format("  dropped {}: {}\n", count, cause);
  for (const std::string& note : trace.notes) text += fmt::format("  note: {}\n", note);
  return text;
}

// "+100.5 s", with the date where the trace has one.
std::string instant_text(const Trace& trace, TimeUs at) {
  const std::string date = core::civil_after(trace.origin_iso, at);
  return fmt::format("+{} s{}", core::format_seconds(at), date.empty() ? "" : " (" + date + ")");
}

// An empty snapshot is seldom what was asked for: TIME lies outside of the trace, or in a unit that was not meant.
void warn_if_empty(const Snapshot& snapshot, const Trace& trace) {
  if (!snapshot.jobs.empty() || trace.jobs.empty()) return;
  complain(fmt::format("warning: no job runs or waits at {}; jobs are submitted from {} to {}", instant_text(trace, snapshot.now_us),
                       instant_text(trace, trace.jobs.front().submit_us), instant_text(trace, trace.jobs.back().submit_us)));
}

std::string types_of(const Snapshot& cluster) {
  std::vector<std::string_view> types;
  for (const GpuType& type : cluster.gpu_types) types.push_back(type.id);
  return fmt::format("{}", fmt::join(types, ", "));
}

// Jobs too large for the empty cluster, or of a GPU type that it has not.
std::string declined_text(const Trace& trace, const Snapshot& cluster, const std::vector<std::int32_t>& declined) {
  if (declined.empty()) return {};
  const TraceJob& first = trace.jobs[static_cast<std::size_t>(declined.front())];
  return fmt::format("  note: {} left out: the empty cluster cannot hold them (first: {} asks for {}{}; the cluster has {})\n",
                     core::counted(static_cast<std::int64_t>(declined.size()), "job"), first.id, core::counted(first.gpus, "GPU"),
                     first.gpu_type.empty() ? "" : " of type " + first.gpu_type, types_of(cluster));
}

// Jobs that were measured, on other GPU types: a policy knows no rates of them.
std::string unmeasured_text(const Trace& trace, const Snapshot& cluster, const std::vector<std::int32_t>& unmeasured) {
  if (unmeasured.empty()) return {};
  std::set<std::pair<std::string_view, std::int32_t>> wanted;  // profile, GPU count
  for (const std::int32_t j : unmeasured) {
    const TraceJob& job = trace.jobs[static_cast<std::size_t>(j)];
    wanted.emplace(job.profile, job.gpus);
  }
  std::set<std::string_view> measured;
  for (const auto& [name, profile] : trace.profiles) {
    for (const RatePoint& point : profile.points) {
      if (wanted.count({name, point.gpus}) > 0) measured.insert(point.gpu_type);
    }
  }
  return fmt::format(
      "  note: {} without a rate measured at their GPU count on this cluster's GPU types (measured: {}; the cluster has {})\n",
      core::counted(static_cast<std::int64_t>(unmeasured.size()), "job"),
      measured.empty() ? "none" : fmt::format("{}", fmt::join(measured, ", ")), types_of(cluster));
}

void check_files(const ImportArguments& options) {
  std::vector<Place> inputs{{"--cluster", options.cluster}};
  for (const std::string& file : options.files) inputs.push_back({"FILE", file});
  check_places(inputs, {{"--out", options.out}});
}

/// Places in errors are in the snapshot, which nobody has seen, and not in the file: it is named as what it was made from.
std::string made_from(const std::string& file) { return "snapshot made from " + io::input_name(file); }

int write_snapshot(const ImportArguments& options, const Snapshot& snapshot, const std::string& name, std::string_view account = "") {
  check_snapshot(snapshot, name);
  write_out(options.out, io::to_json(snapshot));
  tell(options.out, fmt::format("{}{}: berth.snapshot.v1, {}\n", account, io::output_name(options.out), summary(snapshot)));
  return kDone;
}

int import_slurm(const ImportArguments& options) {
  if (!options.at.empty() || !options.cluster.empty())
    throw InvalidArgument("--at and --cluster are for traces: what Slurm prints is of now, and has its cluster");
  check_files(options);
  return write_snapshot(options, read_slurm(options.files, options.held).snapshot, kSlurmName);
}

int import_kai(const ImportArguments& options) {
  if (!options.at.empty() || !options.cluster.empty())
    throw InvalidArgument("--at and --cluster are for traces: a snapshot of KAI is of one instant, and has its cluster");
  if (options.files.size() != 1) throw InvalidArgument(fmt::format("kai takes one file, and {} are given", options.files.size()));
  check_files(options);
  const std::string name = io::input_name(options.files.front());
  const io::KaiImport imported = io::import_kai(io::read_file(options.files.front()), name);
  for (const std::string& note : imported.notes) complain("note: " + note);
  return write_snapshot(options, imported.snapshot, made_from(options.files.front()));
}

int run(const ImportArguments& options) {
  check_format(options.format);
  if (options.format == kSlurm) return import_slurm(options);
  if (options.held) throw InvalidArgument("--held is for the format slurm");
  if (options.format == kKai) return import_kai(options);
  if (options.at.empty() && !options.cluster.empty()) throw InvalidArgument("--cluster needs --at: a trace has no cluster");
  check_files(options);
  const sim::EstimateSource estimates = sim::estimate_source(options.estimates);
  const io::Imported imported = io::import_files(options.format, options.files, {options.at});
  std::string text = account(imported.trace);
  if (options.at.empty()) {
    write_out(options.out, [&](const io::WritePiece& write) { io::write_json(imported.trace, write); });
    tell(options.out, text + fmt::format("{}: berth.trace.v1\n", io::output_name(options.out)));
    return kDone;
  }
  const TimeUs at = core::parse_instant(options.at, imported.trace.origin_iso);
  if (at < 0)
    throw InvalidArgument(fmt::format("--at '{}' lies before the trace, which begins at {}", options.at, imported.trace.origin_iso));
  const Snapshot cluster = io::cluster_from(options.cluster, imported);
  sim::SnapshotAccount of_jobs;
  const Snapshot snapshot = sim::snapshot_at(imported.trace, cluster, at, estimates, options.elastic, &of_jobs);
  text += declined_text(imported.trace, cluster, of_jobs.declined);
  text += unmeasured_text(imported.trace, cluster, of_jobs.unmeasured);
  warn_if_empty(snapshot, imported.trace);
  if (options.cluster.empty()) {
    for (const std::string& note : imported.cluster_notes) text += fmt::format("  note: {}\n", note);
  }
  return write_snapshot(options, snapshot, made_from(options.files.front()), text);
}

}  // namespace

void add_import(Commands& commands) {
  auto options = std::make_shared<ImportArguments>();
  CLI::App& app = commands.add(
      "import", "Turn a published trace into a berth.trace.v1 or the snapshot of an instant, or a Slurm or KAI cluster into a snapshot",
      "berth import helios-venus jobs.csv.gz --cluster 64x8 --at +6000000 --out cluster.json\n" + formats(), options, &run);
  app.add_option("FORMAT", options->format, "Whose format the files have (below)")->required();
  app.add_option("FILE", options->files, "The jobs, and files that describe the cluster; plain or .gz")->required();
  app.add_option("--cluster", options->cluster,
                 "With --at: a cluster or snapshot file, NODESxGPUS such as 32x8, or 8x4xV100+8x4xK80; without it, what the files describe")
      ->type_name("C");
  app.add_option("--at", options->at, "Rebuild the snapshot of this instant, first come first served: the trace's local time, or +SECONDS")
      ->type_name("TIME");
  app.add_option("--estimates", options->estimates, "With --at: what jobs are expected to run: history-mean, none, oracle (the truth)")
      ->check(CLI::IsMember({"history-mean", "none", "oracle"}))
      ->type_name("SOURCE")
      ->capture_default_str();
  app.add_flag("--elastic", options->elastic,
               "With --at: elastic jobs may run at every GPU count that was measured, not only at the one they ask for");
  app.add_flag("--held", options->held, "With slurm: plan held jobs as if they were released now");
  add_out_option(app, options->out, "Where to write it")->required();
}

}  // namespace berth::cli
