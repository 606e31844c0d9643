#include "host/sim/iterations/iterations.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::sim {
namespace {

/// Resources of a GPU that a stage needs. Computing needs all of them, because its use is not known where others have one each.
std::uint32_t resources(const IterationForm& form, std::int32_t stage) { return form.on_lanes ? 1U << stage : ~0U; }

std::int64_t steps_of(std::int64_t work, std::int64_t step) { return work / step + (work % step != 0 ? 1 : 0); }

}  // namespace

Iterations::Iterations(const NetworkCost& cost, const IterationRules& rules, std::span<const std::int32_t> gpus)
    : cost_(cost), rules_(rules), networked_(gpus.size(), 0), cards_(cost, static_cast<std::int32_t>(gpus.size())) {
  gpu_begin_.push_back(0);
  for (const std::int32_t n : gpus) gpu_begin_.push_back(gpu_begin_.back() + n);
  gpus_.resize(to_index(gpu_begin_.back()));
}

void Iterations::expect(TimeUs when, Event::What what, std::int32_t job_index, std::int32_t worker) {
  if (when > kMaxTimeUs) throw InvalidArgument("an iteration would end beyond the largest time");
  const Exec& job = jobs_[to_index(job_index)];
  events_.push({when, what, job.rank, job_index, worker, what == Event::What::kExchanged ? cards_.row(job_index).run : job.run});
}

bool Iterations::stale(const Event& event) const {
  const Exec& job = jobs_[to_index(event.job)];
  return event.run != (event.what == Event::What::kExchanged ? cards_.row(event.job).run : job.run);
}

void Iterations::mark(std::int32_t gpu) {
  if (std::exchange(gpus_[to_index(gpu)].dirty, true)) return;
  dirty_.push_back(gpu);
}

// Attributes the time of the GPU since the last call.
void Iterations::settle(Gpu& gpu) {
  const TimeUs gone = now_ - std::exchange(gpu.since, now_);
  assert(gone >= 0);
  if (gone == 0 || gpu.hosted.empty()) return;
  if (gpu.runs >= 0) {
    jobs_[to_index(gpu.runs)].had += gone;
    return;
  }
  for (const auto& [job, worker] : gpu.hosted) jobs_[to_index(job)].had += gone / static_cast<TimeUs>(gpu.hosted.size());
}

// Assigns a worker's stage its resource.
void Iterations::take(std::int32_t job, Worker& worker) {
  Gpu& gpu = gpus_[to_index(worker.gpu)];
  const IterationForm& form = jobs_[to_index(job)].form;
  settle(gpu);
  assert((gpu.busy & resources(form, worker.stage)) == 0);
  gpu.busy |= resources(form, worker.stage);
  if (!form.on_lanes) gpu.runs = job;
  worker.state = Worker::State::kOn;
}

void Iterations::leave(std::int32_t job, Worker& worker) {
  Gpu& gpu = gpus_[to_index(worker.gpu)];
  const IterationForm& form = jobs_[to_index(job)].form;
  settle(gpu);
  assert((~gpu.busy & resources(form, worker.stage)) == 0);
  gpu.busy &= ~resources(form, worker.stage);
  if (!form.on_lanes) gpu.runs = -1;
  mark(worker.gpu);
}

void Iterations::settle(const Exec& job) {
  for (const Worker& worker : job.workers) settle(gpus_[to_index(worker.gpu)]);
}

__int128 Iterations::service(const Exec& job) const {
  const std::int64_t iterations = steps_of(job.left - job.done, job.form.step);
  return static_cast<__int128>(iterations) * job.form.compute_us(job.form.step) * static_cast<std::int64_t>(job.workers.size());
}

TimeUs Iterations::iteration_us(const Exec& job, std::int64_t work) const {
  return std::max<TimeUs>(1, core::saturating_add(job.form.compute_us(work), job.networked() ? cost_.alone_us(job.form.bytes) : 0));
}

bool Iterations::alone(const Exec& job) const {
  if (job.networked() && std::any_of(job.nodes.begin(), job.nodes.end(), [&](std::int32_t n) { return networked_[to_index(n)] > 1; }))
    return false;
  return std::all_of(job.workers.begin(), job.workers.end(), [&](const Worker& w) { return gpus_[to_index(w.gpu)].hosted.size() == 1; });
}

void Iterations::start(const Start& start, IterationForm form, TimeUs now) {
  now_ = now;
  if (jobs_.size() <= to_index(start.job)) jobs_.resize(to_index(start.job) + 1);
  Exec& job = jobs_[to_index(start.job)];
  const std::uint64_t run = job.run + 1;
  job = Exec();
  job.run = run;
  job.form = std::move(form);
  job.rank = start.rank;
  job.left = start.left;
  job.every_us = start.costs->checkpoint_every_us;
  job.save_us = start.costs->checkpoint_save_us;
  for (const Place& place : start.places) {
    job.workers.push_back({gpu_begin_[to_index(place.node)] + place.gpu});
    if (job.nodes.empty() || job.nodes.back() != place.node) job.nodes.push_back(place.node);
  }
  std::sort(job.nodes.begin(), job.nodes.end());
  job.nodes.erase(std::unique(job.nodes.begin(), job.nodes.end()), job.nodes.end());
  job.phase = Phase::kPaying;
  // Jobs that were alone until now are followed step by step from here on.
  const auto disturb = [&](std::int32_t job_index) {
    if (jobs_[to_index(job_index)].phase == Phase::kAlone) go_together(job_index);
  };
  for (std::size_t w = 0; w < job.workers.size(); ++w) {
    Gpu& gpu = gpus_[to_index(job.workers[w].gpu)];
    settle(gpu);
    for (const auto& [job_index, worker] : gpu.hosted) disturb(job_index);
    in_use_ += gpu.hosted.empty() ? 1 : 0;
    gpu.hosted.emplace_back(start.job, static_cast<std::int32_t>(w));
  }
  if (job.networked()) {
    for (const std::int32_t node : job.nodes) {
      ++networked_[to_index(node)];
      for (std::int32_t g = gpu_begin_[to_index(node)]; g < gpu_begin_[to_index(node) + 1]; ++g) {
        for (const auto& [job_index, worker] : gpus_[to_index(g)].hosted) {
          if (jobs_[to_index(job_index)].networked()) disturb(job_index);
        }
      }
    }
  }
  expect(start.working_from, Event::What::kBegin, start.job);
}

Executed Iterations::stop(std::int32_t job_index, TimeUs now, bool stays) {
  now_ = now;
  Exec& job = jobs_[to_index(job_index)];
  settle(job);
  if (job.phase == Phase::kAlone) take_in(job, solo_at(job, now));
  if (job.phase == Phase::kExchanges) {
    cards_.end(job_index, now);
    cards_changed_ = true;
  }
  if (job.phase == Phase::kWaitsForCards) std::erase(waiting_, job_index);
  if (job.phase == Phase::kSaving) {
    job.out.saving_gpu_us += job.had - job.had_at_save;
    job.out.saving_us += now - job.begun;
  }
  for (Worker& worker : job.workers) {
    Gpu& gpu = gpus_[to_index(worker.gpu)];
    if (worker.state == Worker::State::kOn) leave(job_index, worker);
    worker.state = Worker::State::kOff;
    mark(worker.gpu);
    if (stays) continue;
    std::erase_if(gpu.hosted, [&](const auto& one) { return one.first == job_index; });
    in_use_ -= gpu.hosted.empty() ? 1 : 0;
  }
  if (!stays && job.networked()) {
    for (const std::int32_t node : job.nodes) --networked_[to_index(node)];
  }
  (job.phase == Phase::kPaying ? job.out.paid_gpu_us : job.out.had_gpu_us) += job.had;
  // Stages on other resources overlap with those of other jobs: which part is computing is not known.
  if (job.form.on_lanes) {
    job.out.busy_gpu_us = job.out.had_gpu_us - job.out.saving_gpu_us;
    job.out.unsaved_gpu_us = std::min(job.out.unsaved_gpu_us, job.out.busy_gpu_us);
  }
  job.out.done = job.done;
  job.out.saved = job.saved;
  ++job.run;
  job.phase = stays ? Phase::kOver : Phase::kNone;
  job.left -= job.done;
  job.done = job.saved = 0;
  job.had = 0;
  return std::exchange(job.out, {});
}

std::int64_t Iterations::done(std::int32_t job_index, TimeUs now) const {
  const Exec& job = jobs_[to_index(job_index)];
  return job.phase == Phase::kAlone ? job.done + solo_at(job, now).work : job.done;
}

TimeUs Iterations::run_until(TimeUs now, TimeUs limit, const std::function<bool()>& interrupted) {
  now_ = now;
  ended_.clear();
  settle_instant();
  for (std::int64_t instants = 1;; ++instants) {
    while (!events_.empty() && stale(events_.top())) events_.pop();
    if (events_.empty() || events_.top().at > limit) return limit;
    now_ = events_.top().at;
    while (!events_.empty() && events_.top().at <= now_) {
      const Event event = events_.top();
      events_.pop();
      if (stale(event)) continue;
      happen(event);
      foretell();
    }
    settle_instant();
    if (!ended_.empty()) {
      std::sort(ended_.begin(), ended_.end(),
                [&](std::int32_t a, std::int32_t b) { return jobs_[to_index(a)].rank < jobs_[to_index(b)].rank; });
      return now_;
    }
    if (instants % 65'536 == 0 && interrupted && interrupted()) return now_;
  }
}

void Iterations::happen(const Event& event) {
  Exec& job = jobs_[to_index(event.job)];
  switch (event.what) {
    case Event::What::kBegin:
      settle(job);
      job.out.paid_gpu_us = std::exchange(job.had, 0);
      next_iteration(event.job);
      break;
    case Event::What::kAlone:
      take_in(job, solo_at(job, now_));
      save_or_go_on(event.job);
      break;
    case Event::What::kStage: {
      Worker& worker = job.workers[to_index(event.worker)];
      leave(event.job, worker);
      ++worker.stage;
      advance(event.job, event.worker);
      break;
    }
    case Event::What::kExchanged:
      cards_.end(event.job, now_);
      cards_changed_ = true;
      finish_iteration(event.job);
      break;
    case Event::What::kSaved:
      settle(job);
      job.out.saving_gpu_us += job.had - job.had_at_save;
      job.out.saving_us += job.save_us;
      job.out.unsaved_gpu_us = 0;
      job.saved = job.done;
      job.since_save = 0;
      next_iteration(event.job);
      break;
  }
}

// Called between two iterations.
void Iterations::save_or_go_on(std::int32_t job_index) {
  Exec& job = jobs_[to_index(job_index)];
  if (job.every_us == 0 || job.since_save < job.every_us || job.done == job.left) return next_iteration(job_index);
  settle(job);
  job.had_at_save = job.had;
  job.phase = Phase::kSaving;
  job.begun = now_;
  ++job.run;
  expect(core::saturating_add(now_, job.save_us), Event::What::kSaved, job_index);
}

// Predicts the ends of all-reduces whose rate has changed, including at this instant.
void Iterations::foretell() {
  for (const std::int32_t id : cards_.changed()) {
    if (cards_.active(id)) expect(std::max(now_, cards_.finish_us(id)), Event::What::kExchanged, id);
  }
  cards_.changed().clear();
}

void Iterations::settle_instant() {
  if (cards_changed_) admit();
  foretell();
  for (const std::int32_t gpu : dirty_) {
    gpus_[to_index(gpu)].dirty = false;
    dispatch_workers(gpu);
  }
  dirty_.clear();
}

void Iterations::admit() {
  cards_changed_ = false;
  std::sort(waiting_.begin(), waiting_.end(), [&](std::int32_t a, std::int32_t b) {
    const Exec &one = jobs_[to_index(a)], &other = jobs_[to_index(b)];
    const __int128 ours = service(one), theirs = service(other);
    return ours != theirs ? ours < theirs : one.rank < other.rank;
  });
  std::size_t kept = 0;
  for (const std::int32_t job_index : waiting_) {
    Exec& job = jobs_[to_index(job_index)];
    if (!cards_.admits(rules_.admission, job.form.bytes, job.nodes, now_)) {
      waiting_[kept++] = job_index;
      continue;
    }
    job.phase = Phase::kExchanges;
    cards_.begin(job_index, job.form.bytes, job.nodes, now_, now_);
  }
  waiting_.resize(kept);
}

void Iterations::dispatch_workers(std::int32_t g) {
  Gpu& gpu = gpus_[to_index(g)];
  for (;;) {
    Worker* best = nullptr;
    std::int32_t best_job = -1, best_worker = 0;
    for (const auto& [job_index, w] : gpu.hosted) {
      Exec& job = jobs_[to_index(job_index)];
      Worker& worker = job.workers[to_index(w)];
      if (worker.state != Worker::State::kReady || (gpu.busy & resources(job.form, worker.stage)) != 0) continue;
      const auto before = [&] {
        const Exec& other = jobs_[to_index(best_job)];
        if (rules_.gpu_order == GpuOrder::kLeast) {
          const __int128 ours = service(job), theirs = service(other);
          if (ours != theirs) return ours < theirs;
        } else if (worker.ready_since != best->ready_since) {
          return worker.ready_since < best->ready_since;
        }
        return job.rank < other.rank;
      };
      if (best != nullptr && !before()) continue;
      best = &worker;
      best_job = job_index;
      best_worker = w;
    }
    if (best == nullptr) return;
    Exec& job = jobs_[to_index(best_job)];
    take(best_job, *best);
    const TimeUs length = job.form.length(to_index(best->stage), job.work());
    expect(core::saturating_add(now_, length), Event::What::kStage, best_job, best_worker);
  }
}

// Finished iterations of a job that has been alone since `begun`. An iteration with less than a whole step is the last.
Iterations::Solo Iterations::solo_at(const Exec& job, TimeUs now) const {
  const std::int64_t left = job.left - job.done, whole = left / job.form.step, part = left % job.form.step;
  const TimeUs each = iteration_us(job, job.form.step), gone = now - job.begun;
  Solo solo{std::min({gone / each, whole, job.until_save}), 0, 0, 0};
  solo.work = solo.iterations * job.form.step;
  solo.compute = core::saturating_mul(solo.iterations, job.form.compute_us(job.form.step));
  solo.rest = gone - solo.iterations * each;
  if (solo.iterations == whole && part > 0 && solo.iterations < job.until_save && solo.rest >= iteration_us(job, part)) {
    ++solo.iterations;
    solo.work += part;
    solo.compute = core::saturating_add(solo.compute, job.form.compute_us(part));
    solo.rest -= iteration_us(job, part);
  }
  return solo;
}

void Iterations::take_in(Exec& job, const Solo& solo) {
  const __int128 busy = static_cast<__int128>(solo.compute) * static_cast<std::int64_t>(job.workers.size());
  job.done += solo.work;
  assert(job.done <= job.left);
  job.since_save += now_ - solo.rest - job.begun;
  job.out.busy_gpu_us += busy;
  job.out.unsaved_gpu_us += busy;
}

void Iterations::next_iteration(std::int32_t job_index) {
  Exec& job = jobs_[to_index(job_index)];
  ++job.run;
  job.begun = now_;
  if (job.done == job.left) {
    job.phase = Phase::kOver;
    ended_.push_back(job_index);
    return;
  }
  if (!alone(job)) {
    begin_together(job_index, now_);
    return;
  }
  job.phase = Phase::kAlone;
  const std::int64_t left = job.left - job.done, whole = left / job.form.step, part = left % job.form.step;
  const TimeUs each = iteration_us(job, job.form.step);
  job.until_save = INT64_MAX;
  if (job.every_us > 0) job.until_save = std::max<std::int64_t>(1, steps_of(job.every_us - job.since_save, each));
  TimeUs length = core::saturating_mul(std::min(whole, job.until_save), each);
  if (part > 0 && whole < job.until_save) length = core::saturating_add(length, iteration_us(job, part));
  expect(core::saturating_add(now_, length), Event::What::kAlone, job_index);
}

void Iterations::begin_together(std::int32_t job_index, TimeUs begun) {
  Exec& job = jobs_[to_index(job_index)];
  job.phase = Phase::kTogether;
  job.begun = begun;
  job.at_barrier = 0;
  for (std::size_t w = 0; w < job.workers.size(); ++w) {
    job.workers[w].stage = 0;
    advance(job_index, static_cast<std::int32_t>(w));
  }
}

// Advances to the next stage that takes time, or to the end of the iteration.
void Iterations::advance(std::int32_t job_index, std::int32_t w) {
  Exec& job = jobs_[to_index(job_index)];
  Worker& worker = job.workers[to_index(w)];
  const auto stages = static_cast<std::int32_t>(job.form.stage_us.size());
  while (worker.stage < stages && job.form.stage_us[to_index(worker.stage)] == 0) ++worker.stage;
  if (worker.stage < stages) {
    worker.state = Worker::State::kReady;
    worker.ready_since = now_;
    mark(worker.gpu);
    return;
  }
  worker.state = Worker::State::kOff;
  if (++job.at_barrier < static_cast<std::int32_t>(job.workers.size())) return;
  if (job.networked()) {
    job.phase = Phase::kWaitsForCards;
    waiting_.push_back(job_index);
    cards_changed_ = true;
  } else {
    finish_iteration(job_index);
  }
}

void Iterations::finish_iteration(std::int32_t job_index) {
  Exec& job = jobs_[to_index(job_index)];
  const __int128 busy = static_cast<__int128>(job.form.compute_us(job.work())) * static_cast<std::int64_t>(job.workers.size());
  job.out.busy_gpu_us += busy;
  job.out.unsaved_gpu_us += busy;
  job.since_save += now_ - job.begun;
  job.done += job.work();
  save_or_go_on(job_index);
}

// Switches a job from being alone to being followed step by step. All of its workers are at the same stage.
// A stage that ends or begins at this instant has done so before the arrival of the other job.
void Iterations::go_together(std::int32_t job_index) {
  Exec& job = jobs_[to_index(job_index)];
  const Solo solo = solo_at(job, now_);
  take_in(job, solo);
  ++job.run;
  TimeUs into = solo.rest;
  job.begun = now_ - into;
  job.phase = Phase::kTogether;
  job.at_barrier = 0;
  std::int32_t stage = 0;
  const auto stages = static_cast<std::int32_t>(job.form.stage_us.size());
  for (; stage < stages && into >= job.form.length(to_index(stage), job.work()); ++stage)
    into -= job.form.length(to_index(stage), job.work());
  if (stage == stages) {
    job.phase = Phase::kExchanges;
    job.at_barrier = static_cast<std::int32_t>(job.workers.size());
    cards_.begin(job_index, job.form.bytes, job.nodes, now_ - into, now_);
    return;
  }
  for (std::size_t w = 0; w < job.workers.size(); ++w) {
    Worker& worker = job.workers[w];
    worker.stage = stage;
    take(job_index, worker);
    expect(now_ - into + job.form.length(to_index(stage), job.work()), Event::What::kStage, job_index, static_cast<std::int32_t>(w));
  }
}

}  // namespace berth::sim
