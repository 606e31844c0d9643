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
  const JobPlace blocked = start_until_blocked();
  const std::int32_t pool = blocked.job < 0 ? -1 : run_.jobs()[blocked.job].pool;
  if (reserved_pool_ >= 0 && reserved_pool_ != pool) make_due(reserved_pool_);
  reserved_pool_ = pool;
  if (pool >= 0) {
    if (!reserve_for(blocked)) make_due(pool);
    for (const std::int32_t due : due_) start_behind(blocked, due, due == pool);
  }
  for (const std::int32_t due : due_) is_due_[to_index(due)] = 0;
  due_.clear();
}

/// Starts jobs in order. @returns the first that finds no GPUs.
JobPlace BackfillDecisions::start_until_blocked() {
  for (;;) {
    const JobPlace first = waiting_.first();
    if (first.job < 0) return first;
    const CountedJob& job = run_.jobs()[first.job];
    if (!run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(first.job))) return first;
    start(first);
  }
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

void BackfillDecisions::start(const JobPlace& place) {
  waiting_.erase(run_.jobs()[place.job], place);
  run_.start(place, true);
}

/// Starts jobs of a pool behind the blocked one. @param reserved  The reservation is in this pool.
void BackfillDecisions::start_behind(const JobPlace& blocked, std::int32_t pool, bool reserved) {
  const bool bounded = reserved && reservation_.at != kNever;
  BackfillLines::Room room{blocked, run_.nodes().free(pool), kNever, 0};
  if (bounded) {
    room.longest = reservation_.at - run_.now();
    // Its GPUs matter only to a job that would fit if those that are free now were the last to be reserved.
    const std::int64_t most = std::min(room.free, reservation_.spare);
    if (waiting_.first(pool, {blocked, most, kNever, 0}).job >= 0) {
      place_reservation();
      room.beside = free_beside(pool);
    }
  }
  for (;;) {
    const JobPlace place = waiting_.first(pool, room);
    if (place.job < 0) return;
    const CountedJob& job = run_.jobs()[place.job];
    if (run_.predicted(job) > room.longest) {
      run_.nodes().take_beside(reservation_.gpus, job.pool, job.gpus, run_.jobs().taken(place.job));
    } else {
      run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(place.job));
    }
    start(place);
    room.free = run_.nodes().free(pool);
    if (bounded && reservation_.placed) room.beside = free_beside(pool);
  }
}

}  // namespace berth::sim
