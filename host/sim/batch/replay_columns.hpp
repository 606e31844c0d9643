#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "berth/kernel/replay/columns.hpp"
#include "berth/overheads.hpp"
#include "berth/trace.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/sim/batch/replay_batch.hpp"

namespace berth::sim {

/// Keys of jobs that have not run, and jobs by (line, key, place in the trace).
struct ReplayOrder {
  std::vector<std::int64_t> key;       // [jobs] empty: 0
  std::vector<std::int64_t> estimate;  // [jobs] empty: not read
  std::vector<std::int32_t> job_at, position;
};

/// A trace as columns of a replay, for clusters that have the same jobs in the same pools.
class ReplayColumns {
 public:
  /// @param pool_of  [jobs] from 0, without gaps
  ReplayColumns(const Trace& trace, const Overheads& overheads, const std::vector<std::int32_t>& pool_of, std::int32_t pools);

  kernel::ReplayView view() const;
  /// The order of a policy. It is found once for specs that agree in it, and stays.
  const ReplayOrder& order(const ReplaySpec& spec, core::QueuePolicy& policy, kernel::ReplayKey kind);

 private:
  ReplayOrder make_order(const ReplaySpec& spec, core::QueuePolicy& policy, kernel::ReplayKey kind) const;

  const Trace& trace_;
  std::vector<std::int64_t> submit_, run_, start_cost_, restart_cost_, move_cost_;
  std::vector<std::int32_t> line_, line_pool_, line_gpus_, line_begin_, pool_line_;
  std::map<std::string, std::unique_ptr<ReplayOrder>> orders_;
};

}  // namespace berth::sim
