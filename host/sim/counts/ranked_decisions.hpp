#pragma once

#include <cstdint>
#include <vector>

#include "host/core/policy_api/policy.hpp"
#include "host/sim/counts/count_run.hpp"
#include "host/sim/counts/displaced_jobs.hpp"
#include "host/sim/counts/job_table.hpp"

namespace berth::sim {

/// The decisions of disciplines `strict` and `greedy` under a policy whose keys follow from columns and the history
/// (`follows_from_columns`). Keys of waiting jobs change, too. So while jobs wait each decision orders all jobs again.
/// Without waiting jobs there is nothing to decide.
class RankedDecisions {
 public:
  RankedDecisions(CountRun& run, core::QueuePolicy& policy, bool strict)
      : run_(run), policy_(policy), strict_(strict), displaced_(run), waits_in_(to_index(run.nodes().pools())) {}

  /// Whether no job waits that competes with jobs of this pool.
  bool is_empty(std::int32_t pool) const { return strict_ ? waiting_.empty() : waits_in_[to_index(pool)] == 0; }
  /// A job waits from now on.
  void push(const JobPlace& place) {
    waiting_.push_back(place);
    ++waits_in_[to_index(run_.jobs()[place.job].pool)];
  }
  void look_behind_again(std::int32_t /*pool*/, const JobPlace& /*place*/) {}
  void look_again(std::int32_t /*pool*/) {}
  void decide();
  /// Removes any waiting job, -1: none is left.
  std::int32_t take_any();

 private:
  void list_live();
  void order();
  void start_in_order();
  bool find_gpus(const JobPlace& place);
  void expect_change();

  CountRun& run_;
  core::QueuePolicy& policy_;
  bool strict_;
  PolicyState nothing_kept_;
  DisplacedJobs displaced_;
  JobTable table_;
  std::vector<JobPlace> waiting_;
  std::vector<std::int64_t> waits_in_;    // [pools] number of them
  std::vector<std::int64_t> fewer_than_;  // [pools] in the present decision: jobs with at least as many GPUs find none
  std::vector<std::int32_t> live_;        // running and waiting jobs
  std::vector<std::int64_t> keys_;        // of those
  std::vector<std::int64_t> key_of_;      // [jobs]
  std::vector<TimeUs> changes_;
  std::vector<JobPlace> still_waiting_;
};

}  // namespace berth::sim
