#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/cli/base/common_options.hpp"
#include "host/cli/base/console.hpp"
#include "host/cli/base/echoed.hpp"
#include "host/cli/base/load.hpp"
#include "host/cli/base/places.hpp"
#include "host/cli/base/slurm_input.hpp"
#include "host/cli/import/topology_options.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/base/violations.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/kai/kai.hpp"
#include "host/io/kueue/kueue.hpp"
#include "host/io/topology/topology_formats.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/replay/replay.hpp"

namespace berth::cli {
namespace {

/// The formats that are not traces: the current state of a cluster.
constexpr std::string_view kKai = "kai", kKueue = "kueue", kSlurm = "slurm";

struct ImportArguments {
  std::string format, cluster, at, out;
  bool held = false;
  std::string estimates = "history-mean";
  bool elastic = false;
  TopologyOptions topology;
  std::vector<std::string> files;
};

std::string reader_names() {
  std::vector<std::string_view> names;
  for (const io::TopologyReader& reader : io::topology_readers()) names.push_back(reader.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string formats() {
  std::string text = "\nFormats of traces:\n";
  const auto add = [&text](std::string_view name, std::string_view help, std::string_view files) {
    constexpr std::size_t kName = 18, kWidth = 80;
    std::string lines = wrapped_text(help, kWidth - kName) + "\n" + wrapped_text(files, kWidth - kName);
    for (std::size_t end = lines.find('\n'); end != lines.npos; end = lines.find('\n', end + kName)) lines.insert(end + 1, kName, ' ');
    text += fmt::format("  {:<15} {}\n", name, lines);
  };
  for (const io::Importer& importer : io::importers()) add(importer.name, importer.help, importer.files);
  text += "\nFormats of clusters:\n";
  add(kKai, "a cluster of KAI-Scheduler as it is now, to berth.snapshot.v1", "one snapshot.zip of its snapshot plugin, or the JSON in it");
  add(kSlurm, "a Slurm cluster as it is now, to berth.snapshot.v1",
      "squeue --json; sinfo --json or scontrol show nodes --json; scontrol show topology, topology.conf or topology.yaml. "
      "Also sacctmgr -P show assoc and qos, or scontrol show assoc_mgr");
  for (const io::TopologyReader& reader : io::topology_readers()) add(reader.name, reader.help, reader.files);
  return text;
}

void check_format(const std::string& format) {
  std::vector<std::string_view> names;
  for (const io::Importer& importer : io::importers()) names.push_back(importer.name);
  names.push_back(kKai);
  names.push_back(kSlurm);
  for (const io::TopologyReader& reader : io::topology_readers()) names.push_back(reader.name);
  for (const std::string_view name : names) {
    if (name == format) return;
  }
  throw InvalidArgument(
      fmt::format("unknown format '{}' (known: {}){}", echoed(format), fmt::join(names, ", "), core::did_you_mean(format, names)));
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

// An empty snapshot is rarely intended: TIME is outside of the trace, or in another unit than expected.
void warn_if_empty(const Snapshot& snapshot, const Trace& trace) {
  if (!snapshot.jobs.empty() || trace.jobs.empty()) return;
  print_error(fmt::format("warning: no job runs or waits at {}; jobs are submitted from {} to {}", instant_text(trace, snapshot.now_us),
                          instant_text(trace, trace.jobs.front().submit_us), instant_text(trace, trace.jobs.back().submit_us)));
}

std::string types_of(const Snapshot& cluster) {
  std::vector<std::string_view> types;
  for (const GpuType& type : cluster.gpu_types) types.push_back(type.id);
  return fmt::format("{}", fmt::join(types, ", "));
}

// Jobs too large for the empty cluster, or of a GPU type that it does not have.
std::string rejected_text(const Trace& trace, const Snapshot& cluster, const std::vector<std::int32_t>& rejected) {
  if (rejected.empty()) return {};
  const TraceJob& first = trace.jobs[static_cast<std::size_t>(rejected.front())];
  return fmt::format("  note: {} left out: the empty cluster cannot hold them (first: {} asks for {}{}; the cluster has {})\n",
                     core::counted(static_cast<std::int64_t>(rejected.size()), "job"), first.id, core::counted(first.gpus, "GPU"),
                     first.gpu_type.empty() ? "" : " of type " + first.gpu_type, types_of(cluster));
}

// Jobs measured on other GPU types: a policy has no rates for them.
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

/// Locations in errors refer to the snapshot, which the user has not seen, so it is named after its source file.
std::string made_from(const std::string& file) { return "snapshot made from " + io::input_name(file); }

int write_snapshot(const ImportArguments& options, const Snapshot& snapshot, const std::string& name, std::string_view account = "") {
  check_snapshot(snapshot, name);
  write_out(options.out, io::to_json(snapshot));
  print_message(options.out, fmt::format("{}{}: berth.snapshot.v1, {}\n", account, io::output_name(options.out), summary(snapshot)));
  return kDone;
}

int import_slurm(const ImportArguments& options) {
  if (!options.at.empty() || !options.cluster.empty())
    throw InvalidArgument("--at and --cluster are for traces: what Slurm prints is of now, and has its cluster");
  check_files(options);
  const io::SlurmOptions slurm{options.held, link_options(options.topology), node_defaults(options.topology), options.topology.topology};
  return write_snapshot(options, read_slurm(options.files, slurm).snapshot, kSlurmName);
}

int import_kai(const ImportArguments& options) {
  if (!options.at.empty() || !options.cluster.empty())
    throw InvalidArgument("--at and --cluster are for traces: a snapshot of KAI is of one instant, and has its cluster");
  if (options.files.size() != 1) throw InvalidArgument(fmt::format("kai takes one file, and {} are given", options.files.size()));
  check_files(options);
  const std::string name = io::input_name(options.files.front());
  const io::KaiImport imported = io::import_kai(io::read_file(options.files.front()), name);
  for (const std::string& note : imported.notes) print_error("note: " + note);
  return write_snapshot(options, imported.snapshot, made_from(options.files.front()));
}

int import_kueue(const ImportArguments& options) {
  if (!options.at.empty()) throw InvalidArgument("--at is for traces: the objects of Kueue are of one instant");
  check_files(options);
  std::vector<io::KueueInput> inputs;
  for (const std::string& file : options.files) inputs.push_back({io::input_name(file), io::read_file(file)});
  io::KueueOptions kueue{link_options(options.topology), node_defaults(options.topology), options.topology.topology};
  Snapshot cluster;
  if (!options.cluster.empty()) {
    cluster = io::cluster_from(options.cluster, {});
    kueue.cluster = &cluster;
  }
  const io::KueueImport imported = io::import_kueue(inputs, kueue);
  for (const std::string& note : imported.notes) print_error("note: " + note);
  return write_snapshot(options, imported.snapshot, made_from(options.files.front()));
}

int import_topology(const ImportArguments& options, const io::TopologyReader& reader) {
  if (!options.at.empty() || !options.cluster.empty()) throw InvalidArgument("--at and --cluster are for traces: a topology has no jobs");
  check_files(options);
  const io::LinkOptions links = link_options(options.topology);
  io::ImportNotes notes;
  io::TopologyModel model = reader.read(options.files, options.topology.topology, notes);
  io::apply_links(links, model);
  Snapshot snapshot;
  snapshot.name = reader.name;
  io::add_to_snapshot(model, node_defaults(options.topology), snapshot);
  for (const std::string& note : notes.lines()) print_error("note: " + note);
  return write_snapshot(options, snapshot, made_from(options.files.front()));
}

int run(const ImportArguments& options) {
  check_format(options.format);
  if (options.format == kSlurm) return import_slurm(options);
  if (options.held) throw InvalidArgument("--held is for the format slurm");
  if (options.format == kKueue) return import_kueue(options);
  for (const io::TopologyReader& reader : io::topology_readers()) {
    if (reader.name == options.format) return import_topology(options, reader);
  }
  if (!options.topology.any().empty()) {
    throw InvalidArgument(fmt::format("{} is for topologies: the formats slurm, {}", options.topology.any(), reader_names()));
  }
  if (options.format == kKai) return import_kai(options);
  if (options.at.empty() && !options.cluster.empty()) throw InvalidArgument("--cluster needs --at: a trace has no cluster");
  check_files(options);
  const sim::EstimateSource estimates = sim::estimate_source(options.estimates);
  const io::Imported imported = io::import_files(options.format, options.files, {options.at});
  std::string text = account(imported.trace);
  if (options.at.empty()) {
    write_out(options.out, [&](const io::WritePiece& write) { io::write_json(imported.trace, write); });
    print_message(options.out, text + fmt::format("{}: berth.trace.v1\n", io::output_name(options.out)));
    return kDone;
  }
  const TimeUs at = core::parse_instant(options.at, imported.trace.origin_iso);
  if (at < 0)
    throw InvalidArgument(
        fmt::format("--at '{}' lies before the trace, which begins at {}", echoed(options.at), imported.trace.origin_iso));
  const Snapshot cluster = io::cluster_from(options.cluster, imported);
  sim::SnapshotAccount of_jobs;
  const Snapshot snapshot = sim::snapshot_at(imported.trace, cluster, at, estimates, options.elastic, &of_jobs);
  text += rejected_text(imported.trace, cluster, of_jobs.rejected);
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
  CLI::App& app = commands.add("import", "Import a published trace, a cluster or a topology",
                               "berth import helios-venus jobs.csv.gz --cluster 64x8 \\\n"
                               "    --at +6000000 --out cluster.json\n" +
                                   formats(),
                               options, &run);
  app.add_option("FORMAT", options->format, "Read files of this format (listed below)")->required();
  app.add_option("FILE", options->files, "Read the jobs, and what describes the cluster; plain or .gz")->required();
  app.add_option("--cluster", options->cluster, "With --at or kueue, use this cluster: a file, 32x8, or 8x4xV100+8x4xK80")->type_name("C");
  app.add_option("--at", options->at, "Rebuild the snapshot at TIME, first come first served (ISO or +SECONDS)")->type_name("TIME");
  app.add_option("--estimates", options->estimates, "With --at, estimate run times from this source; oracle is the truth")
      ->check(CLI::IsMember({"history-mean", "none", "oracle"}))
      ->type_name("SOURCE")
      ->capture_default_str();
  app.add_flag("--elastic", options->elastic, "With --at, let elastic jobs run at every GPU count that was measured");
  app.add_flag("--held", options->held, "With slurm, plan held jobs as if they were released now");
  add_topology_options(app, options->topology);
  add_out_option(app, options->out, "Write the trace or snapshot to FILE")->required();
}

}  // namespace berth::cli
