#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/files/import_notes.hpp"
#include "host/io/kai/kai_cluster.hpp"
#include "host/io/kai/kai_objects.hpp"

namespace berth::io::kai {

/// The GPU request of one pod.
struct PodDemand {
  std::int32_t gpus = 0;  ///< whole GPUs; 1 for a share
  std::int32_t share_ppm = kWholeGpu;
  std::string unsupported;  ///< why it is not supported; empty: it is
};
PodDemand demand_of(const KaiPod& pod);

/// The GPUs that pods hold. The objects give the indices only of shared GPUs that are reserved.
/// The others are assigned lowest index first, in the order of pods by namespace and name, so that the result is deterministic.
class Held {
 public:
  struct Pod {
    int node = -1;  ///< in `snapshot.nodes`
    std::vector<std::int32_t> gpus;
  };

  /// @throws InputError when the pods of a node hold more GPUs than it has.
  Held(const KaiObjects& objects, const Cluster& cluster, const Snapshot& snapshot, const std::string& file);

  /// Null: the pod holds no GPUs.
  const Pod* of(const KaiPod& pod) const;

  /// Writes `gpu_list` of nodes with GPUs that accept no new jobs.
  /// Such GPUs are held by pods that became no job (`taken`: those that did), or are not allocatable.
  void close(const KaiObjects& objects, const std::set<std::string>& taken, Snapshot& snapshot, const Cluster& cluster,
             ImportNotes& notes) const;

 private:
  std::map<std::string, Pod> pods_;  // by path
};

/// Whether the pod has ended.
bool is_over(const KaiPod& pod);

}  // namespace berth::io::kai
