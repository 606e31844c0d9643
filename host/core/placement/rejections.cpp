#include "host/core/placement/rejections.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {

namespace {

/// What is known before the pass.
ReasonInput before_pass(const StateImpl& s, const kernel::ProblemView& p) {
  ReasonInput input;
  input.problem = &p;
  input.asked = s.problem().options;
  input.free = {p.node_free, p.node_cpu, p.node_memory, p.gpu_used_ppm, p.gpu_used_memory, nullptr};
  input.queue_used = p.queue_used;
  input.total = s.total_supply();
  input.drained = s.node.drained.data();
  input.failed = s.node.failed.data();
  input.held = s.node.held.data();
  input.held_begin = s.problem().held_begin;
  input.held_end = s.problem().held_end;
  input.held_rows = s.problem().held;
  input.now = s.now;
  input.lasting_filters = s.filters.lasting();
  input.cluster_version = s.structure_version();
  return input;
}

}  // namespace

ReasonInput Rejections::reason_input(const StateImpl& s, const kernel::ProblemView& p) const {
  ReasonInput input = before_pass(s, p);
  input.free = after_.supply();
  input.queue_used = after_.queue_used().data();
  return input;
}

const std::vector<std::uint8_t>& Rejections::reject(const StateView& view, const kernel::ProblemView& p, CertificateMemory& certificates) {
  const StateImpl& s = impl_of(view);
  refuse({});
  if (state_.lock() != s.identity) begin_state();
  reasons_.begin_certificates(before_pass(s, p));
  const bool known = follow(s);
  rejected_.resize(s.jobs.size(), 0);
  possible_.resize(s.jobs.size(), 0);
  if (known) {
    judged_.swap(again_);
    again_.clear();
    jobs_.insert(jobs_.end(), judged_.begin(), judged_.end());
    too_late_.take_until(s, s.now, jobs_);
    std::sort(jobs_.begin(), jobs_.end());
    jobs_.erase(std::unique(jobs_.begin(), jobs_.end()), jobs_.end());
    for (const std::int32_t job : jobs_) judge(s, job, certificates);
  } else {
    rejected_.assign(s.jobs.size(), 0);
    possible_.assign(s.jobs.size(), 0);
    again_.clear();
    too_late_.clear();
    for (const std::int32_t job : s.job_order) judge(s, job, certificates);
  }
  rejected_jobs_.clear();
  for (const std::int32_t job : again_) {
    if (rejected_[to_index(job)] != 0) rejected_jobs_.push_back(job);
  }
  state_ = s.identity;  // all is of this state
  return rejected_;
}

void Rejections::refuse(std::span<const Refusal> refused) {
  for (const Refusal& one : refusals_) rejected_[to_index(one.job)] = 0;
  refusals_.assign(refused.begin(), refused.end());
  std::sort(refusals_.begin(), refusals_.end(), [](const Refusal& a, const Refusal& b) { return a.job < b.job; });
  for (const Refusal& one : refusals_) rejected_[to_index(one.job)] = one.rejected ? kNotAdmitted : kPromised;
}

// Versions, and how far a log was read, are those of one state.
void Rejections::begin_state() {
  state_.reset();
  cursor_ = {};
  reasons_ = {};
  impossible_versions_ = {};
}

/// Lists the jobs that changed. @returns whether what is kept is of the others
bool Rejections::follow(const StateImpl& s) {
  jobs_.clear();
  nodes_.clear();
  const bool same = s.log().read(cursor_, jobs_, nodes_);
  const bool known = same && cluster_ == s.cluster_version() && now_ <= s.now;
  state_.reset();
  cluster_ = s.cluster_version();
  now_ = s.now;
  return known;
}

void Rejections::judge(const StateImpl& s, std::int32_t job, CertificateMemory& certificates) {
  std::uint8_t& rejected = rejected_[to_index(job)];
  rejected = 0;
  if (s.jobs[to_index(job)].job == nullptr || s.job.running[to_index(job)] != 0) return;
  const std::uint64_t version = s.job.version[to_index(job)];
  if (possible_[to_index(job)] != version) {
    const Reason never = reasons_.never(job);
    if (never.certified) {
      again_.push_back(job);
      // Without the same evidence from the independent checker nothing is concluded: the job waits.
      if (certificates.holds(s.facts(), job, never)) {
        rejected = kCannotRun;
        return;
      }
    } else {
      possible_[to_index(job)] = version;
    }
  }
  if (s.too_late(job) != kNever) {
    rejected = kTooLate;
    if (again_.empty() || again_.back() != job) again_.push_back(job);
  } else if (const TimeUs last = s.last_start(job); last != kNever) {
    too_late_.add(s, last + 1, job);
  }
}

const std::vector<std::uint8_t>& Rejections::impossible(const StateImpl& s, const kernel::ProblemView& p) {
  const std::pair versions(s.structure_version(), s.options_version());
  if (impossible_versions_ == versions) return impossible_;
  impossible_versions_ = versions;
  impossible_.assign(to_index(p.n_options), 0);
  for (const std::int32_t job : s.job_order) {
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) impossible_[to_index(o)] = reasons_.never_in(job, o) ? 1 : 0;
  }
  return impossible_;
}

}  // namespace berth::core
