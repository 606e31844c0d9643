#include "host/sim/counts/release_profile.hpp"

#include "host/core/base/wide.hpp"

namespace berth::sim {

void ReleaseProfile::add(CountedJobs& jobs, std::int32_t job_index, TimeUs now, TimeUs left, TimeUs works_from) {
  CountedJob& job = jobs[job_index];
  ++version_;
  job.release = left;
  job.releases = left == kNever ? CountedJob::Releases::kNever : CountedJob::Releases::kMoving;
  if (left == kNever) return;
  if (works_from <= now) return add_fixed(jobs, job_index, core::saturating_add(now, left));
  paying_.insert({left, job.rank, job_index});
  pays_.insert({works_from, job.rank, job_index});
}

void ReleaseProfile::add_fixed(CountedJobs& jobs, std::int32_t job_index, TimeUs at) {
  CountedJob& job = jobs[job_index];
  job.release = at;
  job.releases = at == kNever ? CountedJob::Releases::kNever : CountedJob::Releases::kFixed;
  if (at != kNever) fixed_.insert({at, job.rank, job_index});
}

void ReleaseProfile::remove(const CountedJobs& jobs, std::int32_t job_index) {
  const CountedJob& job = jobs[job_index];
  ++version_;
  switch (job.releases) {
    case CountedJob::Releases::kNever:
      break;
    case CountedJob::Releases::kFixed:
      fixed_.erase({job.release, job.rank, job_index});
      break;
    case CountedJob::Releases::kOverdue:
      overdue_.erase({0, job.rank, job_index});
      break;
    case CountedJob::Releases::kMoving:
      paying_.erase({job.release, job.rank, job_index});
      pays_.erase({job.working_from, job.rank, job_index});
      break;
  }
}

void ReleaseProfile::advance(CountedJobs& jobs, TimeUs now) {
  while (!pays_.empty() && pays_.begin()->key <= now) {
    const JobPlace one = *pays_.begin();
    pays_.erase(pays_.begin());
    paying_.erase({jobs[one.job].release, one.rank, one.job});
    add_fixed(jobs, one.job, core::saturating_add(one.key, jobs[one.job].release));
  }
  while (!fixed_.empty() && fixed_.begin()->key <= now) {
    const JobPlace one = *fixed_.begin();
    fixed_.erase(fixed_.begin());
    overdue_.insert({0, one.rank, one.job});
    jobs[one.job].releases = CountedJob::Releases::kOverdue;
  }
}

TimeUs ReleaseProfile::when(const CountedJobs& jobs, std::int64_t gpus, TimeUs now, std::vector<std::int32_t>& released) const {
  released.clear();
  auto overdue = overdue_.begin(), fixed = fixed_.begin(), paying = paying_.begin();
  for (;;) {
    constexpr JobPlace kLast{kNever, INT32_MAX, -1};
    const JobPlace first = overdue == overdue_.end() ? kLast : JobPlace{now + 1, overdue->rank, overdue->job};
    const JobPlace second = fixed == fixed_.end() ? kLast : *fixed;
    const JobPlace third = paying == paying_.end() ? kLast : JobPlace{core::saturating_add(now, paying->key), paying->rank, paying->job};
    const JobPlace next = std::min({first, second, third});
    if (next.key == kNever) return kNever;
    if (next.job == first.job) ++overdue;
    if (next.job == second.job) ++fixed;
    if (next.job == third.job) ++paying;
    released.push_back(next.job);
    gpus -= jobs[next.job].gpus;
    if (gpus <= 0) return next.key;
  }
}

}  // namespace berth::sim
