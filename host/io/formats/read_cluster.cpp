#include <algorithm>

#include "host/io/formats/read_parts.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

constexpr Field<MigLayout> kMigLayout[] = {
    {"name", [](JsonCursor& in, MigLayout& m) { m.name = in.string(); }, true},
    {"profiles", [](JsonCursor& in, MigLayout& m) { m.profiles = read_strings(in); }, true},
};

constexpr Field<GpuType> kGpuType[] = {
    {"id", [](JsonCursor& in, GpuType& t) { t.id = in.string(); }, true},
    {"memory_bytes", [](JsonCursor& in, GpuType& t) { t.memory_bytes = read_bytes(in); }},
    {"nvlink_bytes_per_s", [](JsonCursor& in, GpuType& t) { t.nvlink_bytes_per_s = read_bytes(in); }},
    {"power_w", [](JsonCursor& in, GpuType& t) { t.power_mw = read_milli(in); }},
    {"price_per_hour", [](JsonCursor& in, GpuType& t) { t.price_micro_per_hour = read_micro(in); }},
    {"mig_layouts", [](JsonCursor& in, GpuType& t) { read_rows(in, t.mig_layouts, kMigLayout); }},
};

constexpr Field<Domain> kDomain[] = {
    {"id", [](JsonCursor& in, Domain& d) { d.id = in.string(); }, true},
    {"topology", [](JsonCursor& in, Domain& d) { d.topology = read_enum<TopologyKind>(in); }},
    {"level", [](JsonCursor& in, Domain& d) { d.level = in.string(); }, true},
    {"parent", [](JsonCursor& in, Domain& d) { d.parent = in.string(); }},
    {"uplink_bytes_per_s", [](JsonCursor& in, Domain& d) { d.uplink_bytes_per_s = read_bytes(in); }},
    {"latency_s", [](JsonCursor& in, Domain& d) { d.latency_us = read_time(in); }},
    {"oversubscription", [](JsonCursor& in, Domain& d) { d.oversubscription_ppm = read_micro(in); }},
    {"spine_count", [](JsonCursor& in, Domain& d) { d.spine_count = read_count(in); }},
};

constexpr Field<Gpu> kGpu[] = {
    {"index", [](JsonCursor& in, Gpu& g) { g.index = read_count(in); }, true},
    {"state", [](JsonCursor& in, Gpu& g) { g.state = read_enum<GpuState>(in); }},
    {"free_at_s", [](JsonCursor& in, Gpu& g) { g.free_at_us = read_time(in); }},
    {"inner_group", [](JsonCursor& in, Gpu& g) { g.inner_group = read_count(in); }},
};

void read_gpus(JsonCursor& in, Node& n) {
  if (in.type() != JsonType::kArray) {
    n.gpus = static_cast<std::int32_t>(in.integer(0, kMaxGpusPerNode));
    return;
  }
  const char* at = in.mark();
  read_rows(in, n.gpu_list, kGpu);
  if (n.gpu_list.size() > static_cast<std::size_t>(kMaxGpusPerNode)) {
    in.fail_at(at, fmt::format("{} GPUs are more than a node may have ({})", n.gpu_list.size(), kMaxGpusPerNode));
  }
  n.gpus = static_cast<std::int32_t>(n.gpu_list.size());
}

void read_node_domains(JsonCursor& in, Node& n) {
  std::uint32_t seen = 0;
  in.object([&](std::string_view key) {
    const auto topology = core::from_name<TopologyKind>(key);
    if (!topology) in.fail(fmt::format("'{}' is no topology; there are: {}", key, core::all_names<TopologyKind>()));
    const auto i = static_cast<std::size_t>(*topology);
    if ((seen >> i & 1) != 0) in.fail(fmt::format("the field '{}' stands here twice", key));
    seen |= 1u << i;
    n.domain[i] = in.string();
  });
}

void read_labels(JsonCursor& in, Node& n) {
  const char* at = in.next_mark();
  in.object([&](std::string_view key) {
    std::string name(key);
    n.labels.emplace_back(std::move(name), std::string());
    n.labels.back().second = in.string();
  });
  std::sort(n.labels.begin(), n.labels.end());
  for (std::size_t i = 1; i < n.labels.size(); ++i) {
    if (n.labels[i].first == n.labels[i - 1].first) in.fail_at(at, fmt::format("the field '{}' stands here twice", n.labels[i].first));
  }
}

constexpr Field<Node> kNode[] = {
    {"id", [](JsonCursor& in, Node& n) { n.id = in.string(); }, true},
    {"gpu_type", [](JsonCursor& in, Node& n) { n.gpu_type = in.string(); }, true},
    {"gpus", read_gpus, true},
    {"domains", read_node_domains},
    {"cpu_cores", [](JsonCursor& in, Node& n) { n.cpu_milli = read_milli(in); }},
    {"memory_bytes", [](JsonCursor& in, Node& n) { n.memory_bytes = read_bytes(in); }},
    {"nics", [](JsonCursor& in, Node& n) { n.nics = read_count(in); }},
    {"nic_bytes_per_s", [](JsonCursor& in, Node& n) { n.nic_bytes_per_s = read_bytes(in); }},
    {"labels", read_labels},
    {"virtual_clusters", [](JsonCursor& in, Node& n) { n.virtual_clusters = read_strings(in); }},
    {"sharing", [](JsonCursor& in, Node& n) { n.sharing = in.boolean(); }},
    {"state", [](JsonCursor& in, Node& n) { n.state = read_enum<NodeState>(in); }},
    {"available_from_s", [](JsonCursor& in, Node& n) { n.available_from_us = read_time(in); }},
    {"available_until_s", [](JsonCursor& in, Node& n) { n.available_until_us = read_time(in); }},
    {"reclaim_notice_s", [](JsonCursor& in, Node& n) { n.reclaim_notice_us = read_time(in); }},
};

constexpr Field<Quota> kQuota[] = {
    {"gpu_type", [](JsonCursor& in, Quota& q) { q.gpu_type = in.string(); }, true},
    {"guarantee", [](JsonCursor& in, Quota& q) { q.guarantee = in.integer(0, kMaxBytes); }},
    {"limit", [](JsonCursor& in, Quota& q) { q.limit = in.integer(0, kMaxBytes); }},
    {"borrowing", [](JsonCursor& in, Quota& q) { q.borrowing = in.integer(0, kMaxBytes); }},
};

constexpr Field<Queue> kQueue[] = {
    {"id", [](JsonCursor& in, Queue& q) { q.id = in.string(); }, true},
    {"parent", [](JsonCursor& in, Queue& q) { q.parent = in.string(); }},
    {"weight", [](JsonCursor& in, Queue& q) { q.weight_ppm = read_weight(in); }},
    {"quotas", [](JsonCursor& in, Queue& q) { read_rows(in, q.quotas, kQuota); }},
};

constexpr Field<DomainRef> kDomainRef[] = {
    {"topology", [](JsonCursor& in, DomainRef& d) { d.topology = read_enum<TopologyKind>(in); }},
    {"path", [](JsonCursor& in, DomainRef& d) { d.path = in.string(); }, true},
};

constexpr Field<Reservation> kReservation[] = {
    {"id", [](JsonCursor& in, Reservation& r) { r.id = in.string(); }, true},
    {"nodes", [](JsonCursor& in, Reservation& r) { r.nodes = read_strings(in); }},
    {"domains", [](JsonCursor& in, Reservation& r) { read_rows(in, r.domains, kDomainRef); }},
    {"from_s", [](JsonCursor& in, Reservation& r) { r.from_us = read_time(in); }},
    {"to_s", [](JsonCursor& in, Reservation& r) { r.to_us = read_time(in); }},
    {"jobs", [](JsonCursor& in, Reservation& r) { r.jobs = read_strings(in); }},
};

}  // namespace

void read_gpu_types(JsonCursor& in, std::vector<GpuType>& out) { read_rows(in, out, kGpuType); }
void read_domains(JsonCursor& in, std::vector<Domain>& out) { read_rows(in, out, kDomain); }
void read_node(JsonCursor& in, Node& out) { read_object(in, out, kNode); }
void read_nodes(JsonCursor& in, std::vector<Node>& out) { read_rows(in, out, kNode); }
void read_queue(JsonCursor& in, Queue& out) { read_object(in, out, kQueue); }
void read_queues(JsonCursor& in, std::vector<Queue>& out) { read_rows(in, out, kQueue); }
void read_reservation(JsonCursor& in, Reservation& out) { read_object(in, out, kReservation); }
void read_reservations(JsonCursor& in, std::vector<Reservation>& out) { read_rows(in, out, kReservation); }

}  // namespace berth::io
