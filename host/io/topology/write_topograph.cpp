#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "host/io/json/json_writer.hpp"
#include "host/io/topology/domain_names.hpp"
#include "host/io/topology/kubernetes_objects.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

bool any_name(std::string_view /*name*/) { return true; }

}  // namespace

std::string write_topograph(const TopologyModel& model) {
  const DomainNames switches = domain_names(model, TopologyKind::kSwitch, "switch", any_name);
  const std::vector<ModelDomain>& accelerators = model.of(TopologyKind::kNvlink);
  JsonWriter w;
  w.object([&] {
    w.lines(
        "instances", model.nodes,
        [&](const ModelNode& node) {
          w.object([&] {
            w.text("id", node.id);
            std::vector<std::string> layers;
            for (const std::size_t d : domains_above(model, TopologyKind::kSwitch, node)) layers.insert(layers.begin(), switches.names[d]);
            w.strings("network_layers", layers);
            std::map<std::string, std::string> labels(node.labels.begin(), node.labels.end());
            const std::vector<std::size_t> above = domains_above(model, TopologyKind::kNvlink, node);
            if (!above.empty()) labels.insert_or_assign(kAcceleratorLabel, accelerators[above.front()].id);
            if (above.size() > 1) labels.insert_or_assign(kSubAcceleratorLabel, accelerators[above.back()].id);
            if (node.gpus >= 0) labels.insert_or_assign(kGpuCountLabel, std::to_string(node.gpus));
            if (labels.empty()) return;
            w.key("labels");
            w.object([&] {
              for (const auto& [key, value] : labels) w.text(key, value);
            });
          });
        },
        true);
  });
  return w.finish();
}

}  // namespace berth::io
