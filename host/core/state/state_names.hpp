#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/base/name_source.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Names of the objects of a state.
class StateNames final : public NameSource {
 public:
  explicit StateNames(const StateView& state) : s_(impl_of(state)) {}

  const Job* job(std::int32_t job_index) const override {
    return in(job_index, s_.jobs) ? s_.jobs[static_cast<std::size_t>(job_index)].job.get() : nullptr;
  }
  std::string_view node(std::int32_t rank) const override {
    return in(rank, s_.nodes) ? std::string_view(s_.nodes[static_cast<std::size_t>(rank)].id) : "?";
  }
  std::string_view domain(std::int32_t id) const override {
    if (id < 0 || id >= s_.topologies.size()) return "?";
    const std::string_view path = s_.topologies.path(id), name = last_part(path);
    for (std::int32_t other = 0; other < s_.topologies.size(); ++other) {
      const bool same_kind =
          s_.topologies.topology_of(other) == s_.topologies.topology_of(id) && s_.topologies.level_of(other) == s_.topologies.level_of(id);
      if (other != id && same_kind && last_part(s_.topologies.path(other)) == name) return path;
    }
    return name;
  }
  std::string_view level(TopologyKind topology, std::int32_t level) const override {
    const auto f = static_cast<std::int32_t>(topology);
    return level >= 0 && level < s_.topologies.levels(f) ? std::string_view(s_.topologies.level_name(f, level)) : "?";
  }
  std::string_view queue(std::int32_t index) const override {
    return in(index, s_.queues) ? std::string_view(s_.queues[static_cast<std::size_t>(index)].id) : "?";
  }
  std::string_view gpu_type(std::int32_t index) const override {
    return in(index, s_.gpu_types) ? std::string_view(s_.gpu_types[static_cast<std::size_t>(index)].id) : "?";
  }
  std::int32_t gpu_types() const override { return static_cast<std::int32_t>(s_.gpu_types.size()); }
  std::string_view origin_iso() const override { return s_.origin_iso; }
  TimeUs now() const override { return s_.now; }
  bool has_node(std::string_view id) const override { return s_.node_rank.count(std::string(id)) != 0; }
  bool serves(std::string_view virtual_cluster) const override {
    return std::any_of(s_.nodes.begin(), s_.nodes.end(), [&](const Node& node) {
      const auto& served = node.virtual_clusters;
      return served.empty() || std::find(served.begin(), served.end(), virtual_cluster) != served.end();
    });
  }
  bool has_label(std::string_view key, const std::vector<std::string>& values) const override {
    return std::any_of(s_.nodes.begin(), s_.nodes.end(), [&](const Node& node) {
      return std::any_of(node.labels.begin(), node.labels.end(), [&](const auto& label) {
        return label.first == key && std::find(values.begin(), values.end(), label.second) != values.end();
      });
    });
  }

 private:
  static std::string_view last_part(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
  }
  template <class Rows>
  static bool in(std::int32_t i, const Rows& rows) {
    return i >= 0 && i < static_cast<std::int32_t>(rows.size());
  }
  const StateImpl& s_;
};

}  // namespace berth::core
