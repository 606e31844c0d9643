#include "host/core/choice/share_search.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace berth::core {
namespace {

void make_sum_one(std::vector<double>& price) {
  const double sum = std::accumulate(price.begin(), price.end(), 0.0);
  for (double& one : price) one /= sum;
}

}  // namespace

const Shares& ShareSearch::solve(const ShareProblem& p, double gap, std::int32_t most_rounds) {
  const auto n_types = static_cast<std::size_t>(p.n_types);
  best_.share.assign(static_cast<std::size_t>(p.n_jobs) * n_types, 0.0);
  best_.price.assign(n_types, 0.0);
  best_.level = best_.bound = 0;
  best_.rounds = 0;
  ways_.begin(p);
  if (!ways_.any()) return best_;

  mix_.begin(n_types);
  tried_.clear();
  tried_level_.clear();
  price_.assign(n_types, 1.0 / static_cast<double>(n_types));
  best_.price = price_;
  best_.bound = 1;  // levels are relative to the highest, until the end
  while (best_.rounds < most_rounds) {
    ++best_.rounds;
    const double level = best_.level, bound = best_.bound;
    try_prices(p);
    if (best_.bound <= best_.level * (1 + gap)) break;
    // Prices half way to the best known ones usually improve more.
    const bool learned = best_.level > level || best_.bound < bound;
    price_.assign(mix_.price().begin(), mix_.price().end());
    make_sum_one(price_);
    for (std::size_t t = 0; learned && t < n_types; ++t) price_[t] = (price_[t] + best_.price[t]) / 2;
  }
  mix_shares(p);
  best_.level *= ways_.highest();
  best_.bound *= ways_.highest();
  return best_;
}

// Computes a bound, and a column of the GPUs that the jobs use at it.
void ShareSearch::try_prices(const ShareProblem& p) {
  const auto n_types = static_cast<std::size_t>(p.n_types);
  ways_.set(price_);
  const double level = ways_.level(best_.bound);
  if (level < best_.bound) {
    best_.bound = level;
    best_.price = price_;
  }
  used_.assign(n_types, 0.0);
  ways_.at_level(level, [&](std::int32_t job, std::int32_t type, double part) {
    const auto t = static_cast<std::size_t>(type);
    used_[t] += part * p.gpus[static_cast<std::size_t>(job) * n_types + t];
  });
  for (std::size_t t = 0; t < n_types; ++t) used_[t] = p.capacity[t] > 0 ? used_[t] / p.capacity[t] / level : 0.0;
  mix_.add(used_);
  mix_.solve();
  tried_.insert(tried_.end(), price_.begin(), price_.end());
  tried_level_.push_back(level);
  best_.level = std::min(mix_.value(), best_.bound);
}

void ShareSearch::mix_shares(const ShareProblem& p) {
  const auto n_types = static_cast<std::size_t>(p.n_types);
  const double all = mix_.value();
  for (std::size_t k = 0; k < tried_level_.size(); ++k) {
    const double part_of_mix = mix_.weight(k) / all * (best_.level / tried_level_[k]);
    if (part_of_mix <= 0) continue;
    price_.assign(tried_.begin() + static_cast<std::ptrdiff_t>(k * n_types),
                  tried_.begin() + static_cast<std::ptrdiff_t>((k + 1) * n_types));
    ways_.set(price_);
    ways_.at_level(tried_level_[k], [&](std::int32_t job, std::int32_t type, double part) {
      best_.share[static_cast<std::size_t>(job) * n_types + static_cast<std::size_t>(type)] += part * part_of_mix;
    });
  }
}

double level_bound(const ShareProblem& p, std::vector<double> price) {
  CostHull ways;
  ways.begin(p);
  if (!ways.any()) return 0;
  make_sum_one(price);
  ways.set(price);
  return ways.level(1) * ways.highest();
}

}  // namespace berth::core
