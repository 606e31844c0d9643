#include "host/sim/replay/queue_watch.hpp"

#include <algorithm>
#include <utility>

#include "berth/kernel/base/to_index.hpp"

namespace berth::sim {
namespace {

constexpr TimeUs kHour = 3'600 * kSecond;

}  // namespace

QueueWatch::QueueWatch(const Snapshot& cluster) : accounts_(cluster.queues.size()) {
  for (std::size_t q = 0; q < accounts_.size(); ++q) {
    accounts_[q].figures.name = cluster.queues[q].id;
    names_.push_back(cluster.queues[q].id);
  }
}

void QueueWatch::end_hour(Account& of) {
  const __int128 had = std::exchange(of.hour_had, 0), due = std::exchange(of.hour_due, 0);
  if (due < static_cast<__int128>(kWholeGpu) * kHour) return;
  const auto part = static_cast<std::int64_t>(had * 1'000'000 / due);
  QueueFigures& f = of.figures;
  f.worst_hour_ppm = f.hours == 0 ? part : std::min(f.worst_hour_ppm, part);
  ++f.hours;
  if (had * 2 < due) ++f.hours_below_half;
}

void QueueWatch::add(Account& to, TimeUs time) {
  const core::QueueBalance::Row& now = to.now;
  QueueFigures& f = to.figures;
  f.gpu_us += static_cast<__int128>(now.has) * time;
  f.guaranteed_gpu_us += static_cast<__int128>(now.guaranteed) * time;
  f.fair_gpu_us += static_cast<__int128>(now.fair) * time;
  f.borrowed_gpu_us += static_cast<__int128>(std::max<std::int64_t>(0, now.has - now.guaranteed)) * time;
  f.shortfall_gpu_us += static_cast<__int128>(std::max<std::int64_t>(0, now.guaranteed - now.has)) * time;
  f.fair_shortfall_gpu_us += static_cast<__int128>(std::max<std::int64_t>(0, now.fair - now.has)) * time;
  if (to.starved) f.starved_us += time;
  to.hour_had += static_cast<__int128>(now.has) * time;
  to.hour_due += static_cast<__int128>(now.fair) * time;
}

void QueueWatch::advance(TimeUs now) {
  // Hours are those of the trace. Without a GPU or a share nothing is added.
  for (Account& one : accounts_) {
    const bool idle = one.now.has == 0 && one.now.fair == 0 && one.now.guaranteed == 0;
    for (TimeUs from = now_; from < now;) {
      const TimeUs hour_ends = (from / kHour + 1) * kHour;
      if (idle) {
        if (hour_ends <= now) end_hour(one);
        break;
      }
      const TimeUs until = std::min(now, hour_ends);
      add(one, until - from);
      if (until == hour_ends) end_hour(one);
      from = until;
    }
  }
  now_ = std::max(now_, now);
}

void QueueWatch::set_entitled(std::int32_t job, TimeUs since) {
  Watched& one = jobs_[to_index(job)];
  const std::int64_t more = (since != kNever ? 1 : 0) - (one.entitled_since != kNever ? 1 : 0);
  one.entitled_since = since;
  if (more != 0) each_above(balance_.queue_of(job), [&](Watch& queue) { queue.entitled += more; });
}

void QueueWatch::stop_waiting(std::int32_t job) {
  Watched& one = jobs_[to_index(job)];
  if (one.place == kNotWaiting) return;
  Watch& queue = queues_[to_index(balance_.queue_of(job))];
  const std::int32_t last = queue.waiting.back();
  queue.waiting[to_index(one.place)] = last;
  jobs_[to_index(last)].place = one.place;
  queue.waiting.pop_back();
  one.place = kNotWaiting;
}

void QueueWatch::leave(std::int32_t job, __int128 lost_gpu_us) {
  if (to_index(job) >= jobs_.size()) return;
  Watched& one = jobs_[to_index(job)];
  each_above(balance_.queue_of(job), [&](const Watch& queue) {
    account(queue).figures.lost_gpu_us += lost_gpu_us;
    if (one.entitled_since != kNever) ++account(queue).figures.lapsed;
  });
  set_entitled(job, kNever);
  stop_waiting(job);
  balance_.remove(job);
  changed_ = true;
}

void QueueWatch::start(std::int32_t job, TimeUs wait_us) {
  touch(job);
  if (to_index(job) < jobs_.size()) jobs_[to_index(job)].wait_us = wait_us;
}

void QueueWatch::displace(std::int32_t job, std::int32_t for_queue) {
  each_above(balance_.queue_of(job), [&](const Watch& queue) { ++account(queue).figures.displaced; });
  each_above(for_queue, [&](const Watch& queue) { ++account(queue).figures.displaced_for; });
}

// Queues may have other positions and parents than before; jobs keep since when they are entitled.
void QueueWatch::begin(const StateView& state) {
  balance_.begin(state);
  queues_.assign(state.queues().size(), {});
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    const auto at = std::find(names_.begin(), names_.end(), state.queues()[q].id);
    queues_[q].figures = static_cast<std::int32_t>(at - names_.begin());
    queues_[q].fresh = true;
  }
  jobs_.resize(state.jobs().size());
  for (const std::int32_t job : state.job_order()) {
    Watched& one = jobs_[to_index(job)];
    one.place = kNotWaiting;
    const std::int32_t queue = balance_.queue_of(job);
    if (queue < 0) continue;
    if (balance_.runs(job)) {
      if (one.entitled_since != kNever) queues_[to_index(queue)].started.push_back(job);
    } else {
      one.place = static_cast<std::int32_t>(queues_[to_index(queue)].waiting.size());
      queues_[to_index(queue)].waiting.push_back(job);
    }
    if (one.entitled_since != kNever) each_above(queue, [](Watch& above) { ++above.entitled; });
  }
}

void QueueWatch::put(const StateView& state, std::int32_t job) {
  if (to_index(job) >= state.jobs().size() || !state.jobs()[to_index(job)].job) return;
  if (to_index(job) >= jobs_.size()) jobs_.resize(to_index(job) + 1);
  balance_.put(state, job);
  Watched& one = jobs_[to_index(job)];
  const std::int32_t queue = balance_.queue_of(job);
  if (queue < 0) return;
  const bool waits = !balance_.runs(job);
  Watch& of = queues_[to_index(queue)];
  if (waits) {
    of.fresh = true;  // it may ask for something else
    if (one.place != kNotWaiting) return;
    one.place = static_cast<std::int32_t>(of.waiting.size());
    of.waiting.push_back(job);
  } else if (one.place != kNotWaiting) {
    stop_waiting(job);
    if (one.entitled_since != kNever) of.started.push_back(job);
  }
}

// Those that were entitled for longest took the room first; what started beyond it borrows.
void QueueWatch::count_starts(TimeUs now) {
  for (Watch& queue : queues_) {
    std::vector<std::int32_t>& started = queue.started;
    if (started.empty()) continue;
    const auto since = [&](std::int32_t job) { return jobs_[to_index(job)].entitled_since; };
    std::sort(started.begin(), started.end(),
              [&](std::int32_t a, std::int32_t b) { return since(a) != since(b) ? since(a) < since(b) : a < b; });
    balance_.were_entitled(started, were_);
    for (std::size_t i = 0; i < started.size(); ++i) {
      const bool was = were_[i] != 0;
      each_above(balance_.queue_of(started[i]), [&](const Watch& above) {
        if (was) {
          account(above).reclaim.add(now - since(started[i]) + jobs_[to_index(started[i])].wait_us);
        } else {
          ++account(above).figures.lapsed;
        }
      });
      set_entitled(started[i], kNever);
    }
    started.clear();
  }
}

void QueueWatch::look_at_waiting(TimeUs now) {
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    Watch& queue = queues_[q];
    if (!std::exchange(queue.fresh, false) && !balance_.room_changed(static_cast<std::int32_t>(q))) continue;
    for (const std::int32_t job : queue.waiting) {
      const bool was = jobs_[to_index(job)].entitled_since != kNever, is = balance_.is_entitled(job);
      if (was == is) continue;
      set_entitled(job, is ? now : kNever);
      if (was) each_above(static_cast<std::int32_t>(q), [&](const Watch& above) { ++account(above).figures.lapsed; });
    }
  }
}

void QueueWatch::settle(const StateView& state, TimeUs now) {
  if (!stale_ && touched_.empty() && !changed_) return;
  advance(now);
  if (std::exchange(stale_, false)) {
    begin(state);
  } else {
    for (const std::int32_t job : touched_) put(state, job);
  }
  touched_.clear();
  changed_ = false;
  balance_.divide(state);
  count_starts(now);
  look_at_waiting(now);
  for (std::size_t q = 0; q < queues_.size(); ++q) {
    Account& of = account(queues_[q]);
    of.now = balance_.row(static_cast<std::int32_t>(q));
    of.starved = queues_[q].entitled > 0;
  }
}

std::vector<QueueFigures> QueueWatch::finish(TimeUs end) {
  advance(end);
  std::vector<QueueFigures> all;
  for (Account& one : accounts_) {
    end_hour(one);
    QueueFigures& f = one.figures;
    for (__int128* const sum :
         {&f.gpu_us, &f.guaranteed_gpu_us, &f.fair_gpu_us, &f.borrowed_gpu_us, &f.shortfall_gpu_us, &f.fair_shortfall_gpu_us}) {
      *sum /= kWholeGpu;
    }
    f.reclaims = one.reclaim.count();
    f.reclaim_us = one.reclaim.finish(true);
    all.push_back(std::move(f));
  }
  return all;
}

}  // namespace berth::sim
