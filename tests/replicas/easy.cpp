#include "tests/replicas/easy.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace berth::test {
namespace {

constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();
constexpr int kFree = -1;

class EasyCluster {
 public:
  EasyCluster(const std::vector<EasyJob>& jobs, std::int64_t processors, EasyPromise promise)
      : jobs_(jobs), promise_(promise), user_(static_cast<std::size_t>(processors), kFree), starts_(jobs.size(), -1) {}

  std::vector<std::int64_t> run() {
    std::size_t next = 0;
    for (;;) {
      std::int64_t now = next < jobs_.size() ? jobs_[next].submit : kUnknown;
      for (const int job : running_) now = std::min(now, starts_[at(job)] + jobs_[at(job)].run);
      if (now == kUnknown) return starts_;
      for (std::size_t i = running_.size(); i-- > 0;) {
        const int job = running_[i];
        if (starts_[at(job)] + jobs_[at(job)].run > now) continue;
        std::replace(user_.begin(), user_.end(), job, kFree);
        running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
      }
      for (; next < jobs_.size() && jobs_[next].submit == now; ++next) {
        if (jobs_[next].processors <= static_cast<std::int64_t>(user_.size())) queue_.push_back(static_cast<int>(next));
      }
      schedule(now);
    }
  }

 private:
  static std::size_t at(int job) { return static_cast<std::size_t>(job); }
  std::int64_t free_processors() const { return std::count(user_.begin(), user_.end(), kFree); }

  // A job that has run for longer than expected is expected to end at once, and time is counted in whole units.
  std::int64_t expected_end(int job, std::int64_t now) const {
    if (jobs_[at(job)].expected < 0) return kUnknown;
    return std::max(now + 1, starts_[at(job)] + jobs_[at(job)].expected);
  }

  /// On the processors with the lowest numbers that are free and not `kept`.
  void start(int job, std::int64_t now, const std::vector<bool>& kept) {
    std::int64_t left = jobs_[at(job)].processors;
    for (std::size_t p = 0; left > 0; ++p) {
      if (user_[p] != kFree || kept[p]) continue;
      user_[p] = job;
      --left;
    }
    starts_[at(job)] = now;
    running_.push_back(job);
  }

  void schedule(std::int64_t now) {
    const std::vector<bool> none(user_.size());
    while (!queue_.empty() && jobs_[at(queue_.front())].processors <= free_processors()) {
      start(queue_.front(), now, none);
      queue_.erase(queue_.begin());
    }
    if (queue_.empty()) return;

    // 1. The shadow time and the extra processors.
    std::vector<std::pair<std::int64_t, int>> ends;
    for (const int job : running_) ends.emplace_back(expected_end(job, now), job);
    std::sort(ends.begin(), ends.end());
    const std::int64_t needed = jobs_[at(queue_.front())].processors;
    std::vector<bool> available(user_.size());
    for (std::size_t p = 0; p < user_.size(); ++p) available[p] = user_[p] == kFree;
    std::int64_t collected = free_processors(), shadow = kUnknown;
    for (const auto& [end, job] : ends) {
      if (end == kUnknown) break;
      for (std::size_t p = 0; p < user_.size(); ++p) available[p] = available[p] || user_[p] == job;
      collected += jobs_[at(job)].processors;
      if (collected < needed) continue;
      shadow = end;
      break;
    }
    std::vector<bool> kept(user_.size());
    std::int64_t extra = shadow == kUnknown ? collected : collected - needed;
    if (shadow != kUnknown && promise_ == EasyPromise::kProcessors) {
      std::int64_t left = needed;
      for (std::size_t p = 0; left > 0; ++p) {
        if (!available[p]) continue;
        kept[p] = true;
        --left;
      }
    }

    // 2. Jobs that end by the shadow time, or use no more than the extra processors.
    for (std::size_t i = 1; i < queue_.size();) {
      const int job = queue_[i];
      const EasyJob& one = jobs_[at(job)];
      const bool ends_in_time = shadow == kUnknown || (one.expected >= 0 && now + std::max<std::int64_t>(1, one.expected) <= shadow);
      std::int64_t room = free_processors();
      if (!ends_in_time && promise_ == EasyPromise::kNumber) room = std::min(room, extra);
      if (!ends_in_time && promise_ == EasyPromise::kProcessors) {
        for (std::size_t p = 0; p < user_.size(); ++p) room -= user_[p] == kFree && kept[p] ? 1 : 0;
      }
      if (one.processors > room) {
        ++i;
        continue;
      }
      start(job, now, ends_in_time || promise_ == EasyPromise::kNumber ? none : kept);
      if (!ends_in_time) extra -= one.processors;
      queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  const std::vector<EasyJob>& jobs_;
  EasyPromise promise_;
  std::vector<int> user_;  // [processors] the job that has it
  std::vector<int> queue_, running_;
  std::vector<std::int64_t> starts_;
};

}  // namespace

std::vector<std::int64_t> replay_easy(const std::vector<EasyJob>& jobs, std::int64_t processors, EasyPromise promise) {
  return EasyCluster(jobs, processors, promise).run();
}

}  // namespace berth::test
