#include "host/core/placement/failures.hpp"

#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

// Few jobs are marked.
void Failures::clear() {
  for (const std::int32_t job : jobs_) {
    lost_[to_index(job)] = 0;
    repaired_[to_index(job)] = -1;
  }
  jobs_.clear();
  repairs_.clear();
}

void Failures::find(const StateImpl& s, std::span<const kernel::TakenRow> taken) {
  clear();
  lost_.resize(s.jobs.size(), 0);
  repaired_.resize(s.jobs.size(), -1);
  problem_ = s.problem();
  s.list_jobs_that_lost_gpus(jobs_);
  if (jobs_.empty()) return;
  before_.begin(s.problem());
  for (const kernel::TakenRow& row : taken) {
    before_.free()[to_index(row.node)] &= ~row.mask;
    before_.spare()[to_index(row.node)] &= ~row.mask;
  }
  gang_repair_.begin(s, jobs_, before_);
  for (const std::int32_t job : jobs_) {
    std::vector<PlanEntry> gang;
    if (gang_repair_.repair(s, job, before_, gang)) {
      repaired_[to_index(job)] = static_cast<std::int32_t>(repairs_.size());
      repairs_.push_back(std::move(gang));
    } else {
      lost_[to_index(job)] = 1;
      before_.release(job);
    }
  }
  problem_ = before_.view();
}

std::int64_t Failures::rate(const StateImpl& s, std::int32_t job) const {
  return repaired_rate(s, job, repairs_[to_index(repaired_[to_index(job)])]);
}

TimeUs Failures::run_left(const StateImpl& s, std::int32_t job) const { return s.run_or_limit(job, rate(s, job)); }

}  // namespace berth::core
