// The graph of NVIDIA topograph: {"instances": [{"id", "network_layers", "labels"}]}, the closest switch first.
// The closest switch is level tier-0.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/json/line_counter.hpp"
#include "host/io/kai/kai_json.hpp"
#include "host/io/topology/kubernetes_objects.hpp"
#include "host/io/topology/topology_formats.hpp"

namespace berth::io {
namespace {

using LayerPath = std::vector<std::pair<std::string, std::string>>;  // (level, switch) from the root down

class GraphReader {
 public:
  GraphReader(JsonCursor& in, TopologyModel& model) : in_(in), lines_(in.text()), model_(model) {}

  void read() {
    const char* const at = in_.next_mark();
    bool found = false;
    kai::fields(in_, {{"instances", [&] {
                         found = true;
                         kai::elements(in_, [&] { read_instance(); });
                       }}});
    in_.finish();
    if (!found) in_.fail_at(at, "the field 'instances' is missing: this is no graph of topograph");
    if (model_.nodes.empty()) in_.fail_at(at, "no instances");
  }

 private:
  void read_instance() {
    const char* const at = in_.next_mark();
    std::string id;
    std::vector<std::string> layers;
    KaiTexts labels;
    kai::fields(in_, {{"id", [&] { id = kai::text(in_); }},
                      {"network_layers", [&] { kai::elements(in_, [&] { layers.push_back(kai::text(in_)); }); }},
                      {"labels", [&] { labels = kai::texts(in_); }}});
    if (id.empty()) in_.fail_at(at, "the field 'id' is missing");
    if (layers.size() > static_cast<std::size_t>(kMaxLevels) - 2)
      in_.fail_at(at, fmt::format("instance '{}' has {} layers, and {} are the most", id, layers.size(), kMaxLevels - 2));
    const int line = lines_.line_of(at);
    ModelNode& node = model_.add_node(id, line);
    read_gpu_labels(labels, node);
    node.labels.assign(labels.begin(), labels.end());
    place_by_accelerator(labels, node, line, model_);
    if (layers.empty()) return;
    LayerPath path;
    for (std::size_t tier = layers.size(); tier-- > 0;) path.emplace_back(fmt::format("tier-{}", tier), layers[tier]);
    check(at, path);
    model_.place(node, TopologyKind::kSwitch, model_.domain_at(TopologyKind::kSwitch, path, line), line);
  }

  // A switch is one, whatever instance names it: it has one parent and one layer.
  void check(const char* at, const LayerPath& path) {
    for (std::size_t i = 0; i < path.size(); ++i) {
      const auto& [level, name] = path[i];
      const std::string parent = i == 0 ? "" : path[i - 1].second;
      const auto [seen, fresh] = switches_.try_emplace(name, level, parent);
      const auto& [its_level, its_parent] = seen->second;
      if (its_level != level) in_.fail_at(at, fmt::format("switch '{}' is {} and {}", cut_utf8(name, 60), its_level, level));
      if (its_parent == parent) continue;
      const auto shown = [](const std::string& one) { return one.empty() ? "no switch" : fmt::format("'{}'", cut_utf8(one, 60)); };
      in_.fail_at(at, fmt::format("switch '{}' lies below {} and {}: no tree", cut_utf8(name, 60), shown(its_parent), shown(parent)));
    }
  }

  JsonCursor& in_;
  LineCounter lines_;
  TopologyModel& model_;
  std::map<std::string, std::pair<std::string, std::string>> switches_;  // level and parent
};

}  // namespace

TopologyModel read_topograph(const std::vector<std::string>& files, const std::string& topology, ImportNotes& /*notes*/) {
  if (!topology.empty()) throw InvalidArgument("--topology is for formats with several topologies, and topograph has one");
  if (files.size() != 1) throw InvalidArgument(fmt::format("topograph takes one file, and {} are given", files.size()));
  TopologyModel model(input_name(files.front()));
  const std::string text = read_file(files.front());
  JsonCursor in(text, model.file());
  GraphReader(in, model).read();
  return model;
}

}  // namespace berth::io
