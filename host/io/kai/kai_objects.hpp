#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/units.hpp"

/// The Kubernetes objects read from a snapshot of KAI-Scheduler's `snapshot` plugin. All other fields are skipped.
namespace berth::io {

using KaiTexts = std::map<std::string, std::string>;

struct KaiMeta {
  std::string name, space;  ///< name and namespace
  KaiTexts labels, annotations;
  TimeUs created_us = 0;  ///< since 1970
  bool deleting = false;
  std::vector<std::string> owners;  ///< uids
  std::string path() const { return space.empty() ? name : space + "/" + name; }
};

struct KaiNode {
  KaiMeta meta;
  std::int64_t capacity = 0, allocatable = 0;  ///< nvidia.com/gpu
  bool mig = false;                            ///< has nvidia.com/mig-...
  bool unschedulable = false, ready = true;
  std::vector<std::string> taints;  ///< keys of the taints that reject pods
};

struct KaiQueue {
  KaiMeta meta;
  std::string parent;
  const char* parent_at = nullptr;  ///< position in the text, for errors found later
  bool has_gpu = false;
  std::int64_t quota_micro = 0, limit_micro = 0, weight_micro = 0;  ///< millionths; kUnlimited: no limit
  bool has_priority = false;
  TimeUs preempt_after_us = -1, reclaim_after_us = -1;  ///< run times before preemption and reclaim; -1: inherited
};

struct KaiTopologyConstraint {
  std::string topology, required, preferred;  ///< name, node labels
};

struct KaiSubGroup {
  std::string name, parent;
  std::int64_t min_member = 0;
  KaiTopologyConstraint topology;
};

struct KaiPodGroup {
  KaiMeta meta;
  std::string queue, priority_class, preemptibility;
  std::int64_t min_member = 0;
  KaiTopologyConstraint topology;
  std::vector<KaiSubGroup> sub_groups;
  bool min_sub_groups = false;  ///< states how many of its subgroups are needed
};

struct KaiPod {
  KaiMeta meta;
  std::string node, phase;
  KaiTexts node_selector;
  bool affinity = false;  ///< has affinity rules
  bool claims = false;    ///< devices by dynamic resource allocation
  bool mig = false;       ///< slices
  std::int64_t gpus = 0;  ///< nvidia.com/gpu
  TimeUs start_us = 0;    ///< since 1970; 0: not started
};

struct KaiBindRequest {
  KaiMeta meta;
  std::string pod, node, phase;
  std::vector<std::string> gpu_groups;
};

struct KaiObjects {
  std::vector<KaiNode> nodes;
  std::vector<KaiQueue> queues;
  std::vector<KaiPodGroup> pod_groups;
  std::vector<KaiPod> pods;
  std::vector<KaiBindRequest> bind_requests;
  std::map<std::string, std::int64_t> priorities;              ///< of priority classes
  std::map<std::string, std::vector<std::string>> topologies;  ///< name -> node labels, outermost first
};

/// Reads a document {"config", "schedulerParams", "rawObjects": {"pods", "nodes", ...}}.
/// @throws InputError naming file, line, JSON pointer and value.
KaiObjects read_kai_objects(std::string_view json, const std::string& name);

}  // namespace berth::io
