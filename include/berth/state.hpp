#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "berth/delta.hpp"
#include "berth/error.hpp"
#include "berth/export.hpp"
#include "berth/snapshot.hpp"

namespace berth {

class StateImpl;

/// A live cluster: its nodes, queues and jobs, and a revision that every change raises.
///
/// Jobs have *slots* (dense small integers that stay while the job lives) and nodes have *ranks*
/// (dense, by domain path and id). Both are valid for one revision; ids are for ever.
/// Not thread-safe: one thread at a time per state; states are independent of each other.
class BERTH_API ClusterState {
 public:
  ClusterState();  ///< of no nodes and no jobs
  /// The state of a snapshot, in its revision. @throws InputError as check_snapshot, with that name for the source.
  explicit ClusterState(Snapshot snapshot, const std::string& name = "snapshot");
  ~ClusterState();
  ClusterState(ClusterState&&) noexcept;
  ClusterState& operator=(ClusterState&&) noexcept;

  /// Applies all deltas in order, or none: when one is refused, the state is as before.
  /// @returns the new revision.
  /// @throws InputError naming the delta ("deltas: /3/node: ...") and the value.
  std::uint64_t apply(std::span<const Delta> deltas);
  std::uint64_t apply(const Delta& delta) { return apply(std::span<const Delta>(&delta, 1)); }

  /// The state as a snapshot that `load` accepts: nodes and jobs in rank order, progress at `now`.
  Snapshot snapshot() const;

  std::uint64_t revision() const;
  TimeUs now() const;

  std::int32_t node_count() const;
  const Node& node(std::int32_t rank) const;
  std::int32_t find_node(std::string_view id) const;  ///< rank, or -1

  std::int32_t job_slots() const;  ///< slots in use are below this; some may be empty
  std::int32_t job_count() const;
  const Job* job(std::int32_t slot) const;           ///< null for an empty slot
  std::int32_t find_job(std::string_view id) const;  ///< slot, or -1
  std::int32_t job_rank(std::int32_t slot) const;    ///< by (submit, id)

  /// For the engine's own parts.
  StateImpl& impl() { return *impl_; }
  const StateImpl& impl() const { return *impl_; }

 private:
  std::unique_ptr<StateImpl> impl_;
};

}  // namespace berth
