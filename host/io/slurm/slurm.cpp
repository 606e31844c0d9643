#include "host/io/slurm/slurm.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/slurm/slurm_accounts.hpp"
#include "host/io/slurm/slurm_cluster.hpp"
#include "host/io/slurm/slurm_jobs.hpp"
#include "host/io/slurm/slurm_json.hpp"
#include "host/io/topology/slurm_hostlist.hpp"
#include "host/io/topology/slurm_topology.hpp"

namespace berth::io {
namespace {

// Reads "now=1763770000", the output of `date +now=%s`: when the input was recorded.
// @returns the bytes read, 0 when the line is another one.
std::size_t read_clock(const JsonCursor& in, std::int64_t& now) {
  constexpr std::string_view kKey = "now=";
  const std::string_view line = in.rest().substr(0, in.rest().find('\n'));
  if (line.substr(0, kKey.size()) != kKey) return 0;
  const std::string_view digits = line.substr(kKey.size());
  const auto seconds = core::parse_whole(digits.substr(0, digits.find('\r')), kSlurmLastInstant);
  if (!seconds) in.fail_at(line.data(), "'now=' needs the seconds since 1970, as 'date +now=%s' prints them");
  now = std::max(now, *seconds);
  return line.size();
}

// Reads a topology.yaml. It begins at the start of the line, for blanks there count.
void read_yaml(JsonCursor& in, LineCounter& lines, const std::string& name, const SlurmOptions& options, SlurmTopology& topology,
               ImportNotes& notes, std::int64_t& names_left) {
  const char* const here = in.rest().data();
  const char* const begin = in.text().data();
  const char* first = here;
  while (first > begin && first[-1] == ' ') --first;
  const std::string_view text(first, in.rest().size() + static_cast<std::size_t>(here - first));
  const std::size_t bytes = read_slurm_topology_yaml(text, lines.line_of(first), name, options.topology, topology, notes, names_left);
  in.skip(bytes - static_cast<std::size_t>(here - first));
}

// Reads the JSON documents and the topology lines of one input, one after another.
void read_input(JsonCursor& in, const std::string& name, const SlurmOptions& options, SlurmData& data, SlurmTopology& topology,
                SlurmAccounts& accounts, ImportNotes& notes, std::int64_t& names_left) {
  LineCounter lines(in.text());
  while (in.more()) {
    if (in.type() == JsonType::kObject)
      read_slurm_document(in, data, notes, names_left);
    else if (const std::size_t clock = read_clock(in, data.now); clock > 0)
      in.skip(clock);
    else if (looks_like_slurm_accounts(in.rest()))
      in.skip(read_slurm_accounts(in, lines.line_of(in.rest().data()), accounts));
    else if (looks_like_slurm_yaml(in.rest()))
      read_yaml(in, lines, name, options, topology, notes, names_left);
    else
      in.skip(read_slurm_topology(in, lines, topology, notes, names_left));
  }
}

void add_gpu_types(Snapshot& snapshot) {
  std::set<std::string> types;
  for (const Node& node : snapshot.nodes) types.insert(node.gpu_type);
  // A job may name a type that no node has. Its reason can name the type only if the type exists.
  for (const Job& job : snapshot.jobs) {
    if (!job.shapes.front().gpu_type.empty()) types.insert(job.shapes.front().gpu_type);
  }
  for (const std::string& type : types) snapshot.gpu_types.emplace_back().id = type;
}

// The field with the id of a job, as in the record.
std::string id_field(const SlurmJob& job) {
  if (job.het_id != 0) return fmt::format("het_job_id {}", job.het_id);
  if (job.array_id != 0 && job.array_task >= 0) return fmt::format("array_task_id {} of array_job_id {}", job.array_task, job.array_id);
  if (!job.array_tasks.empty())
    return fmt::format("array_task_string '{}' of array_job_id {}", cut_utf8(job.array_tasks, 60), job.array_id);
  return fmt::format("job_id {}", job.id);
}

[[noreturn]] void fail_clash(const SlurmInput& in, const SlurmData& data, const SlurmJobs::Clash& clash) {
  const auto row = [&](const SlurmJob* job) { return job - data.jobs.data(); };
  const std::string place = fmt::format("/jobs/{}: {} makes job '{}'", row(clash.second), id_field(*clash.second), clash.id);
  const std::string other =
      clash.first == clash.second ? " twice" : fmt::format(", which {} at /jobs/{} makes too", id_field(*clash.first), row(clash.first));
  JsonCursor(in.text, in.name).fail_at(clash.second->at, place + other);
}

}  // namespace

SlurmImport import_slurm(const std::vector<SlurmInput>& inputs, const SlurmOptions& options) {
  if (inputs.empty()) throw InvalidArgument("no output of Slurm to import");
  SlurmData data;
  SlurmTopology topology;
  SlurmAccounts accounts;
  ImportNotes notes;
  std::int64_t names_left = kMostHostNames;
  const SlurmInput *topology_from = nullptr, *jobs_from = nullptr;
  for (const SlurmInput& input : inputs) {
    JsonCursor in(input.text, input.name);
    const bool had_jobs = data.has_jobs;
    SlurmTopology read;
    read_input(in, input.name, options, data, read, accounts, notes, names_left);
    if (data.has_jobs && !had_jobs) jobs_from = &input;
    if (!read.found) continue;
    if (topology_from != nullptr) in.fail(kSecondTopology);
    topology_from = &input;
    topology = std::move(read);
  }
  TopologyModel model(topology_from == nullptr ? inputs.front().name : topology_from->name);
  add_slurm_topology(topology, model);
  apply_links(options.links, model);
  const bool alone = !data.has_nodes && !data.has_jobs && !model.nodes.empty() && options.nodes.gpus_per_node > 0;
  if (!data.has_nodes && !alone) {
    throw InputError(inputs.front().name, "", 0,
                     "no list of nodes: give what 'sinfo --json' (Slurm 22.05) or 'scontrol show nodes --json' (later) prints, too");
  }
  if (!data.has_jobs && !alone) {
    notes.say("no list of jobs ('squeue --json'): the machines are taken for empty");
    for (SlurmNode& node : data.nodes) {
      node.used = 0;
      node.used_count = 0;
      node.alloc_cpus = 0;
      node.alloc_memory_mib = 0;
    }
  }

  SlurmImport out;
  Snapshot& snapshot = out.snapshot;
  snapshot.name = "slurm";
  snapshot.origin_iso = "1970-01-01T00:00:00Z";
  snapshot.now_us = data.now * kSecond;
  if (alone) {
    add_to_snapshot(model, options.nodes, snapshot);
    out.notes = notes.lines();
    return out;
  }
  SlurmCluster cluster(data.nodes, snapshot, notes);
  add_domains(model, cluster.rank(), snapshot, notes);

  const std::vector<SlurmUnit> units = slurm_units(data.jobs);
  snapshot.jobs.reserve(units.size());
  const std::map<std::string, SlurmQosRule> qos = slurm_qos_rules(accounts, notes);
  SlurmJobs jobs(snapshot, cluster, notes, !topology.blocks.empty(), qos);
  jobs.add_running(units);
  jobs.add_waiting(units, options);
  if (const auto clash = jobs.clash()) fail_clash(*jobs_from, data, *clash);
  jobs.finish();
  cluster.finish();
  add_gpu_types(snapshot);
  add_slurm_accounts(accounts, snapshot, notes);
  add_slurm_qos(accounts, jobs.members(), snapshot, notes);
  out.notes = notes.lines();
  out.left_out = std::move(notes.left_out());
  return out;
}

}  // namespace berth::io
