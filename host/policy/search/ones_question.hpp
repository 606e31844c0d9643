#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/ones/columns.hpp"
#include "host/core/policy_api/kept_columns.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/search/ones_settings.hpp"

namespace berth::policy {

inline constexpr std::int64_t kOnesEpoch = 1'000'000;  // an epoch, in millionths

/// A job as ONES sees it.
struct OnesJob {
  std::int32_t job;        // of the question
  std::int32_t gpus;       // current GPUs, 0: it waits
  std::int32_t least;      // smallest of its options
  std::int32_t requested;  // of its first shape
  std::int64_t epochs;     // done, in millionths
  std::int64_t clock;      // time since its start by which changes are limited: its epochs, or run time over `gate_s`, in millionths
  TimeUs run;              // time it has run
  bool fresh;              // fewer than two epochs
};

/// State that ONES keeps per job between decisions, besides the population. -1: not known.
struct OnesMemory {
  std::vector<std::int64_t> most;       // the M of a job, GPUs
  std::vector<std::int64_t> saved;      // of a stopped job: its limit when it returns
  std::vector<std::int64_t> scheduled;  // epochs when its GPUs last changed, in millionths
  std::vector<std::int64_t> first;      // first GPU of its deployed block
};

/// A question as a problem of docs/ones.md. Keeps its memory between questions.
class OnesQuestion {
 public:
  /// @throws InvalidArgument for a GPU type that the cluster does not have, and for more GPUs or jobs than the evolution accepts.
  void set(const core::ShapeQuestion& question, const OnesSettings& settings);
  kernel::OnesView view(const OnesSettings& settings, std::uint64_t seed) const;

  /// Decides which jobs get what the best individual gives: section 9. The kept state then describes the decision.
  /// @param first, count  [jobs] of the best individual
  /// @param chosen        of the question, out
  void deploy(const core::ShapeQuestion& question, const OnesSettings& settings, const std::int32_t* first, const std::int32_t* count,
              std::span<std::int32_t> chosen);

  /// Writes the kept state of each job.
  void store(PolicyState& kept) const;

  std::int32_t n_gpus() const { return n_gpus_; }
  const std::vector<OnesJob>& jobs() const { return jobs_; }
  const core::JobsById& by_id() const { return by_id_; }
  /// The greatest option that is at most `gpus`, 0: none.
  std::int32_t fit(std::int32_t job, std::int64_t gpus) const;

 private:
  void set_type(const core::ShapeQuestion& question, const OnesSettings& settings);
  void add_steps(const core::ShapeQuestion& question);
  std::int32_t first_step(const core::ShapeQuestion& question, std::int32_t job) const;
  void recall(const PolicyState& kept);
  void set_limits(const core::ShapeQuestion& question, const OnesSettings& settings);
  void shrink_largest(const core::ShapeQuestion& question);
  void set_progress(const core::ShapeQuestion& question, const OnesSettings& settings);
  void set_deployed();
  bool may_change(std::size_t job) const { return jobs_[job].clock - memory_.scheduled[job] >= kOnesEpoch; }
  // Set what each job gets now. Return whether a running job changes.
  bool gate_all(const std::int32_t* first, const std::int32_t* count);
  bool gate_each(const std::int32_t* first, const std::int32_t* count);

  std::int32_t type_ = -1, n_gpus_ = 0;
  std::vector<OnesJob> jobs_;
  std::vector<std::int32_t> others_;  // jobs of the question that keep their GPUs
  core::JobsById by_id_;
  OnesMemory memory_;
  std::vector<std::int32_t> step_begin_, step_gpus_, step_row_;
  std::vector<std::int64_t> step_rate_;
  std::vector<std::uint8_t> fresh_, free_;
  std::vector<std::int32_t> target_;  // GPUs of each job by this decision
  std::vector<std::int32_t> start_, limit_, most_, progress_, deployed_first_, deployed_count_;
  std::vector<std::int64_t> work_;
  // Scratch for one job or one scan.
  std::vector<std::int32_t> rows_, order_;
  std::vector<TimeUs> run_;
};

}  // namespace berth::policy
