#include "host/io/kueue/kueue_flavors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/io/kai/kai_cluster.hpp"

namespace berth::io::kueue {
namespace {

const std::string* label_value(const Node& node, std::string_view key) {
  const auto at =
      std::lower_bound(node.labels.begin(), node.labels.end(), key, [](const auto& one, std::string_view k) { return one.first < k; });
  return at == node.labels.end() || at->first != key ? nullptr : &at->second;
}

void add_type(Snapshot& snapshot, const std::string& type) {
  const auto at = std::lower_bound(snapshot.gpu_types.begin(), snapshot.gpu_types.end(), type,
                                   [](const GpuType& one, const std::string& id) { return one.id < id; });
  if (at != snapshot.gpu_types.end() && at->id == type) return;
  snapshot.gpu_types.insert(at, GpuType())->id = type;
}

}  // namespace

bool has_labels(const std::vector<std::pair<std::string, std::string>>& labels, const KaiTexts& asked) {
  return std::all_of(asked.begin(), asked.end(), [&](const auto& one) {
    const auto at =
        std::lower_bound(labels.begin(), labels.end(), one.first, [](const auto& l, const std::string& k) { return l.first < k; });
    return at != labels.end() && at->first == one.first && at->second == one.second;
  });
}

std::set<std::string_view> flavors_in_use(const KueueObjects& objects) {
  std::set<std::string_view> used;
  for (const ClusterQueueObject& queue : objects.cluster_queues) {
    for (const FlavorQuota& quota : queue.quotas) used.insert(quota.flavor);
  }
  for (const CohortObject& cohort : objects.cohorts) {
    for (const FlavorQuota& quota : cohort.quotas) used.insert(quota.flavor);
  }
  return used;
}

void tolerate_taints(KueueObjects& objects) {
  const std::set<std::string_view> used = flavors_in_use(objects);
  for (auto& [node, at] : objects.cluster.nodes) {
    if (node.taints.empty()) continue;
    const std::vector<std::pair<std::string, std::string>> labels(node.meta.labels.begin(), node.meta.labels.end());
    for (const FlavorObject& flavor : objects.flavors) {
      if (flavor.tolerated.empty() || used.count(flavor.name) == 0 || !has_labels(labels, flavor.labels)) continue;
      const std::set<std::string_view> keys(flavor.tolerated.begin(), flavor.tolerated.end());
      const auto tolerated = [&](const std::string& taint) { return keys.count("") > 0 || keys.count(taint) > 0; };
      node.taints.erase(std::remove_if(node.taints.begin(), node.taints.end(), tolerated), node.taints.end());
    }
  }
}

Flavors::Flavors(const KueueObjects& objects, bool retype, Snapshot& snapshot, ImportNotes& notes) {
  const std::set<std::string_view> used = flavors_in_use(objects);
  for (const FlavorObject& flavor : objects.flavors) {
    if (used.count(flavor.name) == 0) continue;
    by_name_.emplace(flavor.name, &flavor);
    if (!flavor.labels.empty()) by_label_[*flavor.labels.begin()].push_back(&flavor);
  }
  for (const std::string_view name : used) {
    if (find(name) == nullptr)
      notes.count("flavor", " without a ResourceFlavor: its quotas are left out, as Kueue admits nothing by them", name);
  }
  if (retype) name_types(snapshot);
  find_types(snapshot, notes);
}

const FlavorObject* Flavors::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

std::vector<const FlavorObject*> Flavors::matching(const Node& node) const {
  std::vector<const FlavorObject*> out;
  for (const auto& label : node.labels) {
    const auto found = by_label_.find(std::pair<std::string_view, std::string_view>(label));
    if (found == by_label_.end()) continue;
    for (const FlavorObject* flavor : found->second) {
      if (has_labels(node.labels, flavor->labels)) out.push_back(flavor);
    }
  }
  std::sort(out.begin(), out.end(), [](const FlavorObject* a, const FlavorObject* b) {
    return a->labels.size() != b->labels.size() ? a->labels.size() > b->labels.size() : a->name < b->name;
  });
  return out;
}

// The type is the product. Where flavors divide the nodes of one product, it is product and flavor; without a product
// label it is the flavor alone.
void Flavors::name_types(Snapshot& snapshot) const {
  std::map<std::string, std::set<std::vector<const FlavorObject*>>> of_product;
  std::vector<std::vector<const FlavorObject*>> of_node;
  for (const Node& node : snapshot.nodes) {
    of_node.push_back(matching(node));
    of_product[node.gpu_type].insert(of_node.back());
  }
  for (std::size_t n = 0; n < of_node.size(); ++n) {
    Node& node = snapshot.nodes[n];
    if (of_node[n].empty()) continue;
    const std::string& flavor = of_node[n].front()->name;
    const std::string* const product = label_value(node, kai::kProductLabel);
    const bool known = product != nullptr && !product->empty();
    if (!known && node.gpu_type == "gpu")
      node.gpu_type = flavor;
    else if (of_product.at(node.gpu_type).size() > 1)
      node.gpu_type = fmt::format("{}:{}", node.gpu_type, flavor);
  }
  snapshot.gpu_types.clear();
  for (const Node& node : snapshot.nodes) add_type(snapshot, node.gpu_type);
}

bool Flavors::covers(const FlavorObject& flavor, const Node& node) const {
  if (has_labels(node.labels, flavor.labels)) return true;
  // A cluster without labels: its types are called by flavors, or by a value of their labels.
  const std::vector<std::string>& types = types_.at(flavor.name);
  return node.labels.empty() && std::binary_search(types.begin(), types.end(), node.gpu_type);
}

void Flavors::find_types(Snapshot& snapshot, ImportNotes& notes) {
  std::map<std::string_view, std::set<std::string>> found;
  std::set<std::string> all;
  for (const Node& node : snapshot.nodes) {
    all.insert(node.gpu_type);
    for (const FlavorObject* flavor : matching(node)) found[flavor->name].insert(node.gpu_type);
  }
  for (const auto& [name, flavor] : by_name_) {
    std::set<std::string> types = flavor->labels.empty() ? all : found[name];
    if (types.empty() && all.count(flavor->name) > 0) types.insert(flavor->name);
    for (auto label = flavor->labels.begin(); types.empty() && label != flavor->labels.end(); ++label) {
      if (all.count(label->second) > 0) types.insert(label->second);
    }
    if (types.empty()) {
      notes.count("flavor", " that no node has: its quotas are of a GPU type without nodes", name);
      const auto product = flavor->labels.find(kai::kProductLabel);
      types.insert(product == flavor->labels.end() || product->second.empty() ? flavor->name : product->second);
      add_type(snapshot, *types.begin());
    }
    types_.emplace(name, std::vector<std::string>(types.begin(), types.end()));
  }
}

}  // namespace berth::io::kueue
