#include "host/sim/delay/delay_search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/base/random.hpp"

namespace berth::sim {
namespace {

constexpr std::int64_t kLease = 1'000'000;  // in millionths
constexpr std::int64_t kGrid[] = {0,           kLease,      2 * kLease,  4 * kLease,  6 * kLease, 8 * kLease,
                                  12 * kLease, 16 * kLease, 24 * kLease, 48 * kLease, kNever};
constexpr std::size_t kMostTogether = 100;  // combinations of the levels of a class that are all tried

/// Places in the grid: [classes * rungs].
using GridTimes = std::vector<std::uint16_t>;

std::string in_leases(TimeUs time, TimeUs lease_us) {
  if (time == kNever) return "never";
  // Rounded up, so that it is the same time again when it is read.
  const std::int64_t millionths = core::saturate(core::ceil_div(core::Wide{time} * kLease, core::Wide{lease_us}));
  std::string text = fmt::format("{}.{:06}", millionths / kLease, millionths % kLease);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

class TimerSearch {
 public:
  TimerSearch(std::span<const DelayProblem* const> problems, const DelaySearch& search, core::PlacementBackend& backend)
      : problems_(problems),
        search_(search),
        backend_(backend),
        rungs_(to_index(problems.front()->rungs())),
        classes_(to_index(problems.front()->classes())) {
    const kernel::DelayReplayView v = problems.front()->view();
    matters_.assign(classes_ * rungs_, false);
    gpu_time_.assign(classes_, 0);
    for (std::int32_t j = 0; j < v.n_jobs; ++j) {
      const std::size_t of = to_index(v.timer_class[j]);
      gpu_time_[of] += static_cast<double>(v.work[j]) / static_cast<double>(std::max<std::int64_t>(1, v.ideal_rate[j])) * v.gpus[j];
      // A single GPU is in one domain of each level.
      for (std::size_t rung = 0; v.gpus[j] > 1 && rung < rungs_; ++rung) {
        if (v.gpus[j] <= v.rung_gpus[rung]) matters_[of * rungs_ + rung] = true;
      }
    }
  }

  DelaySearchResult run() {
    const bool none = std::none_of(matters_.begin(), matters_.end(), [](bool one) { return one; });
    std::vector<GridTimes> uniform;
    for (const GridTimes& one : combinations(std::vector<bool>(rungs_, true), GridTimes(rungs_, 0))) {
      GridTimes all;
      for (std::size_t c = 0; c < classes_; ++c) all.insert(all.end(), one.begin(), one.end());
      uniform.push_back(std::move(all));
      if (none) break;  // timers change nothing
    }
    if (!look_at(uniform) || !best_) return finish();
    result_.uniform = found(*best_);
    if (!none && look_at(drawn())) descend();
    return finish();
  }

 private:
  struct Rated {
    GridTimes times;
    std::int64_t value;
  };

  DelayTimes in_time(const GridTimes& grid) const {
    DelayTimes times;
    for (const std::uint16_t at : grid) {
      const std::int64_t leases = kGrid[at];
      times.push_back(leases == kNever ? kNever : core::mul_div(leases, search_.leases.lease_us, kLease));
    }
    return times;
  }
  /// Classes whose timers change nothing have those of the next, so that the answer is short.
  FoundTimers found(const Rated& one) const {
    GridTimes times = one.times;
    for (std::size_t c = classes_ - 1; c-- > 0;) {
      const std::vector<bool> matters = matters_of(c);
      if (std::none_of(matters.begin(), matters.end(), [](bool any) { return any; })) times = with_part(times, c, part_of(times, c + 1));
    }
    return {in_time(times), one.value};
  }

  DelaySearchResult finish() {
    if (best_) result_.best = found(*best_);
    return std::move(result_);
  }

  /// Timers of one class that ascend, for the rungs that matter; the others as they are. Where these are too many, one rung at a time.
  static std::vector<GridTimes> combinations(const std::vector<bool>& matters, const GridTimes& now) {
    std::vector<std::size_t> rungs;
    for (std::size_t r = 0; r < now.size(); ++r) {
      if (matters[r]) rungs.push_back(r);
    }
    std::vector<GridTimes> all;
    const auto ascends = [&](const GridTimes& times) {
      for (std::size_t i = 1; i < rungs.size(); ++i) {
        if (times[rungs[i]] < times[rungs[i - 1]]) return false;
      }
      return true;
    };
    std::size_t together = 1;
    for (std::size_t i = 0; i < rungs.size() && together <= 2 * kMostTogether; ++i) together *= std::size(kGrid);
    if (together > 2 * kMostTogether) {
      for (const std::size_t rung : rungs) {
        for (std::size_t at = 0; at < std::size(kGrid); ++at) {
          GridTimes one = now;
          // Those above are not shorter, those below not longer.
          for (const std::size_t other : rungs) {
            const auto value = static_cast<std::uint16_t>(at);
            one[other] = other == rung ? value : other > rung ? std::max(one[other], value) : std::min(one[other], value);
          }
          all.push_back(std::move(one));
        }
      }
      return all;
    }
    for (std::size_t n = 0; n < together; ++n) {
      GridTimes one = now;
      std::size_t rest = n;
      for (const std::size_t rung : rungs) {
        one[rung] = static_cast<std::uint16_t>(rest % std::size(kGrid));
        rest /= std::size(kGrid);
      }
      if (ascends(one)) all.push_back(std::move(one));
    }
    return all;
  }

  /// Replays those that were not looked at yet, some at a time. @returns false where it has to stop
  bool look_at(const std::vector<GridTimes>& several) {
    constexpr std::size_t kBlock = 32;
    for (std::size_t from = 0; from < several.size(); from += kBlock) {
      const auto begin = several.begin() + static_cast<std::ptrdiff_t>(from);
      if (!look_at_some({begin, begin + static_cast<std::ptrdiff_t>(std::min(kBlock, several.size() - from))})) return false;
    }
    return !result_.stopped && result_.settings < search_.settings;
  }

  bool look_at_some(std::vector<GridTimes> several) {
    std::vector<DelayTimes> times;
    std::vector<GridTimes> fresh;
    for (GridTimes& one : several) {
      if (result_.settings + static_cast<std::int64_t>(fresh.size()) >= search_.settings) break;
      if (!seen_.insert(one).second) continue;
      times.push_back(in_time(one));
      fresh.push_back(std::move(one));
    }
    std::vector<std::optional<std::int64_t>> values(fresh.size(), 0);
    for (const DelayProblem* const problem : problems_) add(*problem, times, values);
    result_.settings += static_cast<std::int64_t>(fresh.size());
    for (std::size_t i = 0; i < fresh.size(); ++i) {
      if (!values[i]) {
        ++result_.lost;
      } else if (!best_ || *values[i] < best_->value) {
        best_ = Rated{std::move(fresh[i]), *values[i]};
      }
    }
    if (search_.proceed && !search_.proceed(result_.settings)) result_.stopped = true;
    return !result_.stopped && result_.settings < search_.settings;
  }

  void add(const DelayProblem& problem, std::span<const DelayTimes> times, std::vector<std::optional<std::int64_t>>& values) {
    const std::vector<DelayOutcome> outcomes = delay_replays(problem, search_.leases, times, backend_, search_.with_jobs);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const kernel::DelayReplayTotals& totals = outcomes[i].totals;
      const bool all = totals.completed + totals.rejected == problem.view().n_jobs;
      if (!all) values[i] = std::nullopt;
      if (values[i]) values[i] = core::saturating_add(*values[i], search_.value(problem, outcomes[i]));
    }
  }

  std::vector<bool> matters_of(std::size_t c) const {
    const auto begin = matters_.begin() + static_cast<std::ptrdiff_t>(c * rungs_);
    return {begin, begin + static_cast<std::ptrdiff_t>(rungs_)};
  }
  GridTimes part_of(const GridTimes& all, std::size_t c) const {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(c * rungs_);
    return {begin, begin + static_cast<std::ptrdiff_t>(rungs_)};
  }
  GridTimes with_part(GridTimes all, std::size_t c, const GridTimes& part) const {
    std::copy(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(c * rungs_));
    return all;
  }

  /// A fifth of the budget: about half of the classes of the best have other timers.
  std::vector<GridTimes> drawn() const {
    std::vector<GridTimes> all;
    for (std::int64_t n = 0; n < search_.settings / 5; ++n) {
      ItemDraws draws(search_.seed, RandomStream::kTimers, static_cast<std::uint64_t>(n));
      GridTimes one = best_->times;
      for (std::size_t c = 0; c < classes_; ++c) {
        if (draws.below(2) == 0) continue;
        const std::vector<GridTimes> choices = combinations(matters_of(c), part_of(one, c));
        one = with_part(std::move(one), c, choices[to_index(draws.below(std::ssize(choices)))]);
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  void descend() {
    std::vector<std::size_t> order(classes_);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return gpu_time_[a] > gpu_time_[b]; });
    for (bool better = true; better;) {
      better = false;
      for (const std::size_t c : order) {
        const Rated from = *best_;
        std::vector<GridTimes> around;
        for (const GridTimes& part : combinations(matters_of(c), part_of(from.times, c))) around.push_back(with_part(from.times, c, part));
        const bool more = look_at(around);
        better = better || best_->value < from.value;
        if (!more) return;
      }
    }
  }

  std::span<const DelayProblem* const> problems_;
  const DelaySearch& search_;
  core::PlacementBackend& backend_;
  std::size_t rungs_, classes_;
  std::vector<bool> matters_;  // [classes * rungs]
  std::vector<double> gpu_time_;
  std::set<GridTimes> seen_;
  std::optional<Rated> best_;
  DelaySearchResult result_;
};

}  // namespace

std::span<const std::int64_t> timer_grid() { return kGrid; }

std::vector<std::int64_t> demand_classes(const Trace& trace) {
  std::set<std::int64_t> classes;
  for (const TraceJob& job : trace.jobs) classes.insert(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(job.gpus))));
  if (classes.empty()) classes.insert(1);
  return {classes.begin(), classes.end()};
}

std::string timers_text(std::span<const std::int64_t> most_gpus, const DelayTimes& times, TimeUs lease_us) {
  const std::size_t rungs = times.size() / std::max<std::size_t>(1, most_gpus.size());
  std::vector<std::string> parts;
  for (std::size_t c = 0; c < most_gpus.size(); ++c) {
    std::string& text = parts.emplace_back();
    for (std::size_t rung = 0; rung < rungs; ++rung)
      text += fmt::format("{}{}", rung > 0 ? ":" : "", in_leases(times[c * rungs + rung], lease_us));
  }
  std::string all;
  std::size_t entries = 0;
  for (std::size_t c = 0; c < parts.size(); ++c) {
    if (c + 1 < parts.size() && parts[c] == parts[c + 1]) continue;
    all += fmt::format("{}{}:{}", all.empty() ? "" : "/", most_gpus[c], parts[c]);
    ++entries;
  }
  return entries == 1 ? parts.back() : all;
}

DelaySearchResult search_timers(std::span<const DelayProblem* const> problems, const DelaySearch& search, core::PlacementBackend& backend) {
  return TimerSearch(problems, search, backend).run();
}

}  // namespace berth::sim
