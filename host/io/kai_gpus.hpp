#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/io/kai_cluster.hpp"
#include "host/io/kai_notes.hpp"
#include "host/io/kai_objects.hpp"

namespace berth::io::kai {

/// What one pod wants of GPUs.
struct PodNeed {
  std::int32_t gpus = 0;  ///< whole ones; 1 with a share
  std::int32_t share_ppm = kWholeGpu;
  std::string unsupported;  ///< why it cannot be expressed, empty: it can
};
PodNeed need_of(const KaiPod& pod);

/// Where pods hold GPUs. The objects do not say which GPUs of a node those are, except for shared ones that are reserved: the others are
/// dealt out lowest index first, in the order of pods by namespace and name, so that the same file gives the same snapshot.
class Held {
 public:
  struct Pod {
    int node = -1;  ///< in `snapshot.nodes`
    std::vector<std::int32_t> gpus;
  };

  /// @throws InputError when the pods of a node hold more GPUs than it has.
  Held(const KaiObjects& objects, const Cluster& cluster, const Snapshot& snapshot, const std::string& file);

  /// Null: the pod holds nothing.
  const Pod* of(const KaiPod& pod) const;

  /// Writes `gpu_list` of nodes with GPUs that take nobody new: held by pods that became no job (`taken`: those that did), or not
  /// allocatable.
  void close(const KaiObjects& objects, const std::set<std::string>& taken, Snapshot& snapshot, const Cluster& cluster, Notes& notes) const;

 private:
  std::map<std::string, Pod> pods_;  // by path
};

/// Whether the pod has ended.
bool is_over(const KaiPod& pod);

}  // namespace berth::io::kai
