#include "host/sim/counts/ranked_decisions.hpp"

#include <algorithm>

namespace berth::sim {

void RankedDecisions::decide() {
  run_.decide_again_at(kNever);
  if (waiting_.empty()) return;
  policy_.learn({run_.services()});
  policy_.load(nothing_kept_);
  order();
  start_in_order();
  if (!waiting_.empty()) expect_change();
}

/// The waiting jobs, in order, and the running ones.
void RankedDecisions::list_live() {
  live_.clear();
  for (const JobPlace& place : waiting_) live_.push_back(place.job);
  for (std::int32_t pool = 0; pool < run_.nodes().pools(); ++pool) {
    for (const JobPlace& place : run_.running(pool).all()) live_.push_back(place.job);
  }
}

void RankedDecisions::order() {
  list_live();
  table_.read(run_.jobs(), live_, policy_, run_.now(), run_.knows_work());
  keys_.resize(live_.size());
  policy_.keys(table_.columns(run_.nodes().gpus(), kNever), run_.now(), live_, keys_);
  key_of_.resize(to_index(run_.jobs().jobs()));
  for (std::size_t i = 0; i < live_.size(); ++i) key_of_[to_index(live_[i])] = keys_[i];
  for (JobPlace& place : waiting_) place.key = key_of_[to_index(place.job)];
  // They are in the order of the last decision, which mostly holds; jobs that came since are at the end.
  if (!std::is_sorted(waiting_.begin(), waiting_.end())) std::sort(waiting_.begin(), waiting_.end());
  for (std::int32_t pool = 0; pool < run_.nodes().pools(); ++pool) run_.running(pool).order_again(run_.jobs(), key_of_);
}

void RankedDecisions::start_in_order() {
  displaced_.begin();
  still_waiting_.clear();
  fewer_than_.assign(waits_in_.size(), INT64_MAX);
  for (auto next = waiting_.begin();;) {
    const JobPlace* displaced = displaced_.next();
    if (displaced == nullptr && next == waiting_.end()) break;
    const bool again = displaced != nullptr && (next == waiting_.end() || *displaced < *next);
    const JobPlace place = again ? *displaced : *next;
    const bool found = find_gpus(place);
    if (again) {
      found ? displaced_.move(displaced_.tried()) : displaced_.next_is_tried();
    } else {
      ++next;
      if (!found) still_waiting_.push_back(place);
    }
    if (found && !again) {
      --waits_in_[to_index(run_.jobs()[place.job].pool)];
      run_.start(place, true);
    }
    if (!found && strict_) {
      still_waiting_.insert(still_waiting_.end(), next, waiting_.end());
      break;
    }
  }
  waiting_.swap(still_waiting_);
  for (std::size_t i = 0; i < displaced_.size(); ++i) {
    run_.preempt(displaced_[i].job);
    push(displaced_[i]);
  }
  std::inplace_merge(waiting_.begin(), waiting_.end() - static_cast<std::ptrdiff_t>(displaced_.size()), waiting_.end());
}

// Of jobs in order, those with as many GPUs as one that found none find none either, until a job is displaced.
bool RankedDecisions::find_gpus(const JobPlace& place) {
  const CountedJob& job = run_.jobs()[place.job];
  std::int64_t& fewer_than = fewer_than_[to_index(job.pool)];
  if (job.gpus >= fewer_than) return false;
  if (run_.nodes().take(job.pool, job.gpus, run_.jobs().taken(place.job))) return true;
  if (!run_.preemptive() || !displaced_.displace_for(place)) {
    fewer_than = job.gpus;
    return false;
  }
  fewer_than = INT64_MAX;
  return true;
}

// The next decision, at the latest, finds the changes from then on.
void RankedDecisions::expect_change() {
  table_.set_running(run_.jobs(), live_);
  list_live();
  changes_.resize(live_.size());
  policy_.next_change(table_.columns(run_.nodes().gpus(), run_.next_event()), run_.now(), live_, changes_);
  const TimeUs next = *std::min_element(changes_.begin(), changes_.end());
  if (next > run_.now()) run_.decide_again_at(next);
}

std::int32_t RankedDecisions::take_any() {
  if (waiting_.empty()) return -1;
  const std::int32_t job = waiting_.back().job;
  waiting_.pop_back();
  return job;
}

}  // namespace berth::sim
