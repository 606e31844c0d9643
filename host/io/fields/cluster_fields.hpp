#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "berth/cluster.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/io/fields/kinds.hpp"

/// Tables of the parts of a cluster, in the order in which they are written.
namespace berth::io {

inline constexpr Field<MigLayout> kMigLayoutFields[] = {
    field<Id, &MigLayout::name>("name", kRequired),
    field<List<Text>, &MigLayout::profiles>("profiles", kRequired),
};

inline constexpr Field<GpuType> kGpuTypeFields[] = {
    field<Id, &GpuType::id>("id", kRequired),
    field<Bytes, &GpuType::memory_bytes>("memory_bytes"),
    field<Bytes, &GpuType::nvlink_bytes_per_s>("nvlink_bytes_per_s"),
    field<Milli, &GpuType::power_mw>("power_w"),
    field<Micro, &GpuType::price_micro_per_hour>("price_per_hour"),
    field<List<Object<kMigLayoutFields>>, &GpuType::mig_layouts>("mig_layouts"),
};

struct DomainId : Id {
  static void describe(JsonWriter& w) { Id::describe(w), w.text("pattern", "^[^/]*$"); }
};

struct DomainLevel : Id {
  static void describe(JsonWriter& w) { Id::describe(w), w.key("not"), w.raw(R"({"enum":["node","cluster"]})"); }
};

inline constexpr Field<Domain> kDomainFields[] = {
    field<DomainId, &Domain::id>("id", kRequired),
    field<Topology, &Domain::topology>("topology"),
    field<DomainLevel, &Domain::level>("level", kRequired),
    field<Text, &Domain::parent>("parent"),
    field<Bytes, &Domain::uplink_bytes_per_s>("uplink_bytes_per_s"),
    field<Seconds, &Domain::latency_us>("latency_s"),
    field<Micro, &Domain::oversubscription_ppm>("oversubscription"),
    field<Count, &Domain::spine_count>("spine_count"),
};

inline constexpr Field<Gpu> kGpuFields[] = {
    field<DescribedAs<Count, GpuIndex>, &Gpu::index>("index", kRequired),
    field<Enum<GpuState>, &Gpu::state>("state"),
    field<Seconds, &Gpu::free_at_us>("free_at_s"),
    field<Count, &Gpu::inner_group>("inner_group"),
};

/// A count, or a list of GPUs.
struct NodeGpuList {
  using GpuCount = Integer<0, kMaxGpusPerNode>;
  using Gpus = List<Object<kGpuFields>>;

  static void read(JsonCursor& in, Node& n) {
    if (in.type() != JsonType::kArray) return GpuCount::read(in, n.gpus);
    const char* at = in.mark();
    Gpus::read(in, n.gpu_list, n);
    if (n.gpu_list.size() > static_cast<std::size_t>(kMaxGpusPerNode)) {
      in.fail_at(at, fmt::format("{} GPUs are more than a node may have ({})", n.gpu_list.size(), kMaxGpusPerNode));
    }
    n.gpus = static_cast<std::int32_t>(n.gpu_list.size());
  }
  static void write(JsonWriter& w, const Node& n) {
    if (n.gpu_list.empty()) return GpuCount::write(w, n.gpus);
    Gpus::write(w, n.gpu_list, n);
  }
  static void describe(JsonWriter& w) {
    w.key("oneOf");
    w.array([&] {
      io::describe<GpuCount>(w);
      w.object([&] { w.number("maxItems", kMaxGpusPerNode), Gpus::describe(w); });
    });
  }
};

/// {"switch": "pod0/rack1"}
struct NodeDomains {
  using Paths = std::array<std::string, kTopologyKinds>;

  static void read(JsonCursor& in, Paths& out) {
    std::uint32_t seen = 0;
    in.object([&](std::string_view key) {
      const auto topology = core::from_name<TopologyKind>(key);
      if (!topology) in.fail(fmt::format("'{}' is no topology; there are: {}", key, core::all_names<TopologyKind>()));
      const auto i = static_cast<std::size_t>(*topology);
      if ((seen >> i & 1) != 0) in.fail(fmt::format("duplicate field '{}'", key));
      seen |= 1u << i;
      out[i] = in.string();
    });
  }
  static void write(JsonWriter& w, const Paths& paths) {
    w.object([&] {
      for (std::size_t i = 0; i < paths.size(); ++i) w.text_unless(core::name(static_cast<TopologyKind>(i)), paths[i], "");
    });
  }
  static void describe(JsonWriter& w) {
    w.text("type", "object");
    w.key("properties");
    w.object([&] {
      for (int i = 0; i < kTopologyKinds; ++i) w.key(core::name(static_cast<TopologyKind>(i))), io::describe<Text>(w);
    });
    w.key("additionalProperties"), w.raw("false");
  }
};

/// Sorted by key.
struct Labels : Map<Text> {
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  static void read(JsonCursor& in, Pairs& out) {
    const char* at = in.next_mark();
    in.object([&](std::string_view key) {
      std::string name(key);
      out.emplace_back(std::move(name), std::string());
      out.back().second = in.string();
    });
    std::sort(out.begin(), out.end());
    for (std::size_t i = 1; i < out.size(); ++i) {
      if (out[i].first == out[i - 1].first) in.fail_at(at, fmt::format("duplicate field '{}'", out[i].first));
    }
  }
};

inline constexpr Field<Node> kNodeFields[] = {
    field<Id, &Node::id>("id", kRequired),
    field<Id, &Node::gpu_type>("gpu_type", kRequired),
    field<NodeGpuList>("gpus", kRequired),
    field<NodeDomains, &Node::domain>("domains"),
    field<Milli, &Node::cpu_milli>("cpu_cores"),
    field<Bytes, &Node::memory_bytes>("memory_bytes"),
    field<Count, &Node::nics>("nics"),
    field<Bytes, &Node::nic_bytes_per_s>("nic_bytes_per_s"),
    field<Labels, &Node::labels>("labels"),
    field<List<Text>, &Node::virtual_clusters>("virtual_clusters"),
    field<Boolean, &Node::sharing>("sharing"),
    field<Enum<NodeState>, &Node::state>("state"),
    field<Seconds, &Node::available_from_us>("available_from_s"),
    field<Seconds, &Node::available_until_us>("available_until_s"),
    field<Seconds, &Node::reclaim_notice_us>("reclaim_notice_s"),
};

using QuotaGpus = Integer<0, core::kMostQuotaGpus>;

inline constexpr Field<Quota> kQuotaFields[] = {
    field<Text, &Quota::gpu_type>("gpu_type", kRequired),
    field<QuotaGpus, &Quota::guarantee>("guarantee"),
    field<QuotaGpus, &Quota::limit>("limit"),
    field<QuotaGpus, &Quota::borrowing>("borrowing"),
    field<QuotaGpus, &Quota::lending>("lending"),
};

inline constexpr Field<Queue> kQueueFields[] = {
    field<Id, &Queue::id>("id", kRequired),
    field<Text, &Queue::parent>("parent"),
    field<Weight, &Queue::weight_ppm>("weight"),
    field<List<Object<kQuotaFields>>, &Queue::quotas>("quotas"),
};

inline constexpr Field<DomainRef> kDomainRefFields[] = {
    field<Topology, &DomainRef::topology>("topology"),
    field<Text, &DomainRef::path>("path", kRequired),
};

inline constexpr Field<Reservation> kReservationFields[] = {
    field<Id, &Reservation::id>("id", kRequired),
    field<List<Text>, &Reservation::nodes>("nodes"),
    field<List<Object<kDomainRefFields>>, &Reservation::domains>("domains"),
    field<Seconds, &Reservation::from_us>("from_s"),
    field<Seconds, &Reservation::to_us>("to_s"),
    field<List<Text>, &Reservation::jobs>("jobs"),
};

}  // namespace berth::io
