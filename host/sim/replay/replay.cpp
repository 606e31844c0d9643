#include "host/sim/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/sim/base/trace_form.hpp"

namespace berth::sim {
namespace {

constexpr std::int32_t kNoJob = INT32_MAX;

class FifoReplay {
 public:
  FifoReplay(const Trace& trace, const Snapshot& cluster)
      : jobs_(trace.jobs), forms_(trace.profiles, cluster), pool_(cluster), empty_(pool_) {
    lines_.emplace_back();  // shared by all virtual clusters without own nodes
  }

  Replay run(TimeUs at) {
    Replay result;
    std::size_t next = 0;
    for (;;) {
      TimeUs now = kNever;
      if (next < jobs_.size()) now = jobs_[next].submit_us;
      if (!ends_.empty()) now = std::min(now, ends_.top().first);
      if (now > at) break;
      while (!ends_.empty() && ends_.top().first <= now) end(ends_.top().second, result);
      for (; next < jobs_.size() && jobs_[next].submit_us <= now; ++next) arrive(static_cast<std::int32_t>(next), result);
      if (now < at) decide(now);
    }
    for (auto& one : running_) result.running.push_back(std::move(one.second));
    for (const auto& line : lines_) result.waiting.insert(result.waiting.end(), line.begin(), line.end());
    std::sort(result.waiting.begin(), result.waiting.end());
    result.free_gpus = pool_.free_gpus();
    return result;
  }

 private:
  const TraceJob& job(std::int32_t j) const { return jobs_[static_cast<std::size_t>(j)]; }

  void end(std::int32_t j, Replay& result) {
    const auto found = running_.find(j);
    pool_.give(found->second.gpus);
    result.finished.push_back({j, found->second.start_us, found->second.run_us});
    running_.erase(found);
    ends_.pop();
  }

  void arrive(std::int32_t j, Replay& result) {
    if (!fits_empty(job(j))) {
      result.rejected.push_back(j);
    } else {
      lines_[line_of(job(j).virtual_cluster)].push_back(j);
    }
  }

  std::vector<std::string> types_of(const TraceJob& one) const {
    if (!one.profile.empty()) return forms_.of(one).gpu_types();
    if (one.gpu_type.empty()) return {};
    return {one.gpu_type};
  }

  TimeUs run_time(const TraceJob& one) const { return one.work > 0 ? forms_.run_time(one, forms_.of(one), taken_) : one.run_us; }

  /// Whether the job would fit on the empty cluster.
  bool fits_empty(const TraceJob& one) {
    const int kind = empty_.kind(types_of(one), one.virtual_cluster);
    const auto [found, fresh] = fits_empty_.try_emplace({kind, one.gpus}, false);
    if (fresh && empty_.take(kind, one.gpus, taken_)) {
      empty_.give(taken_);
      found->second = true;
    }
    return found->second;
  }

  std::size_t line_of(const std::string& virtual_cluster) {
    if (!pool_.owns_nodes(virtual_cluster)) return 0;
    const auto [found, fresh] = line_.try_emplace(virtual_cluster, lines_.size());
    if (fresh) lines_.emplace_back();
    return found->second;
  }

  void decide(TimeUs now) {
    blocked_.assign(lines_.size(), false);
    for (;;) {
      std::size_t line = lines_.size();
      std::int32_t first = kNoJob;
      for (std::size_t l = 0; l < lines_.size(); ++l) {
        if (blocked_[l] || lines_[l].empty() || lines_[l].front() > first) continue;
        line = l;
        first = lines_[l].front();
      }
      if (first == kNoJob) return;
      if (!pool_.take(pool_.kind(types_of(job(first)), job(first).virtual_cluster), job(first).gpus, taken_)) {
        blocked_[line] = true;
        continue;
      }
      lines_[line].pop_front();
      const TimeUs run_us = run_time(job(first));
      running_.emplace(first, ReplayRunning{first, now, run_us, taken_});
      ends_.emplace(now + run_us, first);
    }
  }

  using End = std::pair<TimeUs, std::int32_t>;

  const std::vector<TraceJob>& jobs_;
  TraceForms forms_;
  NodePool pool_;
  NodePool empty_;  // no job ever runs here
  std::vector<std::deque<std::int32_t>> lines_;
  std::map<std::string, std::size_t> line_;
  std::vector<bool> blocked_;
  std::map<std::int32_t, ReplayRunning> running_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::map<std::pair<int, std::int32_t>, bool> fits_empty_;
  std::vector<PooledGpus> taken_;
};

}  // namespace

Replay replay_fifo(const Trace& trace, const Snapshot& cluster, TimeUs at) {
  if (at < 0) throw InvalidArgument(fmt::format("instant {} s lies before the trace's time 0", core::format_seconds(at)));
  require_sorted(trace);
  for (const TraceJob& job : trace.jobs) {
    if (!job.shapes.empty()) {
      throw InvalidArgument(fmt::format(
          "job '{}' states shapes or groups: the state at an instant is rebuilt for flat gangs only ('berth simulate' places them)",
          job.id));
    }
  }
  return FifoReplay(trace, cluster).run(at);
}

}  // namespace berth::sim
