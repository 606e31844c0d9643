#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/io/json/json_writer.hpp"
#include "host/io/topology/domain_names.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

// As Kubernetes takes names of objects.
bool is_object_name(std::string_view text) {
  constexpr std::size_t kMostObjectBytes = 253;
  const auto is_end = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kMostObjectBytes && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_end(c) || c == '-' || c == '.'; });
}

void write_member(JsonWriter& w, const char* type, const std::string& name) {
  w.object([&] {
    w.text("type", type);
    w.key("selector"), w.object([&] { w.key("exactMatch"), w.object([&] { w.text("name", name); }); });
  });
}

}  // namespace

std::string write_hypernodes(const TopologyModel& model) {
  constexpr auto kKind = TopologyKind::kSwitch;
  const std::vector<ModelDomain>& domains = model.of(kKind);
  const DomainNames named = domain_names(model, kKind, "hypernode-", is_object_name);
  const DomainMembers members = domain_members(model, kKind);
  const std::vector<std::string> levels = ordered_levels(model, kKind);
  const auto tier_of = [&](const std::string& level) { return std::find(levels.begin(), levels.end(), level) - levels.begin() + 1; };
  const auto write = [&](JsonWriter& w, std::size_t d) {
    w.object([&] {
      w.text("apiVersion", "topology.volcano.sh/v1alpha1");
      w.text("kind", "HyperNode");
      w.key("metadata"), w.object([&] {
        w.text("name", named.names[d]);
        if (!named.made[d]) return;
        w.key("annotations"), w.object([&] { w.text("berth.dev/domain", model.path(kKind, static_cast<std::int32_t>(d))); });
      });
      w.key("spec"), w.object([&] {
        w.number("tier", tier_of(domains[d].level));
        w.key("members"), w.array([&] {
          for (const std::size_t child : members.domains[d]) write_member(w, "HyperNode", named.names[child]);
          for (const std::size_t node : members.nodes[d]) write_member(w, "Node", model.nodes[node].id);
        });
      });
    });
  };
  JsonWriter w;
  w.object([&] {
    w.text("apiVersion", "v1");
    w.text("kind", "List");
    w.key("items"), w.array([&] {
      for (std::size_t d = 0; d < domains.size(); ++d) w.new_line(), write(w, d);
    });
  });
  return w.finish();
}

}  // namespace berth::io
