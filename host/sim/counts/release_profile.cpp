#include "host/sim/counts/release_profile.hpp"

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
  TimeUs when = kNever;
  for_each(now, [&](TimeUs at, std::int32_t job) {
    released.push_back(job);
    gpus -= jobs[job].gpus;
    if (gpus <= 0) when = at;
    return gpus > 0;
  });
  return when;
}

}  // namespace berth::sim
