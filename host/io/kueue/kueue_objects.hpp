#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "berth/units.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kai/kai_objects.hpp"
#include "host/io/topology/kubernetes_objects.hpp"

/// The objects of Kueue that say which queue may have which GPUs, and which workloads hold them. All other fields are skipped.
namespace berth::io::kueue {

/// The resource of which quotas and pods are read.
inline constexpr std::string_view kGpuResource = "nvidia.com/gpu";

/// A quota of GPUs of one flavor, in thousandths.
struct FlavorQuota {
  std::string flavor;
  std::int64_t nominal_milli = 0;
  std::int64_t borrowing_milli = kUnlimited;
  std::int64_t lending_milli = kUnlimited;  ///< kUnlimited: all of it
};

enum class ReclaimPolicy : std::uint8_t { kNever, kLowerPriority, kAny };
enum class WithinPolicy : std::uint8_t { kNever, kLowerPriority, kLowerOrNewer };

struct ClusterQueueObject {
  std::string name, cohort;
  std::vector<FlavorQuota> quotas;  ///< of GPUs, in the order in which Kueue tries flavors
  std::int64_t weight_micro = 1'000'000;
  ReclaimPolicy reclaim = ReclaimPolicy::kNever;
  WithinPolicy within = WithinPolicy::kNever;
  bool borrow_and_preempt = false;                            ///< borrowWithinCohort is not Never
  bool next_flavor_before_borrowing = false, strict = false;  ///< flavorFungibility, queueingStrategy StrictFIFO
  bool stopped = false, selects_namespaces = false;           ///< stopPolicy; a namespaceSelector is given
  bool namespaces_by_label = false;                           ///< the selector is not empty
  bool admission_checks = false;
  ObjectPlace at;
};

struct CohortObject {
  std::string name, parent;
  std::vector<FlavorQuota> quotas;
  std::int64_t weight_micro = 1'000'000;
  ObjectPlace at;
};

struct FlavorObject {
  std::string name, topology;
  KaiTexts labels;
  std::vector<std::string> tolerated;  ///< keys of taints that pods of the flavor tolerate; empty key: all
  ObjectPlace at;
};

struct LocalQueueObject {
  std::string path, cluster_queue;  ///< path: namespace/name
  bool stopped = false;
  ObjectPlace at;
};

/// Pods of a podset in one domain of a topology.
struct DomainPods {
  std::vector<std::string> values;  ///< of the levels
  std::int64_t count = 0;
};

struct PodSetAssigned {
  std::string flavor;  ///< of GPUs
  std::optional<std::int64_t> count;
  std::vector<std::string> levels;  ///< node labels of `domains`
  std::vector<DomainPods> domains;  ///< empty: no topologyAssignment
};

struct PodSetObject {
  std::string name = "main";
  std::int64_t count = 1;
  std::optional<std::int64_t> min_count;
  KaiPod pod;  ///< the template
  std::string required, preferred, group, slice_level;
  std::int64_t slice_size = 0;
};

struct ConditionObject {
  bool holds = false;
  TimeUs since_us = 0;
};

struct WorkloadObject {
  KaiMeta meta;
  std::string queue;
  std::int64_t priority = 0;
  bool active = true;
  std::int64_t longest_s = 0;  ///< maximumExecutionTimeSeconds; 0: none
  std::int64_t ran_before_s = 0;
  std::vector<PodSetObject> pod_sets;
  bool admitted = false;  ///< has status.admission
  std::string cluster_queue;
  std::map<std::string, PodSetAssigned> assigned;   ///< by podset
  std::map<std::string, std::int64_t> reclaimable;  ///< by podset: pods that have ended
  std::map<std::string, ConditionObject> conditions;
  TimeUs requeue_at_us = 0;
  std::string other_cluster;  ///< MultiKueue: where it runs
  std::int64_t restarts = 0;
  ObjectPlace at;

  ConditionObject condition(const char* type) const {
    const auto found = conditions.find(type);
    return found == conditions.end() ? ConditionObject() : found->second;
  }
};

struct KueueObjects {
  KubernetesObjects cluster;
  std::vector<ClusterQueueObject> cluster_queues;
  std::vector<CohortObject> cohorts;
  std::vector<FlavorObject> flavors;
  std::vector<LocalQueueObject> local_queues;
  std::vector<WorkloadObject> workloads;
  std::vector<KaiPod> pods;
  TimeUs now_us = 0;  ///< the latest instant

  /// Whether there is more than a topology.
  bool has_quotas() const { return !cluster_queues.empty() || !cohorts.empty() || !local_queues.empty() || !workloads.empty(); }
};

/// Reads one file, JSON or YAML. Objects of other kinds are counted in `notes`.
/// @throws InputError naming file, line, JSON pointer and value.
void read_kueue_objects(const std::string& text, const std::string& file, KueueObjects& out, ImportNotes& notes);
/// Sorts the objects by name. @throws InputError for one that occurs twice.
void order_kueue_objects(KueueObjects& objects);

// kueue_workloads.cpp
void read_workload(JsonCursor& in, WorkloadObject& workload, TimeUs& latest);

}  // namespace berth::io::kueue
