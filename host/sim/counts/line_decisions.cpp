#include "host/sim/counts/line_decisions.hpp"

namespace berth::sim {

void LineDecisions::push(const JobPlace& place) {
  CountedJob& job = run_.jobs()[place.job];
  waiting_.push(waiting_.line_of(job.pool, job.gpus), place);
}

void LineDecisions::decide_over(std::int32_t group) {
  displaced_.begin();
  waiting_.begin_heads(group, room(group));
  for (;;) {
    const JobPlace* head = waiting_.next_head();
    const JobPlace* displaced = displaced_.next();
    if (displaced != nullptr && (head == nullptr || *displaced < *head)) {
      if (start_elsewhere(group)) continue;
      displaced_.next_is_tried();
    } else if (head == nullptr) {
      break;
    } else if (try_first(group, *head)) {
      continue;
    } else {
      waiting_.blocked();
    }
    if (strict_) break;
  }
  for (std::size_t i = 0; i < displaced_.size(); ++i) {
    run_.preempt(displaced_[i].job);
    push(displaced_[i]);
  }
}

/// Starts a displaced job, by displacing jobs behind it if necessary.
bool LineDecisions::start_elsewhere(std::int32_t group) {
  const JobPlace place = *displaced_.next();
  const CountedJob& job = run_.jobs()[place.job];
  const bool free = run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(place.job));
  if (!free && !displaced_.displace_for(place)) return false;
  if (!free) waiting_.look_behind(displaced_.foremost(), room(group));
  displaced_.move(displaced_.tried());
  return true;
}

/// Starts the first job, by displacing others if necessary.
bool LineDecisions::try_first(std::int32_t group, const JobPlace first) {
  const CountedJob& job = run_.jobs()[first.job];
  const bool free = run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(first.job));
  if (!free && !(run_.preemptive() && displaced_.displace_for(first))) return false;
  waiting_.started(room(group));
  if (!free) waiting_.look_behind(displaced_.foremost(), room(group));
  run_.start(first, true);
  return true;
}

// Where the head of the line also blocks other pools, it must be tried to find that out.
WaitingLines::Room LineDecisions::room(std::int32_t group) {
  if (strict_) return {INT64_MAX, kNoJob};
  return {run_.nodes().free(group), run_.preemptive() ? run_.running(group).end() : kNoJob};
}

}  // namespace berth::sim
