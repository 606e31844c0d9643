#include "host/sim/counts/backfill_decisions.hpp"

#include <algorithm>
#include <cassert>

namespace berth::sim {

void BackfillDecisions::make_due(std::int32_t pool) {
  if (is_due_[to_index(pool)] != 0) return;
  is_due_[to_index(pool)] = 1;
  due_.push_back(pool);
}

void BackfillDecisions::push(const JobPlace& place) {
  const CountedJob& job = run_.jobs()[place.job];
  waiting_.push(job, place, run_.predicted(job));
  make_due(job.pool);
}

void BackfillDecisions::decide() {
  JobPlace blocked = kNoJob;
  if (!waiting_.is_empty()) {
    displaced_.begin();
    blocked = start_until_blocked();
  }
  const std::int32_t pool = blocked.job < 0 ? -1 : run_.jobs()[blocked.job].pool;
  if (reserved_pool_ >= 0 && reserved_pool_ != pool) make_due(reserved_pool_);
  reserved_pool_ = pool;
  if (pool >= 0) {
    if (!reserve_for(blocked)) make_due(pool);
    if (run_.preemptive() && reservation_.at == kNever) {
      for (std::int32_t one = 0; one < run_.nodes().pools(); ++one) displace_behind(blocked, one);
    } else {
      for (const std::int32_t due : due_) start_behind(blocked, due, due == pool);
    }
    for (std::size_t i = 0; i < displaced_.size(); ++i) {
      const CountedJob& job = run_.jobs()[displaced_[i].job];
      run_.preempt(displaced_[i].job);
      waiting_.push(job, displaced_[i], run_.predicted(job));
    }
  }
  for (const std::int32_t due : due_) is_due_[to_index(due)] = 0;
  due_.clear();
}

/// Starts jobs in order. @returns the first that finds no GPUs.
JobPlace BackfillDecisions::start_until_blocked() {
  for (;;) {
    const JobPlace first = waiting_.first();
    const JobPlace* displaced = displaced_.next();
    if (displaced != nullptr && (first.job < 0 || *displaced < first)) {
      const JobPlace place = *displaced;
      if (!find_gpus(place)) {
        displaced_.next_is_tried();
        return place;
      }
      displaced_.move(displaced_.tried());
    } else {
      if (first.job < 0 || !find_gpus(first)) return first;
      waiting_.erase(run_.jobs()[first.job], first);
      run_.start(first, true);
    }
  }
}

bool BackfillDecisions::find_gpus(const JobPlace& place) {
  const CountedJob& job = run_.jobs()[place.job];
  if (run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(place.job))) return true;
  if (!run_.preemptive() || !displaced_.displace_for(place)) return false;
  make_due(job.pool);
  return true;
}

/// @returns whether the reservation is that of the last decision.
bool BackfillDecisions::reserve_for(const JobPlace& place) {
  Reservation& r = reservation_;
  const CountedJob& job = run_.jobs()[place.job];
  ReleaseProfile& releases = run_.releases(job.pool);
  releases.advance(run_.jobs(), run_.now());
  const bool same_job = r.job.job == place.job && !(r.job < place) && !(place < r.job);
  if (same_job && r.version == releases.version() && !r.moves && !releases.moves()) return true;
  const std::int64_t free = run_.nodes().free(job.pool);
  r.job = place;
  r.version = releases.version();
  r.moves = releases.moves();
  r.placed = false;
  r.at = releases.when(run_.jobs(), job.gpus - free, run_.now(), r.released);
  r.spare = free - job.gpus;
  for (const std::int32_t one : r.released) r.spare += run_.jobs()[one].gpus;
  return false;
}

/// Finds the GPUs that the job gets when those of `released` are free.
void BackfillDecisions::place_reservation() {
  Reservation& r = reservation_;
  if (r.placed) return;
  r.placed = true;
  const CountedJob& job = run_.jobs()[r.job.job];
  NodeCounts& nodes = run_.nodes();
  for (const std::int32_t one : r.released) nodes.give(run_.jobs().taken(one));
  [[maybe_unused]] const bool fits = nodes.take(job.pool, job.gpus, r.gpus);
  assert(fits);
  nodes.give(r.gpus);
  for (const std::int32_t one : r.released) {
    [[maybe_unused]] const bool free = nodes.take_again(run_.jobs().taken(one));
    assert(free);
  }
}

std::int64_t BackfillDecisions::free_beside(std::int32_t pool) const {
  return run_.nodes().free(pool) - run_.nodes().free_of(reservation_.gpus);
}

/// The first displaced job of a pool behind a place.
std::size_t BackfillDecisions::next_displaced(std::int32_t pool, const JobPlace& behind) const {
  std::size_t i = displaced_.tried();
  while (i < displaced_.size() && !(behind < displaced_[i] && run_.jobs()[displaced_[i].job].pool == pool)) ++i;
  return i;
}

/// Starts jobs of a pool behind the blocked one, where it has no reservation. They may displace others.
void BackfillDecisions::displace_behind(JobPlace behind, std::int32_t pool) {
  // Of jobs in order, those with as many GPUs as one that found none find none either, until a job is displaced.
  std::int64_t fewer_than = INT64_MAX;
  for (;;) {
    const JobPlace first = waiting_.first(pool, {behind, fewer_than - 1, kNever, 0});
    const std::size_t displaced = next_displaced(pool, behind);
    const bool again = displaced < displaced_.size() && (first.job < 0 || displaced_[displaced] < first);
    if (!again && first.job < 0) return;
    behind = again ? displaced_[displaced] : first;
    const CountedJob& job = run_.jobs()[behind.job];
    if (run_.nodes().take(pool, job.gpus, run_.jobs().taken(behind.job))) {
      start_or_move(behind, again, displaced);
    } else if (displaced_.displace_for(behind)) {
      start_or_move(behind, again, displaced);
      fewer_than = INT64_MAX;
    } else {
      fewer_than = std::min<std::int64_t>(fewer_than, job.gpus);
    }
  }
}

/// A job behind the blocked one has got GPUs.
void BackfillDecisions::start_or_move(const JobPlace& place, bool moved, std::size_t displaced) {
  if (moved) {
    displaced_.move(displaced);
  } else {
    waiting_.erase(run_.jobs()[place.job], place);
    run_.start(place, true);
  }
}

/// Starts jobs of a pool behind the blocked one. @param reserved  The reservation is in this pool.
void BackfillDecisions::start_behind(const JobPlace& blocked, std::int32_t pool, bool reserved) {
  const bool bounded = reserved && reservation_.at != kNever;
  BackfillLines::Room room{blocked, run_.nodes().free(pool), kNever, 0};
  std::size_t displaced = next_displaced(pool, blocked);
  if (bounded) {
    room.longest = reservation_.at - run_.now();
    // Its GPUs matter only to a job that would fit if those that are free now were the last to be reserved.
    const std::int64_t most = std::min(room.free, reservation_.spare);
    const bool close = displaced < displaced_.size() || waiting_.first(pool, {blocked, most, kNever, 0}).job >= 0;
    if (close) {
      place_reservation();
      room.beside = free_beside(pool);
    }
  }
  for (;;) {
    const JobPlace first = waiting_.first(pool, room);
    const bool again = displaced < displaced_.size() && (first.job < 0 || displaced_[displaced] < first);
    if (!again && first.job < 0) return;
    const JobPlace place = again ? displaced_[displaced] : first;
    const CountedJob& job = run_.jobs()[place.job];
    const bool beside = run_.predicted(job) > room.longest;
    if (again && job.gpus > (beside ? room.beside : room.free)) {
      displaced = next_displaced(pool, place);
      continue;
    }
    if (beside) {
      run_.nodes().take_beside(reservation_.gpus, job.pool, job.gpus, run_.jobs().taken(place.job));
    } else {
      run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(place.job));
    }
    start_or_move(place, again, displaced);
    displaced = next_displaced(pool, place);
    room.free = run_.nodes().free(pool);
    if (bounded && reservation_.placed) room.beside = free_beside(pool);
  }
}

}  // namespace berth::sim
