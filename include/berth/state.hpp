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

/// A live cluster: nodes, queues and jobs, with a revision that every change increases.
///
/// A job has an *index* (a dense small integer, stable while the job exists).
/// A node has a *rank* (dense, by domain path and id).
/// Both are valid for one revision; ids are permanent.
/// Not thread-safe: one thread at a time per state. States are independent of each other.
class BERTH_API ClusterState {
 public:
  ClusterState();  ///< without nodes and jobs
  /// Creates the state of a snapshot, with its revision.
  /// @param name  Stands for the source in errors.
  /// @throws InputError as check_snapshot.
  explicit ClusterState(Snapshot snapshot, const std::string& name = "snapshot");
  ~ClusterState();
  ClusterState(ClusterState&&) noexcept;
  ClusterState& operator=(ClusterState&&) noexcept;

  /// Applies all deltas in order, or none: when one is rejected, the state is unchanged.
  /// @returns the new revision.
  /// @throws InputError naming the delta ("deltas: /3/node: ...") and the value.
  std::uint64_t apply(std::span<const Delta> deltas);
  std::uint64_t apply(const Delta& delta) { return apply(std::span<const Delta>(&delta, 1)); }

  /// Returns the state as a snapshot that a state can load: nodes and jobs in rank order, progress at `now`.
  Snapshot snapshot() const;

  std::uint64_t revision() const;  ///< every change increases it
  TimeUs now() const;

  std::int32_t node_count() const;
  const Node& node(std::int32_t rank) const;
  std::int32_t find_node(std::string_view id) const;  ///< rank, or -1

  std::int32_t job_index_end() const;  ///< every index of a job is below this; some indices are unused
  std::int32_t job_count() const;
  const Job* job(std::int32_t job) const;            ///< null for an unused index
  std::int32_t find_job(std::string_view id) const;  ///< index, or -1
  std::int32_t job_rank(std::int32_t job) const;     ///< by (submit, id)

  /// For the engine's own code.
  StateImpl& impl() { return *impl_; }
  const StateImpl& impl() const { return *impl_; }

 private:
  std::unique_ptr<StateImpl> impl_;
};

}  // namespace berth
