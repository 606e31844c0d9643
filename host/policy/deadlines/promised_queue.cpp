#include "host/policy/deadlines/promised_queue.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/end_of.hpp"
#include "host/core/base/wide.hpp"
#include "host/policy/deadlines/promise_guard.hpp"

namespace berth::policy {
namespace {

constexpr int kMostLayings = 16;                       // jobs of a decision for which reservations are moved
constexpr std::int64_t kNoPromise = -1, kBroken = -2;  // in place of an end

// Classes of keys, most urgent first. Jobs of the first two all have room; those that run stay where they are.
enum PromiseClass : std::int64_t { kBegunRunning, kBegunWaiting, kKept, kPromisedJob, kInReach, kOtherJob };
constexpr std::int64_t kClassSpan = std::int64_t{1} << 60;

std::int64_t class_key(PromiseClass of, std::int64_t within) {
  return of * kClassSpan + std::clamp<std::int64_t>(within, 0, kClassSpan - 1);
}

std::int64_t gpu_time(const core::JobColumns& jobs, std::int32_t job) {
  return jobs.remaining[job] == kNever ? kNever : core::saturating_mul(jobs.remaining[job], jobs.gpus[job]);
}

}  // namespace

std::vector<PolicyParam> promise_parameters() {
  return {
      {"unpromised", "run", "run: jobs that get no promise run behind the others; reject: those with hard deadlines are rejected at once"},
      {"best_effort", "last",
       "jobs without a deadline, last: behind all that have one in reach; mixed: among those without a promise, by GPU-time left"},
      {"expected", "1", "0 to 100: part of the GPU-time that is left for jobs still to come which cost less of it for their value"},
      {"expected_s", "600", "the rate at which jobs come is a mean over at least this time, in seconds"},
      {"laid_again", "128", "0 to 100000: most reservations of a GPU type that are moved to make room for another one"},
      {"sharing", "none",
       "least part of its rate that each job keeps on a GPU that jobs share, up to 1, by what profiles say of colocation; none: jobs share "
       "wherever shares have room"}};
}

PromiseRules promise_rules(const Settings& settings) {
  PromiseRules rules;
  rules.mixes = settings.choice("best_effort", {"last", "mixed"}) == 1;
  rules.rejects = settings.choice("unpromised", {"run", "reject"}) == 1;
  rules.expected_ppm = settings.millionths("expected", 0, 100'000'000);
  rules.least_span = settings.millionths("expected_s", 1, kMaxTimeUs);
  rules.laid_again = settings.integer("laid_again", 0, 100'000);
  return rules;
}

std::int64_t promise_sharing(const Settings& settings) {
  return settings.text("sharing") == "none" ? 0 : settings.millionths("sharing", 1, 1'000'000);
}

void PromisedQueue::load(const PolicyState& state) {
  end_.load(state);
  step_.load(state);
  need_.load(state);
  expected_.load(state);
}

void PromisedQueue::store(PolicyState& state) const {
  end_.store(state);
  step_.store(state);
  need_.store(state);
  expected_.store(state);
}

void PromisedQueue::retain(PolicyState& state, const core::LiveJobs& live) const {
  end_.retain(state, live);
  step_.retain(state, live);
  need_.retain(state, live);
}

void PromisedQueue::drop(const core::JobColumns& jobs, std::int32_t job) {
  promises_[to_index(job)].end = -1;
  end_.set(*jobs.id[job], kBroken);
}

// A job keeps its promise while its deadline can be met and it needs no more than it did, wherever that was.
void PromisedQueue::read_promises(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices) {
  const core::PromiseColumns& columns = *jobs.promise;
  for (const std::int32_t job : job_indices) {
    if (promises_.size() <= to_index(job)) promises_.resize(to_index(job) + 1);
    Promise& promise = promises_[to_index(job)];
    promise = {};
    promise.seen = jobs.deadline[job] <= now;  // nothing is to be promised: what is kept of it stays as it is
    if (jobs.deadline[job] == kNever || promise.seen) continue;
    const std::string& id = *jobs.id[job];
    const std::int64_t end = end_.get(id, INT64_MIN);
    promise.seen = end != INT64_MIN;
    if (end < 0) continue;
    promise.end = end;
    const TimeUs promised = need_.get(id, -1), need = columns.need[job];
    const DeadlineStep* const step = core::step_until(columns.steps_of(job), end);
    if (end <= now || step == nullptr || columns.type[job] < 0 || need == kNever || promised < 0 || need > promised) {
      drop(jobs, job);
      continue;
    }
    promise.deadline = step->at_us;
    promise.from = promise.end - need;
  }
}

void PromisedQueue::lay_lines(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices) {
  const core::PromiseColumns& columns = *jobs.promise;
  lines_.resize(columns.type_gpus.size());
  n_promises_.assign(lines_.size(), 0);
  for (std::size_t type = 0; type < lines_.size(); ++type) lines_[type].begin(now, columns.type_gpus[type]);
  for (const std::int32_t job : job_indices) {
    const Promise& promise = promises_[to_index(job)];
    const TimeUs free = displaceable_from(jobs, now, job, has_promise(job) ? columns.need[job] : kNever);
    if (free > now) {
      for (std::size_t type = 0; type < lines_.size(); ++type) {
        if (columns.held_type[job] < 0 || to_index(columns.held_type[job]) == type) lines_[type].add(now, free, jobs.gpus[job]);
      }
    }
    if (!has_promise(job)) continue;
    const std::size_t type = to_index(columns.type[job]);
    lines_[type].add(std::max(promise.from, free), promise.end, columns.gpus[job]);
    ++n_promises_[type];
  }
  for (CapacityLine& line : lines_) line.settle();
}

// Steps that cost least for their value are asked for first. Jobs that got no promise before are asked again.
void PromisedQueue::admit(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices) {
  const core::PromiseColumns& columns = *jobs.promise;
  candidates_.clear();
  for (const std::int32_t job : job_indices) {
    Promise& promise = promises_[to_index(job)];
    if (jobs.deadline[job] == kNever || has_promise(job)) continue;
    const std::span<const DeadlineStep> steps = columns.steps_of(job);
    const bool known = columns.need[job] != kNever && columns.type[job] >= 0;
    const std::int64_t work = known ? core::saturating_mul(columns.need[job], columns.gpus[job]) : 0;
    if (!promise.seen) {
      end_.set(*jobs.id[job], kNoPromise);
      if (known && rules_.expected_ppm > 0) expected_.add(columns.type[job], work, steps.front().value, jobs.submit[job]);
    }
    const TimeUs last = step_.get(*jobs.id[job], kNever);
    for (std::size_t i = 0; known && i < steps.size() && steps[i].at_us <= last; ++i) {
      const bool in_reach = columns.need[job] <= steps[i].at_us - now;
      if (in_reach || steps.size() == 1) candidates_.push_back({work / steps[i].value, jobs.submit[job], job, steps[i]});
    }
  }
  std::sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) {
    return std::tie(a.cost, a.submit, *jobs.id[a.job], a.step.at_us) < std::tie(b.cost, b.submit, *jobs.id[b.job], b.step.at_us);
  });
  tries_ = 0;
  for (const Candidate& one : candidates_) {
    if (!has_promise(one.job) && try_step(jobs, now, job_indices, one)) ++n_promises_[to_index(columns.type[one.job])];
  }
}

bool PromisedQueue::try_step(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, const Candidate& one) {
  const core::PromiseColumns& columns = *jobs.promise;
  const std::int32_t job = one.job;
  CapacityLine& line = lines_[to_index(columns.type[job])];
  const TimeUs need = columns.need[job], deadline = one.step.at_us;
  const std::int64_t work = core::saturating_mul(need, columns.gpus[job]);
  const std::int64_t busy = rules_.expected_ppm == 0
                                ? 0
                                : core::mul_div(expected_.busy_micro(columns.type[job], work, one.step.value, now, rules_.least_span),
                                                rules_.expected_ppm, 1'000'000);
  const core::Wide room = (core::Wide{line.gpus()} * 1'000'000 - busy) * (deadline - now) - core::Wide{work} * 1'000'000;
  const bool leaves_room = busy == 0 || (room >= 0 && core::Wide{line.gpu_us_until(deadline)} * 1'000'000 <= room);
  const TimeUs end = leaves_room ? line.latest_end(columns.gpus[job], need, deadline) : kNever;
  promises_[to_index(job)].deadline = deadline;
  if (end != kNever) {
    line.take(end - need, end, columns.gpus[job]);
    promise(jobs, job, end);
    return true;
  }
  bool& tried = promises_[to_index(job)].tried;
  if (leaves_room && !tried && tries_ < kMostLayings) {
    tried = true;
    ++tries_;
  }
  if (leaves_room && tried && lay_again(jobs, now, job_indices, job)) return true;
  if (rules_.rejects && jobs.running[job] == 0 && columns.hard[job] != 0) {
    TimeUs earliest = core::end_of(line.earliest_start(columns.gpus[job], need, now), need);
    if (busy > 0 && earliest != kNever) earliest = line.earliest_room(work, busy, earliest);
    refused_.push_back({job, true, earliest == kNever ? kNever : std::max(earliest, deadline + 1)});
  }
  return false;
}

void PromisedQueue::promise(const core::JobColumns& jobs, std::int32_t job, TimeUs end) {
  const TimeUs need = jobs.promise->need[job];
  Promise& promise = promises_[to_index(job)];
  promise.end = end;
  promise.from = end - need;
  promise.seen = true;
  end_.set(*jobs.id[job], end);
  need_.set(*jobs.id[job], need);
  if (jobs.promise->steps_of(job).size() > 1) step_.set(*jobs.id[job], promise.deadline);
}

// As late as its step allows. False: there is no room.
bool PromisedQueue::lay(const core::JobColumns& jobs, std::int32_t job, CapacityLine& line) {
  const TimeUs need = jobs.promise->need[job];
  const TimeUs end = line.latest_end(jobs.promise->gpus[job], need, promises_[to_index(job)].deadline);
  if (end == kNever) return false;
  line.take(end - need, end, jobs.promise->gpus[job]);
  laid_end_.push_back(end);
  return true;
}

// Lays the reservations of the type that have not begun once more, the latest deadline first, together with that of the job: on one GPU
// that finds room wherever EDF would. Those of large gangs first is another try. Either all find room, or nothing changes.
bool PromisedQueue::lay_again(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::int32_t job) {
  const core::PromiseColumns& columns = *jobs.promise;
  const std::int32_t type = columns.type[job];
  if (n_promises_[to_index(type)] > rules_.laid_again) return false;
  laid_.assign(1, job);
  for (const std::int32_t other : job_indices) {
    const bool stays = jobs.running[other] != 0 && columns.stays[other] > 0;
    if (has_promise(other) && columns.type[other] == type && promises_[to_index(other)].from > now && !stays) laid_.push_back(other);
  }
  CapacityLine& line = lines_[to_index(type)];
  for (const bool large_first : {false, true}) {
    const auto before = [&](std::int32_t a, std::int32_t b) {
      if (large_first && columns.gpus[a] != columns.gpus[b]) return columns.gpus[a] > columns.gpus[b];
      const TimeUs deadline_a = promises_[to_index(a)].deadline, deadline_b = promises_[to_index(b)].deadline;
      if (deadline_a != deadline_b) return deadline_a > deadline_b;
      if (columns.gpus[a] != columns.gpus[b]) return columns.gpus[a] > columns.gpus[b];
      return *jobs.id[a] < *jobs.id[b];
    };
    std::sort(laid_.begin(), laid_.end(), before);
    spare_line_ = line;
    for (const std::int32_t other : laid_) {
      if (other == job) continue;
      const Promise& promise = promises_[to_index(other)];
      spare_line_.take(promise.from, promise.end, -columns.gpus[other]);
    }
    laid_end_.clear();
    if (!std::all_of(laid_.begin(), laid_.end(), [&](std::int32_t other) { return lay(jobs, other, spare_line_); })) continue;
    for (std::size_t i = 0; i < laid_.size(); ++i) promise(jobs, laid_[i], laid_end_[i]);
    std::swap(line, spare_line_);
    return true;
  }
  return false;
}

std::int64_t PromisedQueue::key(const core::JobColumns& jobs, TimeUs now, std::int32_t job) const {
  const Promise& promise = promises_[to_index(job)];
  const TimeUs deadline = jobs.deadline[job], left = jobs.remaining[job];
  if (has_promise(job)) {
    if (promise.from <= now) return class_key(jobs.running[job] != 0 ? kBegunRunning : kBegunWaiting, promise.from);
    return class_key(rules_.keeps && jobs.running[job] != 0 ? kKept : kPromisedJob,
                     within(rules_.promised, jobs, now, job, {promise.deadline, 1}));
  }
  if (rules_.mixes && (deadline == kNever || deadline > now)) return class_key(kInReach, gpu_time(jobs, job));
  const DeadlineStep* const step = left == kNever ? nullptr : core::step_until(jobs.promise->steps_of(job), core::end_of(now, left));
  return step != nullptr ? class_key(kInReach, within(rules_.unpromised, jobs, now, job, *step))
                         : class_key(kOtherJob, gpu_time(jobs, job));
}

// Of a job that can complete within that step.
std::int64_t PromisedQueue::within(PromiseRules::Order order, const core::JobColumns& jobs, TimeUs now, std::int32_t job,
                                   const DeadlineStep& step) const {
  if (order == PromiseRules::Order::kDeadline) return step.at_us;
  if (order == PromiseRules::Order::kCost) return gpu_time(jobs, job) / step.value;
  return step.at_us - now - std::min(jobs.remaining[job], step.at_us - now);
}

void PromisedQueue::keys(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices, std::span<std::int64_t> out) {
  refused_.clear();
  read_promises(jobs, now, job_indices);
  lay_lines(jobs, now, job_indices);
  admit(jobs, now, job_indices);
  const auto from = [&](std::int32_t job) { return has_promise(job) ? promises_[to_index(job)].from : kNever; };
  hold_back(jobs, now, job_indices, lines_, n_promises_, from, refused_);
  for (std::size_t i = 0; i < job_indices.size(); ++i) out[i] = key(jobs, now, job_indices[i]);
}

void PromisedQueue::next_change(const core::JobColumns& jobs, TimeUs now, std::span<const std::int32_t> job_indices,
                                std::span<TimeUs> out) {
  for (std::size_t i = 0; i < job_indices.size(); ++i) {
    const std::int32_t job = job_indices[i];
    const Promise& promise = promises_[to_index(job)];
    out[i] = kNever;
    // While a job runs its reservation begins later and later. Whether it has begun matters where the job could be displaced, and there a
    // decision is made anyway.
    if (has_promise(job) && promise.from > now && jobs.running[job] == 0) out[i] = promise.from;
  }
}

}  // namespace berth::policy
