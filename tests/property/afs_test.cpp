// The tournament of `afs`, in which one job changes at a time, has the winners of a tournament that is computed again before each step.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <tuple>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/property/random_steps.hpp"

namespace berth::afs_test {
namespace {

using test::StepJobs;

std::size_t to_index(std::int64_t i) { return static_cast<std::size_t>(i); }

class Anew {
 public:
  explicit Anew(const StepJobs& jobs) : jobs_(jobs), p_(jobs.problem), free_(p_.capacity), row_(to_index(p_.n_jobs()), -1) {}

  std::vector<std::int32_t> choose() {
    std::vector<std::pair<TimeUs, std::int32_t>> turns;
    for (std::int32_t j = 0; j < p_.n_jobs(); ++j) {
      if (const std::int32_t k = smallest(j); k >= 0) turns.emplace_back(left(k), j);
    }
    std::sort(turns.begin(), turns.end());
    for (const auto& turn : turns) give(turn.second, smallest(turn.second));
    for (std::int32_t j = top(0, static_cast<std::int32_t>(std::bit_ceil(row_.size()))); j >= 0;
         j = top(0, static_cast<std::int32_t>(std::bit_ceil(row_.size())))) {
      give(j, next(j));
    }
    for (std::int32_t j = 0; j < p_.n_jobs(); ++j)
      row_[to_index(j)] = row_[to_index(j)] < 0 ? -1 : row_[to_index(j)] - p_.option_begin[to_index(j)];
    return row_;
  }

 private:
  TimeUs left(std::int32_t k) const { return jobs_.shapes[to_index(k)].run + jobs_.shapes[to_index(k)].cost; }
  std::int64_t speed(std::int32_t k) const { return jobs_.shapes[to_index(k)].speed; }
  std::int32_t gpus(std::int32_t k) const { return p_.gpus[to_index(k)]; }

  void give(std::int32_t j, std::int32_t k) {
    if (k < 0) return;
    free_[to_index(p_.type[to_index(k)])] -= gpus(k) - (row_[to_index(j)] < 0 ? 0 : gpus(row_[to_index(j)]));
    row_[to_index(j)] = k;
  }
  std::int32_t smallest(std::int32_t j) const {
    std::int32_t best = -1;
    const std::int32_t held = test::held_type(jobs_, j);
    const auto type = [&](std::int32_t k) { return p_.type[to_index(k)]; };
    const auto fits = [&](std::int32_t k) { return speed(k) > 0 && gpus(k) <= free_[to_index(type(k))]; };
    const auto rank = [&](std::int32_t k) { return std::tuple(held >= 0 && type(k) != held, left(k), gpus(k)); };
    for (std::int32_t k = p_.option_begin[to_index(j)]; k < p_.option_begin[to_index(j) + 1]; ++k) {
      bool least = fits(k);
      for (std::int32_t other = p_.option_begin[to_index(j)]; other < p_.option_begin[to_index(j) + 1]; ++other) {
        const bool before = std::tuple(gpus(other), left(other), other) < std::tuple(gpus(k), left(k), k);
        if (fits(other) && type(other) == type(k) && before) least = false;
      }
      if (least && (best < 0 || rank(k) < rank(best))) best = k;
    }
    for (std::int32_t k = p_.option_begin[to_index(j)]; best < 0 && k < p_.option_begin[to_index(j) + 1]; ++k) {
      if (jobs_.options[to_index(k)].current && gpus(k) <= free_[to_index(p_.type[to_index(k)])]) best = k;  // without speed
    }
    return best;
  }
  std::int32_t next(std::int32_t j) const {
    const std::int32_t has = row_[to_index(j)];
    std::int32_t best = -1;
    for (std::int32_t k = p_.option_begin[to_index(j)]; has >= 0 && k < p_.option_begin[to_index(j) + 1]; ++k) {
      if (p_.type[to_index(k)] != p_.type[to_index(has)] || speed(k) <= speed(has) || gpus(k) <= gpus(has)) continue;
      if (gpus(k) - gpus(has) > free_[to_index(p_.type[to_index(k)])]) continue;
      if (best < 0 || std::tuple(gpus(k), -speed(k)) < std::tuple(gpus(best), -speed(best))) best = k;
    }
    return best;
  }
  // Of the jobs [begin, end): the winners of the two halves meet. -1: no job has a step that fits.
  std::int32_t top(std::int32_t begin, std::int32_t end) const {
    if (end - begin == 1) return begin < p_.n_jobs() && next(begin) >= 0 ? begin : -1;
    std::int32_t a = top(begin, (begin + end) / 2), b = top((begin + end) / 2, end);
    if (a < 0 || b < 0) return std::max(a, b);
    if (std::tuple(left(row_[to_index(b)]), b) < std::tuple(left(row_[to_index(a)]), a)) std::swap(a, b);
    const std::int32_t a_next = next(a), b_next = next(b), a_has = row_[to_index(a)], b_has = row_[to_index(b)];
    const core::Wide of_b = core::Wide{speed(b_next) - speed(b_has)} * speed(a_has) * (gpus(a_next) - gpus(a_has));
    const core::Wide of_a = core::Wide{speed(a_next) - speed(a_has)} * speed(b_next) * (gpus(b_next) - gpus(b_has));
    return of_b > of_a ? b : a;
  }

  const StepJobs& jobs_;
  const test::ChoiceProblem& p_;
  std::vector<std::int64_t> free_;
  std::vector<std::int32_t> row_;
};

TEST(Afs, HasTheWinnersOfATournamentComputedAgainBeforeEachStep) {
  const StateImpl state;
  const PolicyState kept;
  const auto backend = core::make_reference_backend();
  const auto policy = core::find_policy("afs").shapes({});
  std::int64_t larger = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const StepJobs jobs = test::random_steps(seed);
    std::vector<std::int32_t> chosen(to_index(jobs.problem.n_jobs()), -1);
    policy->choose({state, kept, jobs.problem.view(), jobs.options, jobs.shapes, {}, 0}, *backend, chosen);
    ASSERT_EQ(chosen, Anew(jobs).choose()) << "seed " << seed;
    for (const std::int32_t option : chosen) larger += option > 0 ? 1 : 0;
  }
  EXPECT_GT(larger, 4000);
}

}  // namespace
}  // namespace berth::afs_test
