#include "host/reference/replay/replay.hpp"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "berth/units.hpp"

namespace berth::reference {
namespace {

std::size_t to_index(std::int32_t i) { return static_cast<std::size_t>(i); }

using kernel::ReplayKey;

/// A job that has arrived.
struct ReplayJob {
  std::int64_t left = 0, held = 0, owed = 0, key = 0;
  std::int64_t held_from = 0, works_from = 0, end = kNever, change = kNever;
  std::int64_t start = kNever, restarting = 0, moving = 0;
  std::int32_t starts = 0, preemptions = 0, moves = 0;
  bool moved = false;
  std::set<std::int32_t> gpus;  // of its pool
};

/// Plain lists, searched from the beginning at each step.
class ReplaySteps {
 public:
  ReplaySteps(const kernel::ReplayView& v, const kernel::ReplayRequest& r, const kernel::ReplayResult& out)
      : v_(v), r_(r), out_(out), jobs_(to_index(v.n_jobs)), free_(to_index(v.n_pools)) {
    *out.totals = {};
    out.totals->last_end = out.totals->last_release = kNever;
    out.totals->too_late = -1;
    for (std::int32_t p = 0; p < v.n_pools; ++p) {
      for (std::int32_t g = 0; g < r.capacity[p]; ++g) free_[to_index(p)].insert(g);
    }
  }

  void run(const std::function<bool()>& stop) {
    for (std::int64_t next = next_instant(); next != kNever; next = next_instant()) {
      now_ = next;
      for (const std::int32_t job : std::vector<std::int32_t>(running_)) {
        ReplayJob& one = jobs_[to_index(job)];
        if (one.end <= now_) {
          complete(job);
        } else if (one.change <= now_) {
          one.change = next_change(job);
        }
      }
      for (; arrived_ < v_.n_jobs && v_.submit[arrived_] <= now_; ++arrived_) arrive(arrived_);
      decide();
      ++out_.totals->decisions;
      if (stop && stop()) {
        out_.totals->stopped = 1;
        return;
      }
    }
  }

 private:
  std::int32_t gpus(std::int32_t job) const { return v_.line_gpus[v_.line[job]]; }
  std::int32_t pool(std::int32_t job) const { return v_.line_pool[v_.line[job]]; }
  bool displaces() const { return r_.kind != ReplayKey::kFixed; }

  std::int64_t next_instant() const {
    std::int64_t next = arrived_ < v_.n_jobs ? v_.submit[arrived_] : kNever;
    for (const std::int32_t job : running_) next = std::min({next, jobs_[to_index(job)].end, jobs_[to_index(job)].change});
    return next;
  }

  bool runs(std::int32_t job) const { return std::find(running_.begin(), running_.end(), job) != running_.end(); }
  std::int64_t held(std::int32_t job) const {
    const ReplayJob& one = jobs_[to_index(job)];
    return one.held + (runs(job) ? now_ - one.held_from : 0);
  }
  std::int64_t left(std::int32_t job) const {
    const ReplayJob& one = jobs_[to_index(job)];
    return runs(job) ? std::max<std::int64_t>(0, one.left - std::max<std::int64_t>(0, now_ - one.works_from)) : one.left;
  }
  std::int64_t level(std::int64_t gpu_us) const {
    return std::upper_bound(r_.thresholds, r_.thresholds + r_.n_thresholds, gpu_us) - r_.thresholds;
  }
  std::int64_t service(std::int32_t job) const { return kernel::saturating_mul(held(job), gpus(job)); }
  std::int64_t key(std::int32_t job) const {
    if (r_.kind == ReplayKey::kFixed) return r_.key != nullptr ? r_.key[job] : 0;
    if (r_.kind == ReplayKey::kLevel) return level(service(job));
    if (r_.knows_work == 0 && r_.estimate[job] == kNever) return kNever;
    const std::int64_t rest = std::max<std::int64_t>(1, r_.knows_work != 0 ? left(job) : r_.estimate[job] - held(job));
    return r_.kind == ReplayKey::kRemaining ? rest : kernel::saturating_mul(rest, gpus(job));
  }
  std::int64_t next_change(std::int32_t job) const {
    if (r_.kind != ReplayKey::kLevel) return kNever;
    const std::int64_t have = service(job), at = level(have);
    if (at == r_.n_thresholds) return kNever;
    return kernel::saturating_add(now_, (r_.thresholds[at] - have - 1) / gpus(job) + 1);
  }
  std::pair<std::int64_t, std::int32_t> place(std::int32_t job) const { return {jobs_[to_index(job)].key, job}; }

  void arrive(std::int32_t job) {
    ReplayJob& one = jobs_[to_index(job)];
    if (gpus(job) > r_.capacity[pool(job)]) {
      ++out_.totals->rejected;
      write(job);
      return;
    }
    one.left = r_.run != nullptr ? r_.run[job] : v_.run[job];
    one.owed = v_.start_cost[job];
    one.key = key(job);
    waiting_.push_back(job);
  }

  bool take(std::int32_t job) {
    std::set<std::int32_t>& free = free_[to_index(pool(job))];
    if (static_cast<std::int32_t>(free.size()) < gpus(job)) return false;
    ReplayJob& one = jobs_[to_index(job)];
    for (std::int32_t i = 0; i < gpus(job); ++i) one.gpus.insert(free.extract(free.begin()));
    return true;
  }
  void give(std::int32_t job) { free_[to_index(pool(job))].merge(jobs_[to_index(job)].gpus); }

  void start(std::int32_t job, bool moved) {
    ReplayJob& one = jobs_[to_index(job)];
    const std::int64_t cost = moved ? v_.move_cost[job] : std::exchange(one.owed, 0);
    if (one.start == kNever) one.start = now_;
    ++(moved ? one.moves : one.starts);
    ++(moved ? out_.totals->moves : out_.totals->starts);
    one.moved = moved;
    one.held_from = now_;
    one.works_from = kernel::saturating_add(now_, cost);
    one.end = kernel::saturating_add(one.works_from, std::max<std::int64_t>(1, one.left));
    if (one.end > kMaxTimeUs && out_.totals->too_late < 0) out_.totals->too_late = job;
    running_.push_back(job);
    one.change = next_change(job);
  }
  void stop(std::int32_t job) {
    ReplayJob& one = jobs_[to_index(job)];
    (one.moved ? one.moving : one.restarting) += std::min(now_, one.works_from) - one.held_from;
    const std::int64_t rest = left(job), had = held(job);
    one.key = key(job);
    running_.erase(std::find(running_.begin(), running_.end(), job));
    one.left = rest;
    one.held = had;
    out_.totals->last_release = now_;
  }
  void complete(std::int32_t job) {
    stop(job);
    give(job);
    const ReplayJob& one = jobs_[to_index(job)];
    ++out_.totals->completed;
    out_.totals->last_end = now_;
    out_.totals->jct_us += now_ - v_.submit[job];
    out_.totals->wait_us += now_ - v_.submit[job] - one.held;
    out_.totals->gpu_us += kernel::Wide{one.held} * gpus(job);
    write(job);
  }
  void write(std::int32_t job) {
    if (out_.end == nullptr) return;
    const ReplayJob& one = jobs_[to_index(job)];
    out_.start[job] = one.start;
    out_.end[job] = now_;
    out_.held[job] = one.held;
    out_.restarting[job] = one.restarting;
    out_.moving[job] = one.moving;
    out_.starts[job] = one.starts;
    out_.preemptions[job] = one.preemptions;
    out_.moves[job] = one.moves;
  }

  /// All waiting jobs in order, each once; those that are displaced meanwhile, too.
  void decide() {
    std::vector<std::int32_t> displaced;
    std::set<std::int32_t> tried;
    for (;;) {
      std::int32_t first = -1;
      for (const std::vector<std::int32_t>* list : {&waiting_, &displaced}) {
        for (const std::int32_t job : *list) {
          if (!tried.contains(job) && (first < 0 || place(job) < place(first))) first = job;
        }
      }
      if (first < 0) break;
      tried.insert(first);
      const bool again = std::find(displaced.begin(), displaced.end(), first) != displaced.end();
      if (!take(first) && !(displaces() && make_room(first, displaced))) {
        if (r_.strict != 0) break;
        continue;
      }
      std::vector<std::int32_t>& from = again ? displaced : waiting_;
      from.erase(std::find(from.begin(), from.end(), first));
      start(first, again);
    }
    for (const std::int32_t job : displaced) {
      ++out_.totals->preemptions;
      ++jobs_[to_index(job)].preemptions;
      jobs_[to_index(job)].owed += v_.restart_cost[job];
      waiting_.push_back(job);
    }
  }

  bool make_room(std::int32_t first, std::vector<std::int32_t>& displaced) {
    std::vector<std::pair<std::int64_t, std::int32_t>> behind;
    for (const std::int32_t job : running_) {
      const std::pair<std::int64_t, std::int32_t> at{key(job), job};
      if (pool(job) == pool(first) && place(first) < at) behind.push_back(at);
    }
    std::sort(behind.rbegin(), behind.rend());
    std::size_t n = 0;
    std::size_t have = free_[to_index(pool(first))].size();
    for (; have < to_index(gpus(first)); ++n) {
      if (n == behind.size()) return false;
      have += to_index(gpus(behind[n].second));
    }
    behind.resize(n);
    std::set<std::int32_t>& free = free_[to_index(pool(first))];
    for (const auto& [key, victim] : behind) free.insert(jobs_[to_index(victim)].gpus.begin(), jobs_[to_index(victim)].gpus.end());
    take(first);
    for (const auto& [key, victim] : behind) {
      std::set<std::int32_t>& had = jobs_[to_index(victim)].gpus;
      const bool all = std::all_of(had.begin(), had.end(), [&](std::int32_t g) { return free.contains(g); });
      if (all) {
        for (const std::int32_t g : had) free.erase(g);
        continue;
      }
      had.clear();
      stop(victim);
      displaced.push_back(victim);
    }
    return true;
  }

  const kernel::ReplayView& v_;
  const kernel::ReplayRequest& r_;
  const kernel::ReplayResult& out_;
  std::vector<ReplayJob> jobs_;
  std::vector<std::set<std::int32_t>> free_;  // [pools]
  std::vector<std::int32_t> waiting_, running_;
  std::int32_t arrived_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace

void replay(const kernel::ReplayView& problem, const kernel::ReplayRequest& request, const kernel::ReplayResult& result,
            const std::function<bool()>& stop) {
  ReplaySteps(problem, request, result).run(stop);
}

}  // namespace berth::reference
