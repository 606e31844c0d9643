#include "host/core/placement/rejections.hpp"

#include <algorithm>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

ReasonInput Rejections::reason_input(const StateImpl& s, const kernel::ProblemView& p) const {
  ReasonInput input;
  input.problem = &p;
  input.asked = s.problem().options;
  input.free = after_.supply();
  input.queue_used = after_.queue_used().data();
  input.total = s.total_supply();
  input.drained = s.node.drained.data();
  input.failed = s.node.failed.data();
  input.held = s.node.held.data();
  input.held_begin = s.problem().held_begin;
  input.held_rows = s.problem().held;
  input.now = s.now;
  input.lasting_filters = s.filters.lasting();
  input.cluster_version = s.structure_version();
  return input;
}

const std::vector<std::uint8_t>& Rejections::reject(const StateView& view, const kernel::ProblemView& p, CertificateMemory& certificates) {
  const StateImpl& s = impl_of(view);
  after_.begin(p);
  reasons_.begin(reason_input(s, p));
  rejected_.assign(s.jobs.size(), 0);
  rejected_jobs_.clear();
  if (possible_of_ != s.cluster_version()) possible_.clear();
  possible_of_ = s.cluster_version();
  possible_.resize(s.jobs.size(), 0);
  for (const std::int32_t job : s.job_order) {
    if (s.job.running[to_index(job)] != 0) continue;
    rejected_[to_index(job)] = why_rejected(s, certificates, job);
    if (rejected_[to_index(job)] != 0) rejected_jobs_.push_back(job);
  }
  return rejected_;
}

std::uint8_t Rejections::why_rejected(const StateImpl& s, CertificateMemory& certificates, std::int32_t job) {
  std::uint64_t& possible = possible_[to_index(job)];
  if (possible != s.job.version[to_index(job)]) {
    const Reason never = reasons_.never(job);
    // Without the same evidence from the independent checker nothing is concluded: the job waits.
    if (never.certified && certificates.holds(s.facts(), job, never)) return kCannotRun;
    if (!never.certified) possible = s.job.version[to_index(job)];
  }
  return s.too_late(job) != kNever ? kTooLate : 0;
}

const std::vector<std::uint8_t>& Rejections::reject_again(const StateView& view, const kernel::ProblemView& p,
                                                          CertificateMemory& certificates, std::span<const std::int32_t> changed) {
  const StateImpl& s = impl_of(view);
  assert(possible_of_ == s.cluster_version());
  reasons_.begin_certificates(reason_input(s, p));
  rejected_.resize(s.jobs.size(), 0);
  possible_.resize(s.jobs.size(), 0);
  std::vector<std::int32_t>& again = again_;
  again.assign(changed.begin(), changed.end());
  again.insert(again.end(), rejected_jobs_.begin(), rejected_jobs_.end());
  std::sort(again.begin(), again.end());
  again.erase(std::unique(again.begin(), again.end()), again.end());
  rejected_jobs_.clear();
  for (const std::int32_t job : again) {
    const bool waits = s.jobs[to_index(job)].job != nullptr && s.job.running[to_index(job)] == 0;
    rejected_[to_index(job)] = waits ? why_rejected(s, certificates, job) : 0;
    if (rejected_[to_index(job)] != 0) rejected_jobs_.push_back(job);
  }
  return rejected_;
}

const std::vector<std::uint8_t>& Rejections::impossible(const StateImpl& s, const kernel::ProblemView& p) {
  const std::pair versions(s.structure_version(), s.options_version());
  if (impossible_versions_ == versions) return impossible_;
  impossible_versions_ = versions;
  impossible_.assign(to_index(p.option_begin[p.n_jobs]), 0);
  for (const std::int32_t job : s.job_order) {
    for (std::int32_t o = p.option_begin[job]; o < p.option_begin[job + 1]; ++o)
      impossible_[to_index(o)] = reasons_.never_in(job, o) ? 1 : 0;
  }
  return impossible_;
}

}  // namespace berth::core
