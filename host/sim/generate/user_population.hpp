#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/snapshot.hpp"
#include "host/sim/generate/fabric.hpp"
#include "host/sim/generate/workload.hpp"

namespace berth::sim {

/// Users, their queues, and the history of their jobs.
class UserPopulation {
 public:
  UserPopulation(const GenerateOptions& options, const ClusterLayout& layout);

  struct Owner {
    std::int32_t user;
    std::int32_t queue;            // -1: none
    std::int32_t virtual_cluster;  // -1: none
  };
  Owner draw(ItemDraws& draws) const;
  std::string user_name(std::int32_t user) const;
  std::string queue_name(std::int32_t queue) const;

  /// Leaf queues with quotas, and their root.
  std::vector<Queue> queues() const;
  /// Maximum number of GPUs that the running jobs of a queue may hold together.
  std::int64_t limit(std::int32_t queue) const { return queue < 0 ? INT64_MAX : limits_[static_cast<std::size_t>(queue)]; }

  void remember(std::int32_t user, int size_class, TimeUs run);
  void sort_memory();
  /// Expected run time of a job that has run for `elapsed`, from the user's finished jobs of its size, else from the workload's table.
  /// At least `elapsed`.
  Estimate expect(std::int32_t user, int size_class, TimeUs elapsed, Quantiles table) const;

 private:
  std::vector<std::int64_t> weight_end_;  // [users] running sum
  std::vector<std::int64_t> guarantees_, limits_;
  std::int32_t virtual_clusters_;
  std::int64_t gpus_ = 0;
  std::vector<std::vector<TimeUs>> memory_;  // [users * kSizeClasses]
};

}  // namespace berth::sim
