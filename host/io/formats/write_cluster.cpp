#include "host/core/base/names.hpp"
#include "host/io/formats/write_parts.hpp"

namespace berth::io {
namespace {

void write_topology(JsonWriter& w, TopologyKind topology) {
  if (topology != TopologyKind::kSwitch) w.text("topology", core::name(topology));
}

void write_gpus(JsonWriter& w, const Node& node) {
  if (node.gpu_list.empty()) {
    w.number("gpus", node.gpus);
    return;
  }
  w.list("gpus", node.gpu_list, [&](const Gpu& g) {
    w.object([&] {
      w.number("index", g.index);
      if (g.state != GpuState::kOk) w.text("state", core::name(g.state));
      w.number_unless("free_at_s", g.free_at_us, kNever, 6);
      w.number_unless("inner_group", g.inner_group, -1);
    });
  });
}

void write_domains(JsonWriter& w, const Node& node) {
  bool any = false;
  for (const std::string& path : node.domain) any = any || !path.empty();
  if (!any) return;
  w.key("domains");
  w.object([&] {
    for (std::size_t f = 0; f < kTopologyKinds; ++f) w.text_unless(core::name(static_cast<TopologyKind>(f)), node.domain[f], "");
  });
}

}  // namespace

void write(JsonWriter& w, const GpuType& type) {
  w.object([&] {
    w.text("id", type.id);
    w.number_unless("memory_bytes", type.memory_bytes, 0);
    w.number_unless("nvlink_bytes_per_s", type.nvlink_bytes_per_s, 0);
    w.number_unless("power_w", type.power_mw, 0, 3);
    w.number_unless("price_per_hour", type.price_micro_per_hour, 0, 6);
    w.list("mig_layouts", type.mig_layouts, [&](const MigLayout& layout) {
      w.object([&] {
        w.text("name", layout.name);
        w.list(
            "profiles", layout.profiles, [&](const std::string& one) { w.string(one); }, true);
      });
    });
    w.extensions(type.x);
  });
}

void write(JsonWriter& w, const Domain& domain) {
  w.object([&] {
    w.text("id", domain.id);
    write_topology(w, domain.topology);
    w.text("level", domain.level);
    w.text_unless("parent", domain.parent, "");
    w.number_unless("uplink_bytes_per_s", domain.uplink_bytes_per_s, 0);
    w.number_unless("latency_s", domain.latency_us, 0, 6);
    w.number_unless("oversubscription", domain.oversubscription_ppm, 1'000'000, 6);
    w.number_unless("spine_count", domain.spine_count, 0);
    w.extensions(domain.x);
  });
}

void write(JsonWriter& w, const Node& node) {
  w.object([&] {
    w.text("id", node.id);
    w.text("gpu_type", node.gpu_type);
    write_gpus(w, node);
    write_domains(w, node);
    w.number_unless("cpu_cores", node.cpu_milli, kUnlimited, 3);
    w.number_unless("memory_bytes", node.memory_bytes, kUnlimited);
    w.number_unless("nics", node.nics, 0);
    w.number_unless("nic_bytes_per_s", node.nic_bytes_per_s, 0);
    if (!node.labels.empty()) {
      w.key("labels");
      w.object([&] {
        for (const auto& label : node.labels) w.text(label.first, label.second);
      });
    }
    w.strings("virtual_clusters", node.virtual_clusters);
    w.flag_unless("sharing", node.sharing, false);
    if (node.state != NodeState::kReady) w.text("state", core::name(node.state));
    w.number_unless("available_from_s", node.available_from_us, 0, 6);
    w.number_unless("available_until_s", node.available_until_us, kNever, 6);
    w.number_unless("reclaim_notice_s", node.reclaim_notice_us, 0, 6);
    w.extensions(node.x);
  });
}

void write(JsonWriter& w, const Queue& queue) {
  w.object([&] {
    w.text("id", queue.id);
    w.text_unless("parent", queue.parent, "");
    w.number_unless("weight", queue.weight_ppm, 1'000'000, 6);
    w.list("quotas", queue.quotas, [&](const Quota& quota) {
      w.object([&] {
        w.text("gpu_type", quota.gpu_type);
        w.number_unless("guarantee", quota.guarantee, 0);
        w.number_unless("limit", quota.limit, kUnlimited);
        w.number_unless("borrowing", quota.borrowing, kUnlimited);
      });
    });
    w.extensions(queue.x);
  });
}

void write(JsonWriter& w, const Reservation& reservation) {
  w.object([&] {
    w.text("id", reservation.id);
    w.strings("nodes", reservation.nodes);
    w.list("domains", reservation.domains, [&](const DomainRef& ref) {
      w.object([&] {
        write_topology(w, ref.topology);
        w.text("path", ref.path);
      });
    });
    w.number_unless("from_s", reservation.from_us, 0, 6);
    w.number_unless("to_s", reservation.to_us, kNever, 6);
    w.strings("jobs", reservation.jobs);
    w.extensions(reservation.x);
  });
}

}  // namespace berth::io
