// Kubernetes nodes with a label for each level, and the Topology of Kueue that names these labels.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "berth/error.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/io/kai/kai_cluster.hpp"
#include "host/io/topology/domain_names.hpp"
#include "host/io/topology/kubernetes_objects.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

constexpr std::size_t kMostLabelBytes = 63;

bool is_label_byte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.'; }

// As Kubernetes takes values of labels.
bool is_label_value(std::string_view text) {
  const auto is_end = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !text.empty() && text.size() <= kMostLabelBytes && std::all_of(text.begin(), text.end(), is_label_byte) && is_end(text.front()) &&
         is_end(text.back());
}

void check_value(std::string_view value) {
  if (!is_label_value(value))
    throw InvalidArgument(fmt::format("'{}' is no value of a Kubernetes label: up to {} letters, digits, '-', '_' and '.'",
                                      cut_utf8(value, 60), kMostLabelBytes));
}

// A level that came from a label is that label; another one is a tier, counted from the nodes.
std::map<std::string, std::string> labels_of_levels(const std::vector<std::string>& levels) {
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const bool is_label = levels[i].find('/') != std::string::npos && levels[i].find(' ') == std::string::npos;
    out[levels[i]] = is_label ? levels[i] : fmt::format("{}{}", kTierLabel, i);
  }
  return out;
}

void write_topology(JsonWriter& w, const std::vector<std::string>& levels, const std::map<std::string, std::string>& label_of) {
  w.object([&] {
    w.text("apiVersion", "kueue.x-k8s.io/v1beta1");
    w.text("kind", "Topology");
    w.key("metadata"), w.object([&] { w.text("name", "berth"); });
    w.key("spec"), w.object([&] {
      w.key("levels"), w.array([&] {
        for (std::size_t i = levels.size(); i-- > 0;) w.object([&] { w.text("nodeLabel", label_of.at(levels[i])); });
        w.object([&] { w.text("nodeLabel", kai::kHostLabel); });
      });
    });
  });
}

}  // namespace

std::string write_labels(const TopologyModel& model) {
  const std::vector<std::string> levels = ordered_levels(model, TopologyKind::kSwitch);
  const std::map<std::string, std::string> label_of = labels_of_levels(levels);
  const std::vector<ModelDomain>&switches = model.of(TopologyKind::kSwitch), &accelerators = model.of(TopologyKind::kNvlink);
  const auto write_node = [&](JsonWriter& w, const ModelNode& node) {
    std::map<std::string, std::string> labels(node.labels.begin(), node.labels.end());
    const auto set = [&](const std::string& key, const std::string& value) {
      check_value(value);
      labels.insert_or_assign(key, value);
    };
    for (const std::size_t d : domains_above(model, TopologyKind::kSwitch, node)) set(label_of.at(switches[d].level), switches[d].id);
    const std::vector<std::size_t> above = domains_above(model, TopologyKind::kNvlink, node);
    if (!above.empty()) set(kAcceleratorLabel, accelerators[above.front()].id);
    if (above.size() > 1) set(kSubAcceleratorLabel, accelerators[above.back()].id);
    if (!node.gpu_type.empty()) set(kai::kProductLabel, node.gpu_type);
    if (node.gpus >= 0) set(kGpuCountLabel, std::to_string(node.gpus));
    w.object([&] {
      w.text("apiVersion", "v1");
      w.text("kind", "Node");
      w.key("metadata"), w.object([&] {
        w.text("name", node.id);
        w.key("labels"), w.object([&] {
          for (const auto& [key, value] : labels) w.text(key, value);
        });
      });
    });
  };
  JsonWriter w;
  w.object([&] {
    w.text("apiVersion", "v1");
    w.text("kind", "List");
    w.key("items"), w.array([&] {
      if (!levels.empty()) w.new_line(), write_topology(w, levels, label_of);
      for (const ModelNode& node : model.nodes) w.new_line(), write_node(w, node);
    });
  });
  return w.finish();
}

}  // namespace berth::io
