#include "host/io/topology/kubernetes_objects.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/split.hpp"
#include "host/io/files/yaml_text.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/json/line_counter.hpp"
#include "host/io/kai/kai_cluster.hpp"
#include "host/io/kai/kai_json.hpp"

namespace berth::io {
namespace {

using kai::elements;
using kai::fields;
using kai::text;

class ObjectReader {
 public:
  ObjectReader(JsonCursor& in, const std::string& file, KubernetesObjects& out, ImportNotes& notes, const ReadFurtherKind& further)
      : in_(in), lines_(in.text()), file_(file), out_(out), notes_(notes), further_(further) {}

  void read(const std::string& kind_of_list) {
    const char* const at = in_.next_mark();
    std::string kind, group;
    look_ahead(kind, group);
    if (kind.empty()) kind = kind_of_list;
    if (kind.empty()) in_.fail_at(at, "an object without 'kind': this is no object of Kubernetes");
    if (kind.size() >= 4 && kind.compare(kind.size() - 4, 4, "List") == 0) {
      const std::string of_items = kind.substr(0, kind.size() - 4);
      fields(in_, {{"items", [&] { elements(in_, [&] { read(of_items); }); }}});
    } else if (kind == "Node") {
      auto& [node, place] = out_.nodes.emplace_back();
      place = place_of(at);
      kai::read_node(in_, node);
      check_named(at, node.meta.name);
    } else if (kind == "Topology") {
      read_topology(at);
    } else if (kind == "HyperNode") {
      read_hyper_node(at);
    } else if (!further_ || !further_(in_, kind, group, place_of(at))) {
      in_.raw();
      notes_.count("object", fmt::format(" of kind {} left out", cut_utf8(kind, 60)), fmt::format("line {}", lines_.line_of(at)));
    }
  }

 private:
  // Which fields an object has depends on its kind, which may come last.
  void look_ahead(std::string& kind, std::string& group) const {
    JsonCursor ahead(in_);
    fields(ahead, {{"kind", [&] { kind = text(ahead); }}, {"apiVersion", [&] { group = text(ahead); }}});
  }
  ObjectPlace place_of(const char* at) { return {file_, lines_.line_of(at)}; }
  void check_named(const char* at, const std::string& name) const {
    if (name.empty()) in_.fail_at(at, "an object without metadata.name");
  }

  void read_topology(const char* at) {
    TopologyObject& one = out_.topologies.emplace_back();
    one.at = place_of(at);
    fields(in_, {{"metadata", [&] { one.name = kai::meta(in_).name; }}, {"spec", [&] { one.levels = kai::read_levels(in_); }}});
    check_named(at, one.name);
    if (one.levels.empty()) in_.fail_at(at, fmt::format("topology '{}' has no levels", one.name));
  }

  void read_hyper_node(const char* at) {
    HyperNodeObject& one = out_.hyper_nodes.emplace_back();
    one.at = place_of(at);
    const auto spec = [&] {
      fields(in_, {{"tier", [&] { one.tier = in_.integer(1, INT32_MAX); }},
                   {"members", [&] { elements(in_, [&] { read_member(one.members.emplace_back()); }); }}});
    };
    fields(in_, {{"metadata", [&] { one.name = kai::meta(in_).name; }}, {"spec", spec}});
    check_named(at, one.name);
    if (one.tier == 0) in_.fail_at(at, fmt::format("HyperNode '{}' has no spec.tier", one.name));
  }

  void read_member(HyperNodeMember& out) {
    const char* const at = in_.next_mark();
    out.line = lines_.line_of(at);
    std::string type;
    const auto labels = [&] {
      for (const auto& [key, value] : kai::texts(in_)) out.labels.emplace_back(key, value);
    };
    const auto by_label = [&] {
      fields(in_, {{"matchLabels", labels}, {"matchExpressions", [&] { in_.fail("matchExpressions are not read: use matchLabels"); }}});
    };
    const auto selector = [&] {
      const auto exact = [&] { fields(in_, {{"name", [&] { out.name = text(in_); }}}); };
      const auto pattern = [&] { fields(in_, {{"pattern", [&] { out.pattern = text(in_); }}}); };
      fields(in_, {{"exactMatch", exact}, {"regexMatch", pattern}, {"labelMatch", by_label}});
    };
    fields(in_, {{"type", [&] { type = text(in_); }}, {"selector", selector}});
    if (type != "Node" && type != "HyperNode")
      in_.fail_at(at, fmt::format("a member is a Node or a HyperNode, not '{}'", cut_utf8(type, 60)));
    out.hyper_node = type == "HyperNode";
    const int selectors = !out.name.empty() + !out.pattern.empty() + !out.labels.empty();
    if (selectors != 1) in_.fail_at(at, fmt::format("a member needs one of exactMatch, regexMatch and labelMatch, and has {}", selectors));
  }

  JsonCursor& in_;
  LineCounter lines_;
  const std::string& file_;
  KubernetesObjects& out_;
  ImportNotes& notes_;
  const ReadFurtherKind& further_;
};

}  // namespace

void read_kubernetes_objects(const std::string& text, const std::string& file, KubernetesObjects& out, ImportNotes& notes,
                             const ReadFurtherKind& further) {
  const std::string json = looks_like_json(text) ? std::string() : json_of_yaml(text, file);
  JsonCursor in(json.empty() ? std::string_view(text) : std::string_view(json), file);
  ObjectReader reader(in, file, out, notes, further);
  while (in.more()) {
    if (in.type() == JsonType::kNull) {
      in.null();  // an empty document between two marks
    } else {
      reader.read("");
    }
  }
}

void place_by_accelerator(const KaiTexts& labels, ModelNode& node, int line, TopologyModel& model) {
  const auto value_of = [&](const char* label) {
    const auto found = labels.find(label);
    return found == labels.end() ? std::string() : found->second;
  };
  std::string domain = value_of(kAcceleratorLabel);
  const std::string part = value_of(kSubAcceleratorLabel);
  if (domain.empty() && !part.empty())
    fail_topology(model.file(), line,
                  fmt::format("node '{}' has the label {} and not {}", node.id, kSubAcceleratorLabel, kAcceleratorLabel));
  if (domain.empty()) domain = value_of(kCliqueLabel);
  if (domain.empty()) return;
  std::vector<std::pair<std::string, std::string>> path{{std::string(kBlockLevel), domain}};
  if (!part.empty()) path.emplace_back(kSubBlockLevel, part);
  model.place(node, TopologyKind::kNvlink, model.domain_at(TopologyKind::kNvlink, path, line), line);
}

void read_gpu_labels(const KaiTexts& labels, ModelNode& node) {
  const auto product = labels.find(kai::kProductLabel);
  if (product != labels.end()) node.gpu_type = product->second;
  const auto count = labels.find(kGpuCountLabel);
  const auto gpus = count == labels.end() ? std::nullopt : core::parse_whole(count->second, kMaxGpusPerNode);
  if (gpus) node.gpus = static_cast<std::int32_t>(*gpus);
}

void add_kubernetes_nodes(const KubernetesObjects& objects, TopologyModel& model, ImportNotes& notes) {
  const bool counted = std::any_of(objects.nodes.begin(), objects.nodes.end(), [](const auto& one) { return one.first.capacity > 0; });
  for (const auto& [from, at] : objects.nodes) {
    if (counted && from.capacity == 0) {
      notes.count("node", from.mig ? " left out: its GPUs are MIG slices" : " left out: no GPUs", from.meta.name);
      continue;
    }
    model.set_file(at.file);
    ModelNode& node = model.add_node(from.meta.name, at.line);
    read_gpu_labels(from.meta.labels, node);
    if (counted) {
      if (from.capacity > kMaxGpusPerNode) {
        fail_topology(at.file, at.line, fmt::format("node '{}' has {} GPUs, and {} are the most", node.id, from.capacity, kMaxGpusPerNode));
      }
      node.gpus = static_cast<std::int32_t>(from.allocatable);
      if (from.allocatable < from.capacity) notes.count("node", " with GPUs that are not allocatable: these are left out", node.id);
    }
    node.labels.assign(from.meta.labels.begin(), from.meta.labels.end());
    if (!from.ready) {
      node.state = NodeState::kFailed;
      notes.count("node", " not ready: failed", node.id);
    } else if (kai::keeps_away(from)) {
      node.state = NodeState::kDrain;
      notes.count("node", " cordoned or tainted: drained", node.id);
    }
    place_by_accelerator(from.meta.labels, node, at.line, model);
  }
}

}  // namespace berth::io
