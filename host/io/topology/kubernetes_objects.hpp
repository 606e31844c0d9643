#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/io/files/import_notes.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/kai/kai_objects.hpp"
#include "host/io/topology/topology_model.hpp"

/// Kubernetes objects that describe a topology, as kubectl prints them or as manifests: JSON or YAML, lists or one after another.
namespace berth::io {

/// Node labels of topograph, and the one that NVIDIA's GPU operator sets.
inline constexpr std::string_view kTierLabel = "fabric.topograph.run/tier-";
inline constexpr const char* kAcceleratorLabel = "accelerator.topograph.run/domain";
inline constexpr const char* kSubAcceleratorLabel = "accelerator.topograph.run/sub-domain";
inline constexpr const char* kCliqueLabel = "nvidia.com/gpu.clique";
inline constexpr const char* kGpuCountLabel = "nvidia.com/gpu.count";

struct ObjectPlace {
  std::string file;
  int line = 0;
};

struct TopologyObject {
  std::string name;
  std::vector<std::string> levels;  ///< node labels, outermost first
  ObjectPlace at;
};

struct HyperNodeMember {
  bool hyper_node = false;
  std::string name, pattern;                                ///< exact, or a regular expression; empty: not given
  std::vector<std::pair<std::string, std::string>> labels;  ///< all of them; empty: not given
  int line = 0;
};

struct HyperNodeObject {
  std::string name;
  std::int64_t tier = 0;
  std::vector<HyperNodeMember> members;
  ObjectPlace at;
};

struct KubernetesObjects {
  std::vector<std::pair<KaiNode, ObjectPlace>> nodes;
  std::vector<TopologyObject> topologies;
  std::vector<HyperNodeObject> hyper_nodes;
};

/// Reads an object of a further kind: true when it consumed the object.
/// @param group  The object's API group and version: "kueue.x-k8s.io/v1beta1"; empty: not stated.
using ReadFurtherKind = std::function<bool(JsonCursor& in, std::string_view kind, std::string_view group, const ObjectPlace& at)>;

/// Objects of other kinds are counted in `notes`, unless `further` reads them.
/// @throws InputError naming file, line, JSON pointer and value.
void read_kubernetes_objects(const std::string& text, const std::string& file, KubernetesObjects& out, ImportNotes& notes,
                             const ReadFurtherKind& further = {});

/// Adds the nodes with GPUs: their type, labels, state and accelerator domain. Where no node says that it has GPUs, all
/// nodes are added and none has a count.
void add_kubernetes_nodes(const KubernetesObjects& objects, TopologyModel& model, ImportNotes& notes);

struct KueueTopologyOptions {
  std::string topology = {};  ///< of several, the one of this name; empty: the only one
  bool partial = false;       ///< nodes may lie outside of it, and there need not be one
};
/// The nodes in the domains that a Topology names, or topograph's labels (read_kueue.cpp).
/// @param file  For errors without a place.
/// @throws InputError naming file and line.
TopologyModel kueue_model(const KubernetesObjects& objects, const std::string& file, const KueueTopologyOptions& options,
                          ImportNotes& notes);

/// Puts a node into the accelerator domain that its labels name.
void place_by_accelerator(const KaiTexts& labels, ModelNode& node, int line, TopologyModel& model);
/// GPU type and count as the labels say, where they do.
void read_gpu_labels(const KaiTexts& labels, ModelNode& node);

}  // namespace berth::io
