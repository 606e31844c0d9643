#include "host/core/shares.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "host/core/column_mix.hpp"

namespace berth::core {
namespace {

/// A speed that a job can have on average, and what it costs.
struct Corner {
  double speed, cost;
  std::int32_t type;  // -1: it waits
};

/// What shares cost at some prices: for each job the cheapest ways to be so fast, a lower convex hull.
class CheapestWays {
 public:
  explicit CheapestWays(const ShareProblem& p) : p_(p), n_types_(static_cast<std::size_t>(p.n_types)) {
    for (std::int32_t j = 0; j < p.n_jobs; ++j) {
      const std::size_t row = static_cast<std::size_t>(j) * n_types_;
      const std::size_t first = by_speed_.size();
      for (std::size_t t = 0; t < n_types_; ++t) {
        if (p.speed[row + t] > 0) by_speed_.push_back(static_cast<std::int32_t>(t));
      }
      if (by_speed_.size() == first) continue;  // it can run nowhere
      std::sort(by_speed_.begin() + static_cast<std::ptrdiff_t>(first), by_speed_.end(), [&](std::int32_t a, std::int32_t b) {
        const double fast = p.speed[row + static_cast<std::size_t>(a)], faster = p.speed[row + static_cast<std::size_t>(b)];
        return fast != faster ? fast < faster : a < b;
      });
      jobs_.push_back({j, first, by_speed_.size(), 0, 0});
      const double top = p.speed[row + static_cast<std::size_t>(by_speed_.back())];
      const double level = top / (need(jobs_.back()) + waited(jobs_.back()) * top);
      highest_ = jobs_.size() == 1 ? level : std::min(highest_, level);
    }
  }

  bool any() const { return !jobs_.empty(); }
  /// Of the job that can rise least.
  double highest() const { return highest_; }

  /// @param price  [types] of all GPUs of the type.
  void set(const std::vector<double>& price) {
    corners_.clear();
    for (Job& job : jobs_) {
      const std::size_t row = static_cast<std::size_t>(job.job) * n_types_;
      job.first = corners_.size();
      corners_.push_back({0, 0, -1});
      for (std::size_t i = job.types_begin; i < job.types_end; ++i) {
        const auto t = static_cast<std::size_t>(by_speed_[i]);
        const Corner next{p_.speed[row + t], price[t] * p_.gpus[row + t] / p_.capacity[t], by_speed_[i]};
        if (corners_.back().speed == next.speed) {
          if (corners_.back().cost <= next.cost) continue;
          corners_.pop_back();
        }
        while (!below(job.first, next)) corners_.pop_back();
        corners_.push_back(next);
      }
      job.last = corners_.size();
    }
  }

  /// The highest level, not above `from`, that costs at most 1; Newton's method from above on a convex function.
  double level(double from) const {
    double z = from;
    for (int i = 0; i < 60; ++i) {
      double cost = 0, slope = 0;
      for (const Job& job : jobs_) {
        const double left = 1 - waited(job) * z;
        const double speed = need(job) * z / left;
        const Corner& to = corners_[above(job, speed)];
        const Corner& start = (&to)[-1];
        const double each = (to.cost - start.cost) / (to.speed - start.speed);
        cost += start.cost + (speed - start.speed) * each;
        slope += each * need(job) / (left * left);
      }
      if (cost <= 1 + 1e-12 || slope <= 0) return z;
      z -= (cost - 1) / slope;
    }
    return z;
  }

  /// Calls visit(job, type, part of the time) for what brings every job to a level.
  template <class Visit>
  void at_level(double z, const Visit& visit) const {
    for (const Job& job : jobs_) {
      const double speed = need(job) * z / (1 - waited(job) * z);
      const Corner& to = corners_[above(job, speed)];
      const Corner& from = (&to)[-1];
      const double part = std::min(1.0, (speed - from.speed) / (to.speed - from.speed));
      visit(job.job, to.type, part);
      if (from.type >= 0) visit(job.job, from.type, 1 - part);
    }
  }

 private:
  struct Job {
    std::int32_t job;
    std::size_t types_begin, types_end;  // in by_speed_
    std::size_t first, last;             // in corners_
  };

  double need(const Job& job) const { return p_.need[static_cast<std::size_t>(job.job)]; }
  double waited(const Job& job) const { return p_.waited[static_cast<std::size_t>(job.job)]; }

  // Whether the last corner stays on the hull once `next`, which is faster, follows.
  bool below(std::size_t first, const Corner& next) const {
    if (corners_.size() == first + 1) return true;
    const Corner& last = corners_.back();
    const Corner& before = corners_[corners_.size() - 2];
    return (last.cost - before.cost) * (next.speed - last.speed) < (next.cost - last.cost) * (last.speed - before.speed);
  }

  // The first corner of a job that is as fast, the last one should none be.
  std::size_t above(const Job& job, double speed) const {
    std::size_t i = job.first + 1;
    while (i + 1 < job.last && corners_[i].speed < speed) ++i;
    return i;
  }

  const ShareProblem& p_;
  std::size_t n_types_;
  std::vector<std::int32_t> by_speed_;
  std::vector<Job> jobs_;
  std::vector<Corner> corners_;
  double highest_ = 0;
};

void make_sum_one(std::vector<double>& price) {
  const double sum = std::accumulate(price.begin(), price.end(), 0.0);
  for (double& one : price) one /= sum;
}

}  // namespace

Shares best_shares(const ShareProblem& p, double gap, std::int32_t most_rounds) {
  const auto n_types = static_cast<std::size_t>(p.n_types);
  Shares best;
  best.share.assign(static_cast<std::size_t>(p.n_jobs) * n_types, 0.0);
  best.price.assign(n_types, 0.0);
  CheapestWays ways(p);
  if (!ways.any()) return best;

  struct Tried {
    std::vector<double> price;
    double level;
  };
  std::vector<Tried> tried;
  ColumnMix mix(n_types);
  std::vector<double> price(n_types, 1.0);
  make_sum_one(price);
  best.bound = ways.highest();
  best.price = price;
  while (best.rounds < most_rounds) {
    ++best.rounds;
    ways.set(price);
    const double bound = best.bound, level = ways.level(bound);
    if (level < bound) {
      best.bound = level;
      best.price = price;
    }
    std::vector<double> used(n_types, 0.0);
    ways.at_level(level, [&](std::int32_t job, std::int32_t type, double part) {
      const auto t = static_cast<std::size_t>(type);
      used[t] += part * p.gpus[static_cast<std::size_t>(job) * n_types + t];
    });
    for (std::size_t t = 0; t < n_types; ++t) used[t] = p.capacity[t] > 0 ? used[t] / p.capacity[t] / level : 0.0;
    mix.add(std::move(used));
    mix.solve();
    tried.push_back({price, level});
    const double risen = std::min(mix.value(), best.bound);
    const bool learned = risen > best.level || level < bound;
    best.level = risen;
    if (best.bound <= best.level * (1 + gap)) break;
    // Half way to the best prices known there is more to learn, as a rule.
    price = mix.price();
    make_sum_one(price);
    for (std::size_t t = 0; learned && t < n_types; ++t) price[t] = (price[t] + best.price[t]) / 2;
  }

  const std::vector<double> weights = mix.weights();
  const double sum = mix.value();
  for (std::size_t k = 0; k < tried.size(); ++k) {
    if (weights[k] <= 0) continue;
    ways.set(tried[k].price);
    ways.at_level(tried[k].level, [&](std::int32_t job, std::int32_t type, double part) {
      best.share[static_cast<std::size_t>(job) * n_types + static_cast<std::size_t>(type)] +=
          part * (weights[k] / sum) * (best.level / tried[k].level);
    });
  }
  return best;
}

double level_bound(const ShareProblem& p, const std::vector<double>& price) {
  CheapestWays ways(p);
  if (!ways.any()) return 0;
  std::vector<double> one = price;
  make_sum_one(one);
  ways.set(one);
  return ways.level(ways.highest());
}

}  // namespace berth::core
