#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/problem.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/placement/gpu_sharers.hpp"
#include "host/core/placement/tried_options.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

/// The columns of promises (docs/genie.md). Memory is kept between decisions.
class PromiseTable {
 public:
  /// @param problem  with the jobs' own options
  /// @param jobs     that the policy orders
  void read(const StateImpl& state, const kernel::ProblemView& problem, const TriedOptions& tried, std::span<const std::int32_t> jobs,
            const PassRules& rules, const Failures& failures);
  PromiseColumns columns() const {
    return {step_begin_.data(), step_end_.data(), steps_.data(), hard_.data(),      type_.data(),    gpus_.data(),
            need_.data(),       cost_.data(),     stays_.data(), held_type_.data(), longest_.data(), type_gpus_};
  }

 private:
  void count_gpus(const StateImpl& s, const kernel::ProblemView& p);
  void read_job(const StateImpl& s, const kernel::ProblemView& p, const kernel::ProblemView& tried, std::int32_t job,
                const Failures& failures);
  void read_steps(const Deadline& deadline, TimeUs now, std::size_t job);
  std::int64_t slowest_rate(const StateImpl& s, std::int32_t job, std::int64_t rate);
  void bound_stay(const StateImpl& s, const kernel::ProblemView& p, std::int32_t job);
  std::int32_t demand_of(const StateImpl& s, std::int32_t demand) const;
  bool takes_any(const StateImpl& s, const kernel::ProblemView& p, std::int32_t demand);

  std::vector<std::int64_t> gpus_, type_gpus_;
  std::vector<DeadlineStep> steps_;
  std::vector<std::int32_t> step_begin_, step_end_;
  std::vector<TimeUs> need_, cost_, stays_, longest_;
  std::vector<std::int32_t> type_, held_type_;
  std::vector<std::uint8_t> hard_;
  std::vector<std::uint8_t> counts_;  // [nodes] 1: its GPUs can be promised
  std::vector<std::int8_t> any_;      // [demands] of this decision: 1: takes any GPUs of nodes that count, 0: not, -1: not known
  std::int64_t sharing_ppm_ = 0;      // PassRules::sharing_ppm
  GpuSharers sharers_;                // of the running jobs, where that is set
  bool limits_ = false;               // quotas may keep a job from GPUs that are free
};

}  // namespace berth::core
