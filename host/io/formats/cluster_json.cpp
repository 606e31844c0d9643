#include "host/io/formats/cluster_json.hpp"

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/json/json_fields.hpp"
#include "host/io/json/json_line.hpp"

namespace berth::io {
namespace {

struct ClusterFile {
  Snapshot& cluster;
  Extensions& x;
};

constexpr std::string_view kClusterSchema = "berth.cluster.v1";

constexpr Field<ClusterFile> kCluster[] = {
    {"schema", [](JsonCursor& in, ClusterFile&) { in.string(); }, true},
    {"name", [](JsonCursor& in, ClusterFile& f) { f.cluster.name = in.string(); }},
    {"gpu_types", [](JsonCursor& in, ClusterFile& f) { read_gpu_types(in, f.cluster.gpu_types); }, true},
    {"domains", [](JsonCursor& in, ClusterFile& f) { read_domains(in, f.cluster.domains); }},
    {"nodes", [](JsonCursor& in, ClusterFile& f) { read_nodes(in, f.cluster.nodes); }, true},
    {"queues", [](JsonCursor& in, ClusterFile& f) { read_queues(in, f.cluster.queues); }},
};

/// Whether the document declares itself a cluster. Every other document goes to the reader of snapshots and its messages.
bool is_cluster(std::string_view json, const std::string& name) {
  JsonCursor in(json, name);
  bool found = false;
  if (in.type() != JsonType::kObject) return false;
  in.object([&](std::string_view key) {
    if (key == "schema" && in.type() == JsonType::kString) {
      found = in.string() == kClusterSchema;
    } else {
      in.raw();
    }
  });
  return found;
}

}  // namespace

Snapshot parse_cluster(std::string_view json, const std::string& name) {
  if (!is_cluster(json, name)) {
    Snapshot cluster = parse_snapshot(json, name);
    cluster.jobs.clear();
    cluster.history.clear();
    cluster.reservations.clear();
    return cluster;
  }
  Snapshot cluster;
  ClusterFile file{cluster, cluster.x};
  JsonCursor in(json, name);
  read_object(in, file, kCluster);
  in.finish();
  try {
    check_snapshot(cluster, name);
  } catch (const InputError& e) {
    throw with_line(e, json);
  }
  return cluster;
}

}  // namespace berth::io
