#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "berth/job.hpp"
#include "berth/kernel/base/problem.hpp"
#include "host/core/model/topologies.hpp"

namespace berth::core {

/// Demands of the alternatives of jobs, each distinct demand once.
class DemandTable {
 public:
  void clear();

  /// The demand of one shape of a job on one GPU type. `use_min`: with each group's smallest member count instead of
  /// the requested one. @returns the row.
  std::int32_t add(const Job& job, const Shape& shape, std::int32_t gpu_type, std::int32_t filter, bool use_min,
                   const Topologies& topologies);

  /// The same demand in whole nodes of `node_gpus` GPUs ("consolidate"): a flat gang of one-GPU members becomes full
  /// nodes and one remainder.
  std::int32_t consolidated(std::int32_t demand, std::int32_t node_gpus);

  /// The same demand inside one domain of that level, which is below what its only root requires. Several roots keep what they
  /// require, below a row of their own.
  std::int32_t within(std::int32_t demand, std::int32_t topology, std::int32_t level);

  /// The same demand also inside one domain of that level, whatever it requires by itself. A demand that requires no looser a level
  /// of the topology stays.
  std::int32_t inside(std::int32_t demand, std::int32_t topology, std::int32_t level);

  /// The same demand, that prefers levels up to this one if it is one gang without a preference.
  std::int32_t preferring(std::int32_t demand, std::int32_t topology, std::int32_t level);

  /// The same demand with a whole GPU for each share, on the nodes of that filter. It is charged to quotas as the shares are. A demand
  /// without shares stays. O(1) after the first time.
  std::int32_t whole(std::int32_t demand, std::int32_t filter);

  /// Whether it asks for shares of GPUs.
  bool takes_shares(std::int32_t demand) const;

  /// GPUs of all members of a demand, shared ones counted as whole: the count of Shape::gpus.
  std::int32_t gpus_named(std::int32_t demand) const;

  const std::vector<kernel::DemandRow>& rows() const { return rows_; }
  const std::vector<kernel::GroupRow>& groups() const { return groups_; }
  /// Index in the shape's `groups` of each row of `groups()`; 0 for a flat gang.
  const std::vector<std::int32_t>& shape_group() const { return shape_group_; }

 private:
  static constexpr std::int64_t kOfGroups = -1;  // the quota that the groups make

  void copy_rows(const kernel::DemandRow& row);
  void add_root(std::int64_t gpus);
  std::int32_t intern(const std::vector<kernel::GroupRow>& groups, const std::vector<std::int32_t>& shape_group, std::int32_t filter,
                      std::int32_t gpu_type, std::int64_t quota = kOfGroups);

  std::vector<kernel::DemandRow> rows_;
  std::vector<kernel::GroupRow> groups_;
  std::vector<std::int32_t> shape_group_;
  std::vector<std::int32_t> whole_;  // [rows, or fewer] `whole`; kNone: not known
  std::unordered_map<std::string, std::int32_t> index_;
  // Of the demand being added: most exist already, and then nothing is allocated.
  std::vector<kernel::GroupRow> new_groups_;
  std::vector<std::int32_t> new_shape_group_;
  std::string key_;
};

/// The groups of a shape in depth-first order as indices into `shape.groups`, parents first, siblings as declared.
std::vector<std::int32_t> depth_first(const Shape& shape);

}  // namespace berth::core
