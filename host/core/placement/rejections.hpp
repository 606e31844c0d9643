#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/core/placement/final_state.hpp"
#include "host/core/reasons/certificate.hpp"
#include "host/core/reasons/reasons.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

/// Which waiting jobs can never run, and in which of its shapes a job can never run. Memory is kept between decisions.
class Rejections {
 public:
  /// Waiting jobs that can never run. They are rejected and delay no other job.
  /// @returns [jobs of the state] why (kCannotRun, kTooLate); 0: not rejected.
  const std::vector<std::uint8_t>& reject(const StateView& view, const kernel::ProblemView& problem, CertificateMemory& certificates);
  /// Those that `reject` gave a reason.
  std::span<const std::int32_t> rejected_jobs() const { return rejected_jobs_; }
  /// To be called after `reject` on the same problem. @returns [options of the problem] 1: the job can never run in it.
  const std::vector<std::uint8_t>& impossible(const StateImpl& state, const kernel::ProblemView& problem);

 protected:
  enum : std::uint8_t { kCannotRun = 1, kTooLate = 2 };

  ReasonInput reason_input(const StateImpl& state, const kernel::ProblemView& problem) const;

  FinalState after_;
  ReasonBuilder reasons_;
  std::vector<std::uint8_t> rejected_;  // [jobs of the state]
  std::vector<std::int32_t> rejected_jobs_;

 private:
  std::vector<std::uint64_t> possible_;   // [jobs of the state] version of the job of which no certificate holds; 0: not known
  std::uint64_t possible_of_ = 0;         // version of the cluster
  std::vector<std::uint8_t> impossible_;  // [options]
  std::pair<std::uint64_t, std::uint64_t> impossible_versions_{};  // of the structure and the options that it is of
};

}  // namespace berth::core
