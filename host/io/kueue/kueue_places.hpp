#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kueue/kueue_flavors.hpp"
#include "host/io/kueue/kueue_objects.hpp"

namespace berth::io::kueue {

/// GPUs of one pod.
struct HeldPod {
  std::size_t node = 0;  ///< index in the snapshot
  std::vector<std::int32_t> gpus;
};

/// GPUs of the podsets of one workload, by name.
using HeldPods = std::map<std::string, std::vector<HeldPod>>;

/// Finds the GPUs that admitted workloads hold.
///
/// Pods are placed in this order: where Pod objects or a topologyAssignment name the node; where an assignment names a
/// domain; then all others, the largest first, each on the fullest node that can hold it. Indices are the lowest free ones.
class Places {
 public:
  Places(const KueueObjects& objects, const Flavors& flavors, Snapshot& snapshot, ImportNotes& notes);

  /// Null: no place was found.
  const HeldPods* of(const WorkloadObject& workload) const;
  /// Keeps new jobs off the GPUs of a workload that became no job.
  void block(const WorkloadObject& workload);
  /// Writes the GPUs that are blocked into the nodes.
  void finish();

 private:
  /// A podset whose pods need places.
  struct Demand {
    const PodSetObject* set = nullptr;
    const PodSetAssigned* assigned = nullptr;
    std::int64_t pods = 0;
    std::int32_t gpus = 0;           // a pod
    std::vector<std::size_t> known;  // nodes of pods
  };
  struct Admitted {
    const WorkloadObject* workload = nullptr;
    std::vector<Demand> demands;
    int pass = 0;
    std::int32_t largest = 0;
  };

  void find_pods(const KueueObjects& objects);
  Admitted admitted(const WorkloadObject& workload);
  void set_known(const WorkloadObject& workload, Demand& demand);
  void block_other_pods();
  bool place(const Admitted& one, HeldPods& out);
  bool place_set(const Demand& demand, std::vector<HeldPod>& out);
  bool fill(const Demand& demand, const std::vector<std::size_t>& nodes, std::int64_t pods, std::vector<HeldPod>& out);
  bool fill_anywhere(const Demand& demand, std::int64_t pods, std::vector<HeldPod>& out);
  bool take(std::size_t node, std::int32_t gpus, std::vector<HeldPod>& out);
  void give_back(const HeldPods& pods);
  void set_free(std::size_t node, std::uint64_t free);
  const std::vector<std::size_t>& nodes_of(const std::vector<std::string>& levels, const std::vector<std::string>& values);

  const Flavors& flavors_;
  Snapshot& snapshot_;
  ImportNotes& notes_;
  std::vector<std::uint64_t> free_, blocked_;                         // [nodes]
  std::array<std::set<std::size_t>, kMaxGpusPerNode + 1> with_free_;  // nodes by their number of free GPUs
  std::int64_t free_count_ = 0;
  std::map<std::string, std::size_t> by_name_, by_host_;
  std::map<std::vector<std::string>, std::map<std::vector<std::string>, std::vector<std::size_t>>> by_levels_;
  std::map<std::string, std::vector<const KaiPod*>> pods_;  // of a workload, by its path
  std::vector<const KaiPod*> other_pods_;
  std::map<const WorkloadObject*, HeldPods> held_;
};

/// Whether the workload holds its quota: it was admitted, has not ended, and is not being evicted.
bool holds_gpus(const WorkloadObject& workload);
/// Pods of the podset that hold GPUs or would: fewer than its count after partial admission, or where some have ended.
std::int64_t pods_left(const WorkloadObject& workload, const PodSetObject& set);

}  // namespace berth::io::kueue
