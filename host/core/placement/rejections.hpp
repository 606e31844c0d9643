#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "host/core/placement/final_state.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/reasons/certificate.hpp"
#include "host/core/reasons/reasons.hpp"
#include "host/core/state/change_log.hpp"
#include "host/core/state/job_times.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Which waiting jobs can never run, and in which of its shapes a job can never run. Memory is kept between decisions.
class Rejections {
 public:
  /// Waiting jobs that can never run. They are rejected and delay no other job. Follows the changes of one state: only
  /// jobs that changed, that were rejected, or whose deadline passed are judged again.
  /// @returns [jobs of the state] why (kCannotRun, kTooLate); 0: not rejected.
  const std::vector<std::uint8_t>& reject(const StateView& view, const kernel::ProblemView& problem, CertificateMemory& certificates);
  /// Adds jobs that a policy refuses, until the next `reject`. Takes the place of an earlier call.
  void refuse(std::span<const Refusal> refused);
  /// Those that `reject` gave a reason.
  std::span<const std::int32_t> rejected_jobs() const { return rejected_jobs_; }
  /// The first instant at which a job that is not rejected is too late, of those for which `skip(job)` does not hold; kNever:
  /// none. After `reject`.
  template <class Skip>
  TimeUs first_too_late(const StateImpl& state, const Skip& skip) {
    return too_late_.first(
        state, state.now, [&](std::int32_t job) { return state.last_start(job) + 1; }, skip);
  }
  /// To be called after `reject` on the same problem. @returns [options of the problem] 1: the job can never run in it.
  const std::vector<std::uint8_t>& impossible(const StateImpl& state, const kernel::ProblemView& problem);

 protected:
  enum : std::uint8_t { kCannotRun = 1, kTooLate = 2, kNotAdmitted = 3, kPromised = 4 };

  ReasonInput reason_input(const StateImpl& state, const kernel::ProblemView& problem) const;

  FinalState after_;
  ReasonBuilder reasons_;
  std::vector<std::uint8_t> rejected_;  // [jobs of the state]
  std::vector<std::int32_t> rejected_jobs_;
  std::vector<Refusal> refusals_;  // ascending by job

 private:
  void begin_state();
  bool follow(const StateImpl& state);
  void judge(const StateImpl& state, std::int32_t job, CertificateMemory& certificates);

  std::weak_ptr<const int> state_;  // that all of this is of
  ChangeLog::Cursor cursor_;
  TimeUs now_ = 0;
  std::uint64_t cluster_ = 0;                 // version
  std::vector<std::int32_t> jobs_, nodes_;    // to be judged; not used
  std::vector<std::int32_t> again_, judged_;  // to be judged again each time; the same of the decision before
  JobTimes too_late_;                         // of waiting jobs with hard deadlines that are not rejected: when no start meets them
  std::vector<std::uint64_t> possible_;       // [jobs of the state] version of the job of which no certificate holds; 0: not known
  std::vector<std::uint8_t> impossible_;      // [options]
  std::pair<std::uint64_t, std::uint64_t> impossible_versions_{};  // of the structure and the options that it is of
};

}  // namespace berth::core
