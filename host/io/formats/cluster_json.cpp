#include "host/io/formats/cluster_json.hpp"

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/fields/cluster_fields.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/json/json_line.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kClusterFormat = "berth.cluster.v1";

constexpr Field<Snapshot> kClusterFields[] = {
    field<SchemaName<kClusterFormat>>("schema", kRequired),
    field<Text, &Snapshot::name>("name"),
    field<List<Object<kGpuTypeFields>>, &Snapshot::gpu_types>("gpu_types", kRequired),
    field<List<Object<kDomainFields>>, &Snapshot::domains>("domains"),
    field<List<Object<kNodeFields>>, &Snapshot::nodes>("nodes", kRequired),
    field<List<Object<kQueueFields>>, &Snapshot::queues>("queues"),
};

/// Whether the document declares itself a cluster. Every other document goes to the reader of snapshots and its messages.
bool is_cluster(std::string_view json, const std::string& name) {
  JsonCursor in(json, name);
  bool found = false;
  if (in.type() != JsonType::kObject) return false;
  in.object([&](std::string_view key) {
    if (key == "schema" && in.type() == JsonType::kString) {
      found = in.string() == kClusterFormat;
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
  JsonCursor in(json, name);
  read_object(in, cluster, kClusterFields);
  in.finish();
  try {
    check_snapshot(cluster, name);
  } catch (const InputError& e) {
    throw with_line(e, json);
  }
  return cluster;
}

std::string cluster_schema() { return schema_of<kClusterFields>(kClusterFormat, "A cluster without jobs"); }

}  // namespace berth::io
