#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "berth/kernel/delay_replay/columns.hpp"
#include "berth/overheads.hpp"
#include "berth/snapshot.hpp"
#include "berth/state.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/trace_form.hpp"

namespace berth::sim {

/// Jobs of a trace on a cluster, as columns of the operation `delay_replay` (docs/dally.md, "Timers by simulation").
class DelayProblem {
 public:
  /// @param most_gpus  of each class of demands, ascending: the most GPUs of its jobs, which have more than the class before. The last
  ///                   class has all larger ones, too. Not empty.
  /// @throws InvalidArgument where a replay would not do what `simulate` does, naming the job or the part of the cluster, and for a
  ///         trace that is not sorted
  DelayProblem(const Trace& trace, const Snapshot& cluster, const Overheads& overheads, std::span<const std::int64_t> most_gpus);

  kernel::DelayReplayView view() const;
  std::int32_t rungs() const { return static_cast<std::int32_t>(rung_level_.size()); }
  std::int32_t classes() const { return n_classes_; }
  std::int64_t gpus() const { return n_gpus_; }
  /// The most GPUs of a domain of each rung.
  std::span<const std::int64_t> rung_gpus() const { return rung_gpus_; }

 private:
  /// Jobs of one kind have the same rates: profile, GPUs, batch, cores, and whether their work is time.
  using Kind = std::tuple<std::string, std::int32_t, std::int32_t, std::int64_t, bool>;

  void add_cluster(const Snapshot& cluster);
  void add_levels(const Snapshot& cluster);
  void check_levels(const Snapshot& cluster) const;
  void add_job(const TraceJob& traced, const Overheads& overheads, std::span<const std::int64_t> most_gpus);
  std::int64_t add_rates(const TraceJob& traced, const Job& job, bool timed);
  std::int64_t rate_at(const TraceJob& traced, const Job& job, std::int32_t level, std::int32_t nodes, std::int32_t most) const;
  std::vector<std::int32_t> example(std::int32_t level, std::int32_t nodes) const;

  const Snapshot& cluster_;
  ClusterState state_;
  TraceForms forms_;
  std::int32_t n_nodes_ = 0, n_levels_ = 0, node_gpus_ = 0, n_classes_;
  std::int64_t n_gpus_ = 0;
  std::vector<std::int64_t> submit_, work_, ideal_rate_, start_cost_, resume_cost_, move_cost_, rate_begin_, rate_, rung_gpus_;
  std::vector<std::int32_t> gpus_, timer_class_, inner_begin_, level_begin_, node_domain_, child_first_, child_last_, rung_level_;
  std::vector<std::uint64_t> gpu_mask_, inner_mask_;
  std::map<Kind, std::int64_t> known_;  // first rows of `rate_`
};

}  // namespace berth::sim
