#include "host/core/placement/rejections.hpp"

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
  const auto reject = [&](std::int32_t job, std::uint8_t why) {
    rejected_[to_index(job)] = why;
    rejected_jobs_.push_back(job);
  };
  if (possible_of_ != s.cluster_version()) possible_.clear();
  possible_of_ = s.cluster_version();
  possible_.resize(s.jobs.size(), 0);
  for (const std::int32_t job : s.job_order) {
    if (s.job.running[to_index(job)] != 0) continue;
    std::uint64_t& possible = possible_[to_index(job)];
    if (possible != s.job.version[to_index(job)]) {
      const Reason never = reasons_.never(job);
      // Without the same evidence from the independent checker nothing is concluded: the job waits.
      if (never.certified && certificates.holds(s.facts(), job, never)) {
        reject(job, kCannotRun);
        continue;
      }
      if (!never.certified) possible = s.job.version[to_index(job)];
    }
    if (s.too_late(job) != kNever) reject(job, kTooLate);
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
