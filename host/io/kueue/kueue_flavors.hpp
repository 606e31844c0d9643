#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kueue/kueue_objects.hpp"

namespace berth::io::kueue {

/// Whether a node with these labels (sorted by key) has all that are asked for.
bool has_labels(const std::vector<std::pair<std::string, std::string>>& labels, const KaiTexts& asked);

/// Which GPU types a flavor stands for. A flavor is a set of nodes, and quotas are by GPU type.
class Flavors {
 public:
  /// @param retype  Divide GPU types where flavors do, and name those that have no product label.
  Flavors(const KueueObjects& objects, bool retype, Snapshot& snapshot, ImportNotes& notes);

  /// Null: no quota of GPUs names it, or there is no such ResourceFlavor.
  const FlavorObject* find(std::string_view name) const;
  /// At least one, sorted.
  const std::vector<std::string>& types(const FlavorObject& flavor) const { return types_.at(flavor.name); }
  /// Whether pods of the flavor may run on the node.
  bool covers(const FlavorObject& flavor, const Node& node) const;

 private:
  void name_types(Snapshot& snapshot) const;
  std::vector<const FlavorObject*> matching(const Node& node) const;  // with labels, the most of them first
  void find_types(Snapshot& snapshot, ImportNotes& notes);

  std::map<std::string_view, const FlavorObject*> by_name_;
  std::map<std::pair<std::string_view, std::string_view>, std::vector<const FlavorObject*>> by_label_;  // their first label
  std::map<std::string_view, std::vector<std::string>> types_;
};

/// Takes away the taints that all pods of a flavor of the node tolerate.
void tolerate_taints(KueueObjects& objects);
/// The flavors in which there are quotas of GPUs.
std::set<std::string_view> flavors_in_use(const KueueObjects& objects);

}  // namespace berth::io::kueue
