#include "host/sim/counts/conservative_decisions.hpp"

#include <algorithm>
#include <cassert>

namespace berth::sim {
namespace {

constexpr TimeUs kUnplanned = -1;

}  // namespace

ConservativeDecisions::ConservativeDecisions(CountRun& run) : run_(run), keeps_(run.nodes().takes_first()), lines_(run.nodes().pools()) {
  for (std::int32_t pool = 0; pool < run.nodes().pools(); ++pool) pools_.emplace_back(run.nodes().total(pool));
}

void ConservativeDecisions::look_behind_again(std::int32_t pool, const JobPlace& place) {
  const CountedJob& job = run_.jobs()[place.job];
  const bool fixed = job.releases == CountedJob::Releases::kFixed;
  Pool& of = pools_[to_index(pool)];
  of.ended = true;
  of.more_free = of.more_free || job.releases == CountedJob::Releases::kNever || (fixed && job.release > run_.now());
  of.moved = of.moved || (fixed && job.release < run_.now());
}

void ConservativeDecisions::decide() {
  for (std::int32_t pool = 0; pool < run_.nodes().pools(); ++pool) {
    if (!is_empty(pool)) decide_in(pool);
  }
}

void ConservativeDecisions::decide_in(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  ReleaseProfile& releases = run_.releases(pool);
  releases.advance(run_.jobs(), run_.now());
  const bool moved = of.moved || releases.moves();
  if (of.planned && of.fresh.empty() && !of.ended && !moved) return;
  const bool behind = join_waiting(pool);
  if (of.planned && behind && !of.more_free && !moved) {
    of.timeline.advance(run_.now());
    plan_behind(pool, of.planned_until, of.planned_until);
  } else {
    of.starts.clear();
    const JobPlace kept_until = of.planned ? of.planned_until : kNoJob;
    of.planned_until = kNoJob;
    if (keeps_ || enough_for_any(pool)) {
      begin_timeline(pool);
      plan_behind(pool, kNoJob, kept_until);
    }
  }
  start_due(pool);
  of.planned = keeps_ && !of.waiting.empty();
  of.ended = of.more_free = false;
  of.moved = releases.moves();
}

/// Whether enough GPUs are free for some job.
bool ConservativeDecisions::enough_for_any(std::int32_t pool) const {
  const std::int64_t free = run_.nodes().free(pool);
  return lines_.first_behind(pool, kNoJob, [&](std::int32_t gpus) { return gpus <= free ? kNever : 0; }).job >= 0;
}

/// Jobs that have come are in order with the others. @returns whether all planned jobs are before them.
bool ConservativeDecisions::join_waiting(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  bool behind = true;
  reserved_.resize(to_index(run_.jobs().jobs()));
  for (const JobPlace& place : of.fresh) {
    of.waiting.insert(place);
    lines_.push(run_.jobs()[place.job], place, run_.predicted(run_.jobs()[place.job]));
    reserved_[to_index(place.job)].start = kUnplanned;
    behind = behind && of.planned_until < place;
  }
  of.fresh.clear();
  return behind;
}

/// Makes reservations behind a place, until no job behind them can start now.
/// @param kept_until  Jobs up to there were planned in the last decision.
void ConservativeDecisions::plan_behind(std::int32_t pool, JobPlace place, JobPlace kept_until) {
  constexpr int kLookEvery = 8;
  Pool& of = pools_[to_index(pool)];
  // While nothing that was taken before is free for a job, it starts no sooner, and where its GPUs are still free it gets those.
  bool more_free = of.more_free;
  JobPlace may_start = kNoJob;
  int planned = 0;
  for (auto next = of.waiting.upper_bound(place); next != of.waiting.end(); ++next, ++planned) {
    if (may_start < *next || planned % kLookEvery == 0) {
      may_start = first_that_may_start(pool, of.planned_until);
      if (may_start.job < 0) return;
    }
    const TimeUs start = reserved_[to_index(next->job)].start;
    if (start == kUnplanned || more_free || kept_until < *next) {
      plan(pool, *next, run_.now());
    } else if (start != kNever && !keep(of, *next)) {
      plan(pool, *next, std::max(start, run_.now()));
      more_free = true;
    }
    of.planned_until = *next;
  }
}

/// The first job behind a place for which there are enough GPUs from now on until it ends. kNoJob: there is none.
JobPlace ConservativeDecisions::first_that_may_start(std::int32_t pool, const JobPlace& behind) {
  pools_[to_index(pool)].timeline.room(run_.now(), room_);
  return lines_.first_behind(pool, behind, [this](std::int32_t gpus) {
    while (!room_.empty() && room_.back().gpus < gpus) room_.pop_back();
    if (room_.empty()) return TimeUs{0};
    return room_.back().until == kNever ? kNever : room_.back().until - run_.now();
  });
}

/// The timeline of the running jobs.
void ConservativeDecisions::begin_timeline(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  gpus_.assign(of.timeline.words(), 0);
  run_.nodes().add_free(pool, gpus_);
  of.timeline.begin(run_.now(), gpus_);
  run_.releases(pool).for_each(run_.now(), [&](TimeUs at, std::int32_t job) {
    std::fill(gpus_.begin(), gpus_.end(), 0);
    run_.nodes().add_to(gpus_, run_.jobs().taken(job));
    of.timeline.release(at, gpus_);
    return true;
  });
}

/// @returns false where another job has its GPUs now.
bool ConservativeDecisions::keep(Pool& of, const JobPlace& place) {
  const TimeUs start = reserved_[to_index(place.job)].start, run = run_.predicted(run_.jobs()[place.job]);
  if (start < run_.now()) return false;
  gpus_.assign(of.timeline.words(), 0);
  run_.nodes().add_to(gpus_, run_.jobs().taken(place.job));
  if (!of.timeline.is_free(start, run, gpus_)) return false;
  of.timeline.reserve(start, run, gpus_);
  of.starts.insert({start, place.rank, place.job});
  run_.count_reservation(true);
  return true;
}

/// Makes a reservation. @param from  It starts no sooner.
void ConservativeDecisions::plan(std::int32_t pool, const JobPlace& place, TimeUs from) {
  Pool& of = pools_[to_index(pool)];
  const CountedJob& job = run_.jobs()[place.job];
  const TimeUs run = run_.predicted(job);
  gpus_.resize(of.timeline.words());
  const TimeUs start = of.timeline.find(job.gpus, run, from, gpus_);
  run_.count_reservation(false);
  reserved_[to_index(place.job)] = {place, start};
  if (start == kNever) return;
  run_.nodes().choose(pool, job.gpus, gpus_, run_.jobs().taken(place.job));
  of.timeline.reserve(start, run, gpus_);
  of.starts.insert({start, place.rank, place.job});
}

void ConservativeDecisions::start_due(std::int32_t pool) {
  Pool& of = pools_[to_index(pool)];
  while (!of.starts.empty() && of.starts.begin()->key <= run_.now()) {
    const JobPlace& place = reserved_[to_index(of.starts.begin()->job)].place;
    assert(of.starts.begin()->key == run_.now());
    [[maybe_unused]] const bool free = run_.nodes().take_again(run_.jobs().taken(place.job));
    assert(free);
    of.waiting.erase(place);
    lines_.erase(run_.jobs()[place.job], place);
    of.starts.erase(of.starts.begin());
    run_.start(place, true);
  }
}

std::int32_t ConservativeDecisions::take_any() {
  for (Pool& of : pools_) {
    if (of.fresh.empty()) continue;
    const std::int32_t job = of.fresh.back().job;
    of.fresh.pop_back();
    return job;
  }
  return lines_.take_any();
}

}  // namespace berth::sim
