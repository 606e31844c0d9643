#include <algorithm>
#include <unordered_map>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/json/json_fields.hpp"
#include "host/io/json/json_line.hpp"

namespace berth::io {
namespace {

struct SnapshotFile {
  Snapshot& snapshot;
  Extensions& x;
  std::vector<PendingShapes> pending;
};

constexpr std::string_view kSnapshotSchema = "berth.snapshot.v1";

constexpr Field<SnapshotFile> kSnapshot[] = {
    {"schema",
     [](JsonCursor& in, SnapshotFile&) {
       if (in.string() != kSnapshotSchema) in.fail(fmt::format("this reader knows the schema \"{}\", not {}", kSnapshotSchema, in.shown()));
     },
     true},
    {"name", [](JsonCursor& in, SnapshotFile& f) { f.snapshot.name = in.string(); }},
    {"origin", [](JsonCursor& in, SnapshotFile& f) { f.snapshot.origin_iso = in.string(); }},
    {"now_s", [](JsonCursor& in, SnapshotFile& f) { f.snapshot.now_us = read_time(in); }, true},
    {"revision", [](JsonCursor& in, SnapshotFile& f) { f.snapshot.revision = in.integer(1, kMaxRevision); }},
    {"gpu_types", [](JsonCursor& in, SnapshotFile& f) { read_gpu_types(in, f.snapshot.gpu_types); }, true},
    {"domains", [](JsonCursor& in, SnapshotFile& f) { read_domains(in, f.snapshot.domains); }},
    {"nodes", [](JsonCursor& in, SnapshotFile& f) { read_nodes(in, f.snapshot.nodes); }, true},
    {"queues", [](JsonCursor& in, SnapshotFile& f) { read_queues(in, f.snapshot.queues); }},
    {"reservations", [](JsonCursor& in, SnapshotFile& f) { read_reservations(in, f.snapshot.reservations); }},
    {"jobs", [](JsonCursor& in, SnapshotFile& f) { read_jobs(in, f.snapshot.jobs, f.pending); }, true},
    {"history", [](JsonCursor& in, SnapshotFile& f) { read_history(in, f.snapshot.history); }},
};

// Expands `step: node`, which counts in GPUs of the largest node of each type. Nodes may come after the jobs in the file.
void expand_pending(SnapshotFile& file, const std::string& name) {
  if (file.pending.empty()) return;
  std::unordered_map<std::string_view, std::int32_t> node_gpus;
  std::int32_t largest = 0;
  for (const Node& n : file.snapshot.nodes) {
    std::int32_t& most = node_gpus[n.gpu_type];
    most = std::max(most, n.gpus);
    largest = std::max(largest, n.gpus);
  }
  for (const PendingShapes& p : file.pending) {
    std::vector<std::int32_t> per_type{largest};
    if (!p.types.empty()) per_type.clear();
    for (const std::string& type : p.types) {
      const auto at = node_gpus.find(type);
      per_type.push_back(at == node_gpus.end() ? 0 : at->second);
    }
    const std::string problem = expand_shapes(p.gpus, p.types, per_type, file.snapshot.jobs[p.job].shapes);
    if (!problem.empty()) throw InputError(name, fmt::format("/jobs/{}/gpus", p.job), 0, problem);
  }
}

// Reads the file and passes the unchecked rows to `use`, whose errors get their line.
template <class Use>
auto read(std::string_view json, const std::string& name, Use&& use) {
  Snapshot snapshot;
  SnapshotFile file{snapshot, snapshot.x, {}};
  JsonCursor in(json, name);
  read_object(in, file, kSnapshot);
  in.finish();
  try {
    expand_pending(file, name);
    return use(std::move(snapshot));
  } catch (const InputError& e) {
    throw with_line(e, json);
  }
}

}  // namespace

Snapshot parse_snapshot(std::string_view json, const std::string& name) {
  return read(json, name, [&](Snapshot snapshot) {
    check_snapshot(snapshot, name);
    return snapshot;
  });
}

ClusterState parse_state(std::string_view json, const std::string& name) {
  return read(json, name, [&](Snapshot snapshot) { return ClusterState(std::move(snapshot), name); });
}

}  // namespace berth::io
