#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/releases.hpp"
#include "host/core/base/table_hash.hpp"
#include "host/core/model/deadline_steps.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_view.hpp"

namespace berth {
namespace {

std::int64_t saturated(__int128 v) { return v > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(v); }

/// a * b / kSecond, saturated.
std::int64_t per_second(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product / kSecond;
  return saturated(static_cast<__int128>(a) * b / kSecond);
}

/// ceil(work / rate) seconds in microseconds, at least 1.
TimeUs time_for(std::int64_t work, std::int64_t rate) {
  if (work == INT64_MAX || rate <= 0) return kNever;
  // Division in 128 bits costs ten times as much and is needed only for months of work.
  if (work >= 0 && work <= (INT64_MAX - rate) / kSecond) return std::max<TimeUs>(1, (work * kSecond + rate - 1) / rate);
  return std::max<TimeUs>(1, saturated((static_cast<__int128>(work) * kSecond + rate - 1) / rate));
}

std::int64_t whole_gpus(const std::vector<kernel::HeldRow>& held) {
  std::int64_t gpus = 0;
  for (const auto& h : held) gpus += h.share_ppm == kWholeGpu ? std::popcount(h.mask) : 0;
  return gpus;
}

}  // namespace

void StateImpl::compile_job(std::int32_t job_index) {
  JobRecord& record = jobs[to_index(job_index)];
  const Job& j = *record.job;
  change_rows(job_index);
  job.version[to_index(job_index)] = record.version = ++job_versions_;
  ++options_version_;
  clear_options(record);
  std::vector<std::int32_t> named_by;
  for (std::size_t r = 0; r < reservations.size(); ++r) {
    const auto& names = reservations[r].jobs;
    if (std::find(names.begin(), names.end(), j.id) != names.end()) named_by.push_back(static_cast<std::int32_t>(r));
  }
  filters.begin(j, named_by);

  struct Alternative {
    kernel::OptionRow option;
    std::int64_t rate, gpus;
    bool smallest;
  };
  std::vector<Alternative> all;
  for (std::size_t s = 0; s < j.shapes.size(); ++s) {
    const Shape& shape = j.shapes[s];
    const bool elastic_groups = std::any_of(shape.groups.begin(), shape.groups.end(),
                                            [](const Group& g) { return g.members_min < g.members_want || g.spares > 0; });
    for (std::size_t t = 0; t < gpu_types.size(); ++t) {
      if (!shape.gpu_type.empty() && shape.gpu_type != gpu_types[t].id) continue;
      const auto type = static_cast<std::int32_t>(t);
      const std::int32_t filter = filters.row(type, filter_cluster());
      for (const bool smallest : {false, true}) {
        if (smallest && !elastic_groups) continue;
        const std::int32_t demand = demands.add(j, shape, type, filter, smallest, topologies);
        if (demands.takes_shares(demand)) filters.add_sharing(filter, filter_cluster());
        const std::int64_t gpus = std::max<std::int64_t>(1, demands.rows()[to_index(demand)].gpus);
        const std::int32_t at_work = smallest ? demands.gpus_named(demand) : shape.gpus;
        const std::int64_t rate = core::option_rate(*this, j, shape, type, at_work);
        all.push_back({{demand, static_cast<std::int32_t>(s)}, rate, gpus, smallest});
      }
    }
  }
  // Lowest GPU-time for the same work first: gpus / rate, compared without division. Unknown rates come last.
  std::stable_sort(all.begin(), all.end(), [](const Alternative& a, const Alternative& b) {
    if (a.smallest != b.smallest) return b.smallest;
    if ((a.rate > 0) != (b.rate > 0)) return a.rate > 0;
    return static_cast<__int128>(a.gpus) * b.rate < static_cast<__int128>(b.gpus) * a.rate;
  });
  for (const Alternative& a : all) {
    record.options.push_back(a.option);
    record.option_rate.push_back(a.rate);
    record.several_shapes = record.several_shapes || a.option.shape != record.options.front().shape;
  }
  several_shapes_ += record.several_shapes ? 1 : 0;
  record.longest_wait = !j.constraints.longest_wait.empty();
  longest_waits_ += record.longest_wait ? 1 : 0;
  core::TableHash hash;
  hash.add(j.id);
  hash.add(record.option_rate);
  set_rates_hash(record, hash.value());
}

// Rows stay when their jobs leave; they are dropped when they may be the majority of the table.
void StateImpl::forget_old_demands() {
  const auto most = [this] { return std::max(static_cast<std::int32_t>(demands.rows().size()), filters.size()); };
  if (most() < forget_from_) return;
  filters.clear();
  demands.clear();
  ++structure_;
  log_.everything();
  for (std::size_t job_index = 0; job_index < jobs.size(); ++job_index) {
    if (jobs[job_index].job) compile_job(static_cast<std::int32_t>(job_index));
  }
  forget_from_ = std::max(kForgetFrom, 2 * most());
  view_stale_ = true;
}

void StateImpl::clear_options(JobRecord& record) {
  several_shapes_ -= record.several_shapes ? 1 : 0;
  record.several_shapes = false;
  longest_waits_ -= record.longest_wait ? 1 : 0;
  record.longest_wait = false;
  record.options.clear();
  record.option_rate.clear();
}

void StateImpl::set_rates_hash(JobRecord& record, std::uint64_t hash) {
  tables_ ^= record.rates_hash ^ hash;
  record.rates_hash = hash;
}

// The last step stays.
void StateImpl::note_steps(std::int32_t job_index) {
  const Deadline& of = jobs[to_index(job_index)].job->deadline;
  TimeUs at = of.at_us;
  for (const DeadlineStep& step : of.later) step_instants_.emplace(std::exchange(at, step.at_us), job_index);
}

void StateImpl::forget_steps(std::int32_t job_index) {
  const Deadline& of = jobs[to_index(job_index)].job->deadline;
  TimeUs at = of.at_us;
  for (const DeadlineStep& step : of.later) step_instants_.erase({std::exchange(at, step.at_us), job_index});
}

void StateImpl::refresh_deadlines_between(TimeUs low, TimeUs high) {
  for (auto next = step_instants_.upper_bound({low, INT32_MAX}); next != step_instants_.end() && next->first <= high; ++next) {
    job.deadline[to_index(next->second)] = core::deadline_at(jobs[to_index(next->second)].job->deadline, now);
    touch_job(next->second);
  }
}

void StateImpl::store_columns(std::int32_t job_index) {
  touch_job(job_index);
  const std::size_t s = to_index(job_index);
  const JobRecord& record = jobs[s];
  const Job& j = *record.job;
  const bool running = j.state == JobState::kRunning;
  job.id[s] = &j.id;
  job.submit[s] = j.submit_us;
  job.estimate[s] = j.estimate.run_us;
  job.deadline[s] = core::deadline_at(j.deadline, now);
  job.hard_deadline[s] = j.deadline.hard ? j.deadline.at_us : kNever;
  job.time_limit[s] = j.time_limit_us;
  job.waiting_since[s] = j.waiting_since_us;
  job.priority[s] = j.priority;
  job.preemption_class[s] = j.preemption.preemption_class;
  job.running[s] = running ? 1 : 0;
  const auto queue = queue_index.find(j.queue);
  job.queue[s] = queue == queue_index.end() ? kernel::kNone : queue->second;
  job.run[s] = j.progress.run_us;
  job.attained[s] = j.progress.attained_gpu_us;

  // Where the rate at the requested shape is known, an estimate of time is an estimate of work.
  const std::int64_t requested = core::requested_rate(*this, j);
  job.estimate_rate[s] = j.progress.work_total > 0 || j.estimate.run_us == kNever ? 0 : requested;
  if (j.progress.work_total > 0) {
    job.work_left[s] = std::max<std::int64_t>(0, j.progress.work_total - j.progress.work_done);
  } else if (j.estimate.run_us != kNever) {
    const TimeUs left = std::max<TimeUs>(0, j.estimate.run_us - j.progress.run_us);
    job.work_left[s] = per_second(left, requested);
  } else {
    job.work_left[s] = INT64_MAX;
  }

  job.shape[s] = -1;
  job.rate[s] = record.option_rate.empty() ? 0 : record.option_rate.front();
  job.gpus[s] = j.shapes.empty() ? 1 : std::max(1, j.shapes.front().gpus);
  job.waiting_left[s] = time_for(job.work_left[s], job.rate[s]);
  job.local_batch[s] = 0;
  job.learning_rate_pico[s] = 0;
  job.victim_from[s] = kNever;
  job.end[s] = kNever;
  if (running) {
    for (std::size_t k = 0; k < j.shapes.size(); ++k) {
      if (j.shapes[k].id == j.allocation.shape) job.shape[s] = static_cast<std::int32_t>(k);
    }
    if (job.shape[s] >= 0) {
      job.local_batch[s] = j.shapes[to_index(job.shape[s])].local_batch;
      job.learning_rate_pico[s] = j.shapes[to_index(job.shape[s])].learning_rate_pico;
    }
    job.gpus[s] = static_cast<std::int32_t>(std::max<std::int64_t>(1, whole_gpus(record.held)));
    job.rate[s] = core::placed_rate(*this, j, job.shape[s], record.entries);
    // The run time left is then the estimate less the time already run, without rounding.
    const std::int64_t rate = job.rate[s];
    const bool exact = rate > 0 && rate % kSecond == 0 && rate == job.estimate_rate[s] && j.estimate.run_us <= INT64_MAX / rate;
    if (exact) job.end[s] = job.progress_at[s] + std::max<TimeUs>(0, j.estimate.run_us - j.progress.run_us);
    if (j.preemption.preemptible) {
      const TimeUs ran_enough = job.progress_at[s] + std::max<TimeUs>(0, j.preemption.minimum_run_us - j.progress.run_us);
      job.victim_from[s] = std::max(ran_enough, j.preemption.guaranteed_until_us);
    }
  }
}

void StateImpl::occupy(std::int32_t job_index, const kernel::HeldRow& row) {
  const std::size_t n = to_index(row.node);
  assert((row.mask & ~total_gpus_[n]) == 0);
  assert(row.share_ppm < kWholeGpu || (row.mask & node.held[n]) == 0);
  jobs_on_[n].push_back(job_index);
  node.held[n] |= row.mask;
  node.cpu_held[n] += row.cpu;
  node.memory_held[n] += row.memory;
  for (std::uint64_t left = row.share_ppm < kWholeGpu ? row.mask : 0; left != 0; left &= left - 1) {
    const std::size_t gpu = to_index(node.gpu_begin[n] + std::countr_zero(left));
    node.gpu_used_ppm[gpu] += row.share_ppm;
    node.gpu_used_memory[gpu] += row.gpu_memory;
  }
}

void StateImpl::hold(std::int32_t job_index) {
  JobRecord& record = jobs[to_index(job_index)];
  const Job& j = *record.job;
  change_rows(job_index);
  record.held.clear();
  record.entries.clear();
  const Shape* shape = nullptr;
  for (const Shape& one : j.shapes) {
    if (one.id == j.allocation.shape) shape = &one;
  }
  std::int32_t type = kernel::kNone;
  for (const AllocationEntry& entry : j.allocation.entries) {
    kernel::HeldRow row{};
    row.node = node_rank.at(entry.node);
    row.share_ppm = entry.share_ppm;
    for (const std::int32_t g : entry.gpus) row.mask |= std::uint64_t{1} << g;
    const auto gpus = static_cast<std::int64_t>(entry.gpus.size());
    row.cpu = j.constraints.cpu_milli_per_gpu * gpus;
    row.memory = j.constraints.memory_bytes_per_gpu * gpus;
    row.gpu_memory = j.constraints.gpu_memory_bytes;
    record.held.push_back(row);
    PlanEntry placed{row.node, 0, entry.member, static_cast<std::int32_t>(gpus), row.mask, row.share_ppm, entry.time_shared};
    for (std::size_t g = 0; shape != nullptr && g < shape->groups.size(); ++g) {
      if (shape->groups[g].name != entry.group) continue;
      placed.group = static_cast<std::int32_t>(g);
      placed.members = static_cast<std::int32_t>(gpus / std::max(1, shape->groups[g].gpus_per_member));
    }
    record.entries.push_back(placed);
    type = node.type[to_index(row.node)];
    occupy(job_index, row);
    refresh_node(row.node);
  }
  job.held_type[to_index(job_index)] = type;
  const auto queue = queue_index.find(j.queue);
  job.queue[to_index(job_index)] = queue == queue_index.end() ? kernel::kNone : queue->second;
  charge_queues(job_index, 1);
  view_stale_ = true;
}

void StateImpl::release(std::int32_t job_index) {
  JobRecord& record = jobs[to_index(job_index)];
  for (const kernel::HeldRow& row : record.held) {
    const std::size_t n = to_index(row.node);
    node.cpu_held[n] -= row.cpu;
    node.memory_held[n] -= row.memory;
    assert((row.mask & ~node.held[n]) == 0);
    assert(node.cpu_held[n] >= 0 && node.memory_held[n] >= 0);
    std::uint64_t freed = row.mask;
    if (row.share_ppm < kWholeGpu) {
      for (std::uint64_t left = row.mask; left != 0; left &= left - 1) {
        const std::size_t g = to_index(node.gpu_begin[n] + std::countr_zero(left));
        node.gpu_used_ppm[g] -= row.share_ppm;
        node.gpu_used_memory[g] -= row.gpu_memory;
        assert(node.gpu_used_ppm[g] >= 0);
        if (node.gpu_used_ppm[g] > 0) freed &= ~(left & -left);
      }
    }
    node.held[n] &= ~freed;
    jobs_on_[n].erase(std::find(jobs_on_[n].begin(), jobs_on_[n].end(), job_index));
    refresh_node(row.node);
  }
  charge_queues(job_index, -1);
  change_rows(job_index);
  record.held.clear();
  record.entries.clear();
  job.held_type[to_index(job_index)] = kernel::kNone;
  view_stale_ = true;
}

void StateImpl::charge_queues(std::int32_t job_index, int sign) {
  const std::int32_t type = job.held_type[to_index(job_index)];
  std::int64_t quota = 0;
  for (const kernel::HeldRow& h : jobs[to_index(job_index)].held) quota += std::int64_t{sign} * h.share_ppm * std::popcount(h.mask);
  if (type < 0) return;
  const kernel::QueueColumns columns{queue_parent.data(), queue_cap.data(), queue_kept.empty() ? nullptr : queue_kept.data(),
                                     queue_used.data(), static_cast<std::int32_t>(gpu_types.size())};
  kernel::charge_queues(columns, job.queue[to_index(job_index)], type, quota);
}

// The largest values are those that a snapshot may hold.
void StateImpl::advance(std::int32_t job_index, Progress& progress) const {
  const std::size_t s = to_index(job_index);
  if (job.running[s] == 0 || job.progress_at[s] >= now) return;
  progress.run_us = run_now(job_index);
  progress.attained_gpu_us = attained_now(job_index);
  if (progress.work_total <= 0) return;
  const std::int64_t left = progress.work_total - progress.work_done;
  progress.work_done += std::min(left, per_second(job.rate[s], now - job.progress_at[s]));
}

void StateImpl::settle(std::int32_t job_index) {
  advance(job_index, jobs[to_index(job_index)].job->progress);
  job.progress_at[to_index(job_index)] = now;
}

std::int64_t StateImpl::work_left_now(std::int32_t job_index) const {
  const std::size_t s = to_index(job_index);
  if (job.running[s] == 0 || job.work_left[s] == INT64_MAX) return job.work_left[s];
  // An estimate is of run time: time already run counts against it, at whatever rate.
  if (job.estimate_rate[s] > 0) {
    return per_second(std::max<TimeUs>(0, job.estimate[s] - run_now(job_index)), job.estimate_rate[s]);
  }
  return std::max<std::int64_t>(0, job.work_left[s] - per_second(job.rate[s], now - job.progress_at[s]));
}

TimeUs StateImpl::run_at(std::int32_t job_index, std::int64_t rate) const { return time_for(work_left_now(job_index), rate); }

TimeUs StateImpl::remaining(std::int32_t job_index) const {
  if (job.running[to_index(job_index)] == 0) return job.waiting_left[to_index(job_index)];
  const TimeUs end = job.end[to_index(job_index)];
  return end == kNever ? run_at(job_index, job.rate[to_index(job_index)]) : std::max<TimeUs>(1, end - now);
}

TimeUs StateImpl::option_run(std::int32_t job_index, std::size_t option) const {
  const std::size_t s = to_index(job_index);
  return run_or_limit(job_index, jobs[s].option_rate[option]);
}

TimeUs StateImpl::too_late(std::int32_t job_index) const {
  const TimeUs deadline = job.hard_deadline[to_index(job_index)];
  if (deadline == kNever || job.running[to_index(job_index)] != 0) return kNever;
  // The first alternative is mostly enough, and its run time is in a column.
  const TimeUs first = job.waiting_left[to_index(job_index)];
  if (first == kNever || first > kNever - 1 - now || now + first <= deadline) return kNever;
  TimeUs earliest = kNever;
  for (const std::int64_t rate : jobs[to_index(job_index)].option_rate) {
    const TimeUs run = run_at(job_index, rate);
    if (run == kNever || run > kNever - 1 - now || now + run <= deadline) return kNever;
    earliest = std::min(earliest, now + run);
  }
  return earliest;
}

TimeUs StateImpl::last_start(std::int32_t job_index) const {
  const TimeUs deadline = job.hard_deadline[to_index(job_index)];
  if (deadline == kNever) return kNever;
  TimeUs shortest = kNever;
  for (const std::int64_t rate : jobs[to_index(job_index)].option_rate) {
    const TimeUs run = run_at(job_index, rate);
    if (run == kNever) return kNever;
    shortest = std::min(shortest, run);
  }
  return deadline - shortest;
}

TimeUs StateImpl::run_or_limit(std::int32_t job_index, std::int64_t rate) const { return or_limit(job_index, run_at(job_index, rate)); }

TimeUs StateImpl::remaining_or_limit(std::int32_t job_index) const { return or_limit(job_index, remaining(job_index)); }

TimeUs StateImpl::or_limit(std::int32_t job_index, TimeUs predicted) const {
  const TimeUs limit = job.time_limit[to_index(job_index)];
  return predicted != kNever || limit == kNever ? predicted : std::max<TimeUs>(1, limit - run_now(job_index));
}

std::int64_t StateImpl::attained_now(std::int32_t job_index) const {
  const std::size_t s = to_index(job_index);
  if (job.running[s] == 0) return job.attained[s];
  const __int128 attained = static_cast<__int128>(job.attained[s]) + static_cast<__int128>(now - job.progress_at[s]) * job.gpus[s];
  return attained > kScoreCeiling ? kScoreCeiling : static_cast<std::int64_t>(attained);
}

TimeUs StateImpl::run_now(std::int32_t job_index) const {
  const std::size_t s = to_index(job_index);
  return job.running[s] == 0 ? job.run[s] : std::min(kMaxTimeUs, job.run[s] + (now - job.progress_at[s]));
}

}  // namespace berth
