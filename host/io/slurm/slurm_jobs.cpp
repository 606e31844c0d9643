#include "host/io/slurm/slurm_jobs.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::io {

std::vector<SlurmUnit> slurm_units(const std::vector<SlurmJob>& jobs) {
  std::vector<SlurmUnit> units;
  std::unordered_map<std::int64_t, std::size_t> of_het;
  units.reserve(jobs.size());
  for (const SlurmJob& job : jobs) {
    if (job.het_id != 0) {
      const auto [found, fresh] = of_het.try_emplace(job.het_id, units.size());
      if (!fresh) {
        units[found->second].push_back(&job);
        continue;
      }
    }
    units.push_back({&job});
  }
  for (SlurmUnit& unit : units) {
    std::sort(unit.begin(), unit.end(), [](const SlurmJob* a, const SlurmJob* b) { return a->het_offset < b->het_offset; });
  }
  return units;
}

void SlurmJobs::leave_out(const SlurmJob& job, const std::string& why) { notes_.leave_out(slurm_job_name(job), why); }

std::int64_t SlurmJobs::apply_qos(const SlurmJob& from, Job& job) {
  if (qos_.empty()) return kSlurmUnset;
  const auto found = qos_.find(from.qos);
  if (found == qos_.end()) {
    notes_.count("job", " of a QOS that is not listed: none of its rules are known", slurm_job_name(from));
    return kSlurmUnset;
  }
  const SlurmQosRule& rule = found->second;
  job.preemption.preemption_class = rule.preemption_class;
  job.preemption.grace_us = rule.grace_us;
  job.preemption.minimum_run_us = rule.minimum_run_us;
  return rule.longest_s > 0 ? (rule.longest_s + 59) / 60 : kSlurmUnset;
}

Job SlurmJobs::common(const SlurmUnit& unit) {
  const SlurmJob& first = *unit.front();
  Job job;
  job.id = slurm_job_name(first);
  job.user = first.user;
  job.queue = first.account;
  if (!job.queue.empty() && queues_.insert(job.queue).second) snapshot_.queues.emplace_back().id = job.queue;
  job.virtual_cluster = first.partition;
  job.submit_us = first.submit * kSecond;
  // Requeued jobs and jobs with dependencies count from when they became eligible.
  if (first.eligible > first.submit) job.waiting_since_us = first.eligible * kSecond;
  std::int64_t limit = first.time_limit_min;
  for (const SlurmJob* part : unit) {
    job.preemption.preemptible = job.preemption.preemptible && part->requeue;
    const bool unlimited = limit == kSlurmUnset || part->time_limit_min == kSlurmUnset;
    limit = unlimited ? kSlurmUnset : std::max(limit, part->time_limit_min);
  }
  const std::int64_t longest = apply_qos(first, job);
  if (longest != kSlurmUnset) limit = limit == kSlurmUnset ? longest : std::min(limit, longest);
  if (limit != kSlurmUnset && limit != kSlurmInfinite) {
    job.time_limit_us = limit * 60 * kSecond;
    job.estimate.run_us = job.time_limit_us;
    job.estimate.source = "time_limit";
  }
  if (first.deadline > 0) {
    job.deadline.at_us = first.deadline * kSecond;
    job.deadline.hard = true;
  }
  job.progress.restarts = static_cast<std::int32_t>(std::min<std::int64_t>(first.restarts, INT32_MAX));
  return job;
}

void SlurmJobs::keep(Job job, const SlurmJob& from, std::int64_t task) {
  // The same rule as in slurm_job_name.
  const bool of_array = from.het_id == 0 && from.array_id != 0 && task >= 0;
  const std::int64_t number = from.het_id != 0 ? from.het_id : of_array ? from.array_id : from.id;
  order_.push_back({from.priority, number, of_array ? task : kSlurmUnset, &from});
  snapshot_.jobs.push_back(std::move(job));
}

std::optional<SlurmJobs::Clash> SlurmJobs::clash() const {
  std::vector<std::uint64_t> keys;
  keys.reserve(order_.size());
  for (const Order& one : order_) keys.push_back(one.key());
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return std::nullopt;
  Clash clash;
  for (std::size_t i = 0; i < order_.size() && clash.second == nullptr; ++i) {
    if (order_[i].key() != *twice) continue;
    (clash.first == nullptr ? clash.first : clash.second) = order_[i].from;
    clash.id = snapshot_.jobs[i].id;
  }
  if (clash.second->at < clash.first->at) std::swap(clash.first, clash.second);
  return clash;
}

std::vector<SlurmMember> SlurmJobs::members() const {
  std::vector<SlurmMember> members;
  members.reserve(order_.size());
  for (const Order& one : order_) members.push_back({one.from->qos, one.from->account, one.from->user});
  return members;
}

void SlurmJobs::finish() {
  std::vector<Job>& jobs = snapshot_.jobs;
  std::vector<std::int64_t> distinct;
  for (const Order& one : order_) distinct.push_back(one.priority);
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const bool ranked = !distinct.empty() && distinct.back() > INT32_MAX;
  if (ranked) notes_.say("priorities do not fit 31 bits: their ranks are used, which keep the order");
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::int64_t rank = std::lower_bound(distinct.begin(), distinct.end(), order_[i].priority) - distinct.begin();
    jobs[i].priority = static_cast<std::int32_t>(ranked ? rank : order_[i].priority);
  }
  // Slurm's instants are whole seconds. Jobs of the same second get increasing microseconds by job number, because ids are texts.
  // The keys are separate from the jobs, which are large.
  std::vector<std::tuple<TimeUs, std::uint64_t, std::size_t>> by_number;
  by_number.reserve(jobs.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) by_number.emplace_back(jobs[i].submit_us, order_[i].key(), i);
  std::sort(by_number.begin(), by_number.end());
  TimeUs second = -1, next = 0;
  for (const auto& one : by_number) {
    const std::size_t i = std::get<2>(one);
    if (jobs[i].submit_us != second) second = next = jobs[i].submit_us;
    jobs[i].submit_us = std::min(next++, second + kSecond - 1);
    snapshot_.now_us = std::max(snapshot_.now_us, jobs[i].submit_us);
  }
}

}  // namespace berth::io
