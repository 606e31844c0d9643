#include <algorithm>
#include <unordered_map>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/fields/cluster_fields.hpp"
#include "host/io/fields/job_fields.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/json/json_line.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kSnapshotFormat = "berth.snapshot.v1";

struct SnapshotFile {
  Snapshot& value;
  Extensions& x;
  std::vector<PendingShapes> pending;
};

struct Jobs : Lines<JobObject> {
  static void read(JsonCursor& in, std::vector<Job>& out, SnapshotFile& file) { read_jobs(in, out, file.pending); }
};

constexpr Field<SnapshotFile, Snapshot> kSnapshotFields[] = {
    field<SchemaName<kSnapshotFormat>>("schema", kRequired),
    field<Text, &Snapshot::name>("name"),
    field<Text, &Snapshot::origin_iso>("origin"),
    field<Seconds, &Snapshot::now_us>("now_s", kRequired),
    field<Integer<1, kMaxRevision>, &Snapshot::revision>("revision"),
    field<Lines<Object<kGpuTypeFields>>, &Snapshot::gpu_types>("gpu_types", kRequired),
    field<Lines<Object<kDomainFields>>, &Snapshot::domains>("domains"),
    field<Lines<Object<kNodeFields>>, &Snapshot::nodes>("nodes", kRequired),
    field<Lines<Object<kQueueFields>>, &Snapshot::queues>("queues"),
    field<Lines<Object<kReservationFields>>, &Snapshot::reservations>("reservations"),
    field<Jobs, &Snapshot::jobs>("jobs", kRequired),
    field<Lines<Object<kFinishedJobFields>>, &Snapshot::history>("history"),
};

// Expands `step: node`, which counts in GPUs of the largest node of each type. Nodes may come after the jobs in the file.
void expand_pending(SnapshotFile& file, const std::string& name) {
  if (file.pending.empty()) return;
  std::unordered_map<std::string_view, std::int32_t> node_gpus;
  std::int32_t largest = 0;
  for (const Node& n : file.value.nodes) {
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
    const std::string problem = expand_shapes(p.gpus, p.types, per_type, file.value.jobs[p.job].shapes);
    if (!problem.empty()) throw InputError(name, fmt::format("/jobs/{}/gpus", p.job), 0, problem);
  }
}

// Reads the file and passes the unchecked rows to `use`, whose errors get their line.
template <class Use>
auto read(std::string_view json, const std::string& name, Use&& use) {
  Snapshot snapshot;
  SnapshotFile file{snapshot, snapshot.x, {}};
  JsonCursor in(json, name);
  read_object(in, file, kSnapshotFields);
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

std::string to_json(const Snapshot& snapshot) {
  JsonWriter w;
  Object<kSnapshotFields>::write(w, snapshot);
  return w.finish();
}

std::string snapshot_schema() { return schema_of<kSnapshotFields>(kSnapshotFormat, "A cluster and its jobs at one instant"); }

}  // namespace berth::io
