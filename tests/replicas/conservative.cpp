#include "tests/replicas/conservative.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::test {
namespace {

constexpr std::int64_t kForever = std::numeric_limits<std::int64_t>::max();

/// A job that has processors, or will have them, until it is expected to end.
struct Booking {
  std::int64_t from, until;
  int job;
};

class ConservativeCluster {
 public:
  ConservativeCluster(const std::vector<EasyJob>& jobs, std::int64_t processors, EasyPromise promise)
      : jobs_(jobs), promise_(promise), of_(static_cast<std::size_t>(processors)), starts_(jobs.size(), -1), ours_(jobs.size()) {}

  std::vector<std::int64_t> run() {
    std::size_t next = 0;
    for (;;) {
      std::int64_t now = next < jobs_.size() ? jobs_[next].submit : kForever;
      for (const Booking& one : running_) now = std::min(now, starts_[at(one.job)] + jobs_[at(one.job)].run);
      if (now == kForever) return starts_;
      bool as_expected = !late_;
      for (std::size_t i = running_.size(); i-- > 0;) {
        const Booking one = running_[i];
        const bool ends = starts_[at(one.job)] + jobs_[at(one.job)].run <= now;
        as_expected = as_expected && (ends ? one.until == now : one.until > now);
        if (!ends) continue;
        release(one.job);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      if (!as_expected) forget_reservations(now);
      for (std::size_t i = 0; i < waiting_.size() && !as_expected; ++i) reserve(waiting_[i], now);
      for (; next < jobs_.size() && jobs_[next].submit == now; ++next) {
        if (jobs_[next].processors > static_cast<std::int64_t>(of_.size())) continue;
        waiting_.push_back({kForever, kForever, static_cast<int>(next)});
        reserve(waiting_.back(), now);
      }
      start_due(now);
    }
  }

 private:
  static std::size_t at(int job) { return static_cast<std::size_t>(job); }

  std::int64_t length(int job) const { return jobs_[at(job)].expected < 0 ? kForever : std::max<std::int64_t>(1, jobs_[at(job)].expected); }
  static std::int64_t after(std::int64_t from, std::int64_t length) { return length == kForever ? kForever : from + length; }

  void release(int job) {
    for (const int p : ours_[at(job)]) std::erase_if(of_[at(p)], [&](const Booking& one) { return one.job == job; });
    ours_[at(job)].clear();
  }

  /// Only what runs stays. A job that has run for longer than expected is expected to end at once.
  void forget_reservations(std::int64_t now) {
    for (const Booking& one : waiting_) release(one.job);
    late_ = false;
    for (Booking& one : running_) {
      if (after(starts_[at(one.job)], length(one.job)) > now) continue;
      late_ = true;
      one.until = now + 1;
      for (const int p : ours_[at(one.job)]) of_[at(p)].front().until = now + 1;
    }
    for (Booking& one : waiting_) one.from = one.until = kForever;
  }

  /// The anchor point: the first instant from which on there are processors for all of the job.
  void reserve(Booking& job, std::int64_t now) {
    const std::int64_t length = this->length(job.job), needed = jobs_[at(job.job)].processors;
    std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // at an instant, how many processors more can be its first ones
    if (promise_ == EasyPromise::kProcessors) {
      for (const std::vector<Booking>& bookings : of_) {
        std::int64_t from = now;
        for (const Booking& one : bookings) {
          add_gap(changes, from, one.from, length);
          from = std::max(from, one.until);
        }
        if (from != kForever) add_gap(changes, from, kForever, length);
      }
    } else {
      add_gaps_of_profile(changes, now, length, needed);
    }
    std::sort(changes.begin(), changes.end());
    std::int64_t many = 0, start = kForever;
    for (std::size_t i = 0; i < changes.size() && start == kForever; ++i) {
      many += changes[i].second;
      const bool last = i + 1 == changes.size() || changes[i + 1].first != changes[i].first;
      if (last && many >= needed) start = changes[i].first;
    }
    if (start == kForever) return;
    job = {start, after(start, length), job.job};
    if (promise_ == EasyPromise::kProcessors) take(job, needed);
  }

  /// A job of this length can begin in the gap, from its begin on.
  static void add_gap(std::vector<std::pair<std::int64_t, std::int64_t>>& changes, std::int64_t from, std::int64_t until,
                      std::int64_t length) {
    if (from >= until || (until != kForever && (length == kForever || until - from < length))) return;
    changes.emplace_back(from, 1);
    if (until != kForever) changes.emplace_back(until - length + 1, -1);
  }

  /// The same for numbers of processors: the gaps in which enough of them are free count as often as the job has processors.
  void add_gaps_of_profile(std::vector<std::pair<std::int64_t, std::int64_t>>& changes, std::int64_t now, std::int64_t length,
                           std::int64_t needed) const {
    std::vector<std::pair<std::int64_t, std::int64_t>> profile{{now, static_cast<std::int64_t>(of_.size())}};
    const auto book = [&](const Booking& one) {
      if (one.from == kForever) return;
      profile.emplace_back(std::max(now, one.from), -jobs_[at(one.job)].processors);
      if (one.until != kForever) profile.emplace_back(one.until, jobs_[at(one.job)].processors);
    };
    for (const Booking& one : running_) book(one);
    for (const Booking& one : waiting_) book(one);
    std::sort(profile.begin(), profile.end());
    std::int64_t free = 0, from = kForever;
    for (std::size_t i = 0; i < profile.size(); ++i) {
      free += profile[i].second;
      if (i + 1 < profile.size() && profile[i + 1].first == profile[i].first) continue;
      if (free >= needed && from == kForever) from = profile[i].first;
      if (free >= needed || from == kForever) continue;
      for (std::int64_t n = 0; n < needed; ++n) add_gap(changes, from, profile[i].first, length);
      from = kForever;
    }
    for (std::int64_t n = 0; n < needed && from != kForever; ++n) add_gap(changes, from, kForever, length);
  }

  /// The processors with the lowest numbers that are free for all of the job.
  void take(const Booking& job, std::int64_t needed) {
    for (std::size_t p = 0; p < of_.size() && needed > 0; ++p) {
      std::vector<Booking>& bookings = of_[p];
      const auto meets = [&](const Booking& one) { return one.from < job.until && job.from < one.until; };
      if (std::any_of(bookings.begin(), bookings.end(), meets)) continue;
      const auto later = [](const Booking& one, std::int64_t than) { return one.from < than; };
      bookings.insert(std::lower_bound(bookings.begin(), bookings.end(), job.from, later), job);
      ours_[at(job.job)].push_back(static_cast<int>(p));
      --needed;
    }
  }

  void start_due(std::int64_t now) {
    for (std::size_t i = 0; i < waiting_.size();) {
      if (waiting_[i].from != now) {
        ++i;
        continue;
      }
      starts_[at(waiting_[i].job)] = now;
      running_.push_back(waiting_[i]);
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const std::vector<EasyJob>& jobs_;
  EasyPromise promise_;
  std::vector<std::vector<Booking>> of_;  // [processors] in order of time
  std::vector<Booking> waiting_, running_;
  std::vector<std::int64_t> starts_;
  std::vector<std::vector<int>> ours_;  // [jobs] processors
  bool late_ = false;                   // a job has run for longer than expected
};

}  // namespace

std::vector<std::int64_t> replay_conservative(const std::vector<EasyJob>& jobs, std::int64_t processors, EasyPromise promise) {
  return ConservativeCluster(jobs, processors, promise).run();
}

}  // namespace berth::test
