#include "host/reference/delay_replay/delay_replay.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "berth/kernel/base/wide.hpp"
#include "berth/units.hpp"

namespace berth::reference {
namespace {

using kernel::DelayReplayRequest;
using kernel::DelayReplayResult;
using kernel::DelayReplayView;
using Masks = std::map<std::int32_t, std::uint64_t>;  // GPUs by node

struct ReplayedGang {
  bool live = false, running = false;
  std::int64_t left = 0;                      // saved work left
  std::int64_t known_left = 0, known_at = 0;  // as the engine's state has it
  bool pays = false;
  TimeUs since = 0, held = 0, held_from = 0, working_from = 0, owed = 0, paid = 0;
  TimeUs lease_from = 0, ends = kNever, start = kNever, end = kNever;
  std::int64_t rate = 1;
  Masks has;
  std::int32_t starts = 0, preemptions = 0, moves = 0;
};

class DelayedReplay {
 public:
  DelayedReplay(const DelayReplayView& v, const DelayReplayRequest& r) : v_(v), r_(r), jobs_(static_cast<std::size_t>(v.n_jobs)) {
    for (std::int32_t n = 0; n < v.n_nodes; ++n) {
      free_.push_back(v.gpu_mask[n]);
      n_gpus_ += std::popcount(v.gpu_mask[n]);
    }
    for (std::int32_t j = 0; j < v.n_jobs; ++j) {
      at(j).left = at(j).known_left = v.work[j];
      at(j).owed = v.start_cost[j];
    }
  }

  void run(const DelayReplayResult& out, const std::function<bool()>& stop) {
    bool stopped = false;
    std::int32_t next = 0;
    TimeUs wake = kNever;
    for (;;) {
      now_ = wake;
      for (const ReplayedGang& job : jobs_) now_ = job.running ? std::min(now_, job.ends) : now_;
      if (next < v_.n_jobs) now_ = std::min(now_, v_.submit[next]);
      if (now_ == kNever) break;
      stopped = (r_.most_decisions > 0 && decisions_ >= r_.most_decisions) || (stop && stop());
      if (stopped) break;
      ++decisions_;
      for (std::int32_t j = 0; j < v_.n_jobs; ++j) {
        if (at(j).running && at(j).ends <= now_) complete(j);
      }
      for (; next < v_.n_jobs && v_.submit[next] <= now_; ++next) {
        if (v_.gpus[next] > n_gpus_) {
          ++rejected_;
        } else {
          at(next).live = true;
          at(next).since = v_.submit[next];
        }
      }
      for (ReplayedGang& job : jobs_) {
        if (!job.running || !job.pays) continue;
        job.known_left = left_now(job);
        job.known_at = now_;
        job.pays = now_ < job.working_from;
      }
      wake = decide();
      if (too_late_ >= 0) break;
    }
    finish(out, stopped);
  }

 private:
  struct Position {
    std::int32_t job;
    bool offered, displaced;
  };

  ReplayedGang& at(std::int32_t job) { return jobs_[static_cast<std::size_t>(job)]; }
  static std::int64_t done(std::int64_t rate, TimeUs us) { return kernel::mul_div(rate, us, 1'000'000); }
  std::int64_t left_now(const ReplayedGang& job) const {
    return std::max<std::int64_t>(0, job.left - done(job.rate, std::max<TimeUs>(0, now_ - job.working_from)));
  }
  std::int64_t known_left_now(const ReplayedGang& job) const {
    return !job.running ? job.known_left : std::max<std::int64_t>(0, job.known_left - done(job.rate, now_ - job.known_at));
  }
  TimeUs lease_end(TimeUs from) const { return kernel::saturating_add(r_.common != 0 ? from / r_.lease * r_.lease : from, r_.lease); }

  std::int64_t sensitivity(std::int32_t j) {
    const ReplayedGang& job = at(j);
    const TimeUs run = job.held + (job.running ? now_ - job.held_from : 0);
    if (run <= 0) return 0;
    if (v_.ideal_rate[j] <= 0) return 1'000'000'000;
    return kernel::mul_div(kernel::mul_div(v_.work[j] - known_left_now(job), 1'000'000, v_.ideal_rate[j]), 1'000'000'000, run);
  }

  void release_gpus(const Masks& gpus) {
    for (const auto& [node, mask] : gpus) free_[static_cast<std::size_t>(node)] |= mask;
  }
  void hold_gpus(const Masks& gpus) {
    for (const auto& [node, mask] : gpus) free_[static_cast<std::size_t>(node)] &= ~mask;
  }

  void give_up(std::int32_t j) {
    ReplayedGang& job = at(j);
    job.left = left_now(job);
    job.known_left = known_left_now(job);
    job.paid += std::min(now_, job.working_from) - job.held_from;
    job.held += now_ - job.held_from;
    job.running = false;
  }
  void complete(std::int32_t j) {
    give_up(j);
    release_gpus(at(j).has);
    at(j).live = false;
    at(j).end = now_;
  }
  void work(std::int32_t j, TimeUs cost) {
    ReplayedGang& job = at(j);
    job.running = true;
    job.rate = rate_of(j);
    job.held_from = job.known_at = job.lease_from = now_;
    job.working_from = kernel::saturating_add(now_, cost);
    job.pays = cost > 0;
    const auto needs = kernel::saturate(kernel::ceil_div(kernel::Wide{job.left} * 1'000'000, kernel::Wide{job.rate}));
    job.ends = kernel::saturating_add(job.working_from, std::max<std::int64_t>(1, needs));
    if (job.ends > kMaxTimeUs) too_late_ = j;
  }

  std::int32_t domain(std::int32_t level, std::int32_t node) const {
    return level == 0 ? node : v_.node_domain[static_cast<std::ptrdiff_t>(level) * v_.n_nodes + node];
  }
  std::int64_t rate_of(std::int32_t j) {
    const Masks& has = at(j).has;
    std::int32_t level = 0, most = 0;
    for (const auto& [node, mask] : has) {
      most = std::max(most, std::popcount(mask));
      while (domain(level, node) != domain(level, has.begin()->first)) ++level;
    }
    return v_.rate[v_.rate_begin[j] + kernel::rate_row(v_, v_.gpus[j], level, static_cast<std::int32_t>(has.size()), most)];
  }

  // Free GPUs of the domains of a level inside one of a higher level (`around` = -1: in the cluster), by domain.
  std::map<std::int32_t, std::int32_t> free_by_domain(std::int32_t level, std::int32_t above, std::int32_t around) const {
    std::map<std::int32_t, std::int32_t> free;
    for (std::int32_t n = 0; n < v_.n_nodes; ++n) {
      if (around >= 0 && domain(above, n) != around) continue;
      free[domain(level, n)] += std::popcount(free_[static_cast<std::size_t>(n)]);
    }
    return free;
  }
  bool fits(std::int32_t gpus, std::int32_t level) const {
    const auto free = free_by_domain(level, 0, -1);
    return std::any_of(free.begin(), free.end(), [&](const auto& one) { return one.second >= gpus; });
  }
  // Section 2 of docs/placement.md.
  Masks place(std::int32_t gpus, std::int32_t most_level) {
    Masks taken;
    for (std::int32_t level = 0; level <= most_level; ++level) {
      std::optional<std::pair<std::int32_t, std::int32_t>> best;  // free GPUs, domain
      for (const auto& [d, free] : free_by_domain(level, 0, -1)) {
        if (free >= gpus && (!best || std::pair(free, d) < *best)) best = {free, d};
      }
      if (!best) continue;
      fill(level, best->second, gpus, taken);
      break;
    }
    return taken;
  }
  // Section 3.
  void fill(std::int32_t level, std::int32_t d, std::int32_t gpus, Masks& taken) {
    if (level == 0) {
      const std::uint64_t mask = kernel_pick(d, gpus);
      free_[static_cast<std::size_t>(d)] &= ~mask;
      taken[d] |= mask;
      return;
    }
    std::map<std::int32_t, std::int32_t> children = free_by_domain(level - 1, level, d);
    for (std::int32_t left = gpus; left > 0;) {
      using Offer = std::tuple<bool, std::int32_t, std::int32_t>;
      std::optional<Offer> best;
      for (const auto& [child, free] : children) {
        if (free == 0) continue;
        const bool enough = free >= left;
        const Offer one{!enough, enough ? free : -free, child};
        if (!best || one < *best) best = one;
      }
      const std::int32_t child = std::get<2>(*best);
      const std::int32_t give = std::min(left, children[child]);
      fill(level - 1, child, give, taken);
      children.erase(child);
      left -= give;
    }
  }
  // Section 4.
  std::uint64_t kernel_pick(std::int32_t node, std::int32_t gpus) const {
    const std::uint64_t free = free_[static_cast<std::size_t>(node)];
    std::vector<std::uint64_t> inner(v_.inner_mask + v_.inner_begin[node], v_.inner_mask + v_.inner_begin[node + 1]);
    const auto has = [&](std::uint64_t group) { return std::popcount(group & free); };
    std::stable_sort(inner.begin(), inner.end(), [&](std::uint64_t a, std::uint64_t b) { return has(a) < has(b); });
    const auto tight = std::find_if(inner.begin(), inner.end(), [&](std::uint64_t group) { return has(group) >= gpus; });
    std::uint64_t taken = 0;
    const auto take = [&](std::uint64_t from) {
      for (from &= free & ~taken; from != 0 && std::popcount(taken) < gpus; from &= from - 1) taken |= from & -from;
    };
    if (tight != inner.end()) {
      take(*tight);
    } else {
      std::stable_sort(inner.begin(), inner.end(), [&](std::uint64_t a, std::uint64_t b) { return has(a) > has(b); });
      for (const std::uint64_t group : inner) take(group);
      take(free);
    }
    return taken;
  }

  // The rung that a job waits for, or n_rungs, and until when.
  std::pair<std::int32_t, TimeUs> rung_of(std::int32_t j) {
    const TimeUs waits = at(j).running ? 0 : now_ - at(j).since;
    std::int32_t loosest = 0;
    TimeUs first = kNever;
    for (std::int32_t rung = 0; rung < v_.n_rungs; ++rung) {
      const bool holds = v_.gpus[j] <= v_.rung_gpus[rung];
      const TimeUs wait = holds ? r_.timers[static_cast<std::ptrdiff_t>(v_.timer_class[j]) * v_.n_rungs + rung] : 0;
      if (waits >= wait) {
        loosest = rung + 1;
        first = kNever;
      } else {
        first = std::min(first, wait);
      }
    }
    return {loosest, loosest == v_.n_rungs ? kNever : kernel::saturating_add(at(j).running ? now_ : at(j).since, first)};
  }

  // @returns when the next lease or timer ends, where jobs wait.
  TimeUs decide() {
    std::vector<Position> order;
    std::vector<std::tuple<std::int64_t, TimeUs, std::int32_t>> keys;
    for (std::int32_t j = 0; j < v_.n_jobs; ++j) {
      ReplayedGang& job = at(j);
      if (!job.live) continue;
      if (job.running && lease_end(job.lease_from) > now_) continue;  // kept before all others
      if (job.running) job.lease_from = now_;
      keys.emplace_back(sensitivity(j), job.running ? now_ : job.since, j);
    }
    std::sort(keys.begin(), keys.end());
    order.reserve(keys.size());
    for (const auto& [seen, since, j] : keys) order.push_back({j, at(j).running, false});
    TimeUs until = kNever;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].offered && !order[i].displaced) continue;
      const std::int32_t j = order[i].job;
      const auto [rung, ends] = rung_of(j);
      const std::int32_t level = rung == v_.n_rungs ? v_.n_levels - 1 : v_.rung_level[rung];
      std::optional<Masks> found;
      if (fits(v_.gpus[j], level)) {
        found = place(v_.gpus[j], level);
      } else {
        found = displace(order, i, v_.gpus[j], level);
      }
      if (order[i].offered) {
        settle_displaced(j, found);
      } else if (found) {
        start(j, std::move(*found));
      }
      if (!at(j).running) until = std::min(until, ends);
    }
    const bool waits = std::any_of(jobs_.begin(), jobs_.end(), [](const ReplayedGang& job) { return job.live && !job.running; });
    for (const ReplayedGang& job : jobs_) {
      if (waits && job.running) until = std::min(until, lease_end(job.lease_from));
    }
    return until;
  }

  // Section 6, step 5.
  std::optional<Masks> displace(std::vector<Position>& order, std::size_t i, std::int32_t gpus, std::int32_t level) {
    std::vector<std::size_t> victims;
    for (std::size_t k = order.size(); k-- > i + 1;) {
      if (order[k].offered && !order[k].displaced) victims.push_back(k);
    }
    const std::vector<std::uint64_t> before = free_;
    const auto fits_after = [&](std::size_t n) {
      free_ = before;
      for (std::size_t k = 0; k < n; ++k) release_gpus(at(order[victims[k]].job).has);
      return fits(gpus, level);
    };
    std::size_t failed = 0, enough = 0;
    for (std::size_t n = 1; enough == 0 && failed < victims.size(); n *= 2) {
      const std::size_t tried = std::min(n, victims.size());
      (fits_after(tried) ? enough : failed) = tried;
    }
    if (enough == 0) {
      free_ = before;
      return std::nullopt;
    }
    while (enough - failed > 1) {
      const std::size_t middle = failed + (enough - failed) / 2;
      (fits_after(middle) ? enough : failed) = middle;
    }
    fits_after(enough);
    Masks taken = place(gpus, level);
    for (std::size_t k = enough; k-- > 0;) {
      Position& victim = order[victims[k]];
      const Masks& has = at(victim.job).has;
      const bool back = std::all_of(has.begin(), has.end(),
                                    [&](const auto& one) { return (one.second & ~free_[static_cast<std::size_t>(one.first)]) == 0; });
      if (back) {
        hold_gpus(has);
      } else {
        victim.displaced = true;
      }
    }
    return taken;
  }

  void start(std::int32_t j, Masks found) {
    ReplayedGang& job = at(j);
    job.has = std::move(found);
    if (job.start == kNever) job.start = now_;
    ++job.starts;
    const TimeUs cost = job.owed;
    job.owed = 0;
    work(j, cost);
  }
  void settle_displaced(std::int32_t j, const std::optional<Masks>& found) {
    ReplayedGang& job = at(j);
    if (found && *found == job.has) return;
    give_up(j);
    if (found) {
      job.has = *found;
      ++job.moves;
      work(j, v_.move_cost[j]);
    } else {
      job.has.clear();
      job.since = now_;
      job.owed += v_.resume_cost[j];
      ++job.preemptions;
    }
  }

  void finish(const DelayReplayResult& out, bool stopped) {
    kernel::DelayReplayTotals totals{};
    totals.last_end = kNever;
    totals.rejected = rejected_;
    totals.decisions = decisions_;
    totals.too_late = too_late_;
    totals.stopped = stopped ? 1 : 0;
    TimeUs last = -1;
    const auto put = [](auto* column, std::int32_t j, auto value) {
      if (column != nullptr) column[j] = value;
    };
    for (std::int32_t j = 0; j < v_.n_jobs; ++j) {
      if (at(j).running) give_up(j);
      const ReplayedGang& job = at(j);
      put(out.start, j, job.start);
      put(out.end, j, job.end);
      put(out.held, j, job.held);
      put(out.paid, j, job.paid);
      put(out.starts, j, job.starts);
      put(out.preemptions, j, job.preemptions);
      put(out.moves, j, job.moves);
      totals.starts += job.starts;
      totals.preemptions += job.preemptions;
      totals.moves += job.moves;
      if (job.end == kNever) continue;
      ++totals.completed;
      totals.jct_us += job.end - v_.submit[j];
      totals.wait_us += job.end - v_.submit[j] - job.held;
      totals.gpu_us += kernel::Wide{job.held} * v_.gpus[j];
      totals.paid_gpu_us += kernel::Wide{job.paid} * v_.gpus[j];
      last = std::max(last, job.end);
    }
    if (last >= 0) totals.last_end = last;
    *out.totals = totals;
  }

  const DelayReplayView& v_;
  const DelayReplayRequest& r_;
  std::vector<ReplayedGang> jobs_;
  std::vector<std::uint64_t> free_;
  std::int64_t n_gpus_ = 0, decisions_ = 0, rejected_ = 0;
  std::int32_t too_late_ = -1;
  TimeUs now_ = 0;
};

}  // namespace

void delay_replay(const DelayReplayView& problem, const DelayReplayRequest& request, const DelayReplayResult& result,
                  const std::function<bool()>& stop) {
  DelayedReplay(problem, request).run(result, stop);
}

}  // namespace berth::reference
