// The heap of `optimus` gives the same steps as a search over all jobs before each step.

#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/policy_api/policy.hpp"
#include "host/core/policy_api/shape_policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/property/random_steps.hpp"

namespace berth::optimus_test {
namespace {

using test::random_steps;
using test::StepJobs;

std::vector<std::int32_t> by_rescan(const StepJobs& jobs) {
  const test::ChoiceProblem& p = jobs.problem;
  const auto n = static_cast<std::size_t>(p.n_jobs());
  std::vector<std::int64_t> free = p.capacity;
  std::vector<std::int32_t> row(n, -1);
  const auto left = [&](std::size_t k) { return jobs.shapes[k].run + jobs.shapes[k].cost; };
  for (std::size_t j = 0; j < n; ++j) {
    const std::int32_t held = test::held_type(jobs, static_cast<std::int32_t>(j));
    const auto begin = static_cast<std::size_t>(p.option_begin[j]), end = static_cast<std::size_t>(p.option_begin[j + 1]);
    const auto enough = [&](std::size_t k) { return jobs.shapes[k].speed > 0 && p.gpus[k] <= free[static_cast<std::size_t>(p.type[k])]; };
    const auto rank = [&](std::size_t k) { return std::tuple(held >= 0 && p.type[k] != held, left(k), p.gpus[k]); };
    for (std::size_t k = begin; k < end; ++k) {
      bool least = enough(k);  // of its type
      for (std::size_t other = begin; other < end; ++other) {
        const bool before = std::tuple(p.gpus[other], left(other), other) < std::tuple(p.gpus[k], left(k), k);
        if (enough(other) && p.type[other] == p.type[k] && before) least = false;
      }
      if (least && (row[j] < 0 || rank(k) < rank(static_cast<std::size_t>(row[j])))) row[j] = static_cast<std::int32_t>(k);
    }
    // It stays without speed where nothing else fits.
    for (auto k = static_cast<std::size_t>(p.option_begin[j]); k < static_cast<std::size_t>(p.option_begin[j + 1]); ++k) {
      const bool fits = p.gpus[k] <= free[static_cast<std::size_t>(p.type[k])];
      if (row[j] < 0 && jobs.options[k].current && fits) row[j] = static_cast<std::int32_t>(k);
    }
    if (row[j] >= 0) free[static_cast<std::size_t>(p.type[static_cast<std::size_t>(row[j])])] -= p.gpus[static_cast<std::size_t>(row[j])];
  }
  for (;;) {
    std::size_t best_job = n, best_row = 0;
    std::int64_t best_saved = 0, best_added = 1;
    for (std::size_t j = 0; j < n; ++j) {
      if (row[j] < 0) continue;
      const auto has = static_cast<std::size_t>(row[j]);
      for (auto k = static_cast<std::size_t>(p.option_begin[j]); k < static_cast<std::size_t>(p.option_begin[j + 1]); ++k) {
        const std::int64_t added = p.gpus[k] - p.gpus[has], saved = left(has) - left(k);
        if (jobs.shapes[k].speed == 0 || p.type[k] != p.type[has] || added <= 0 || added > free[static_cast<std::size_t>(p.type[k])])
          continue;
        const core::Wide here = core::Wide{saved} * best_added, best = core::Wide{best_saved} * added;
        if (here < best || (here == best && (best_job == n || added >= best_added))) continue;
        best_job = j, best_row = k, best_saved = saved, best_added = added;
      }
    }
    if (best_job == n) break;
    free[static_cast<std::size_t>(p.type[best_row])] -= best_added;
    row[best_job] = static_cast<std::int32_t>(best_row);
  }
  for (std::size_t j = 0; j < n; ++j) row[j] = row[j] < 0 ? -1 : row[j] - p.option_begin[j];
  return row;
}

TEST(Optimus, GivesTheStepsOfASearchOverAllJobsBeforeEach) {
  const StateImpl state;
  const PolicyState kept;
  const auto backend = core::make_reference_backend();
  const auto policy = core::find_policy("optimus").shapes({});
  std::int64_t larger = 0;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const StepJobs jobs = random_steps(seed);
    std::vector<std::int32_t> chosen(static_cast<std::size_t>(jobs.problem.n_jobs()), -1);
    policy->choose({state, kept, jobs.problem.view(), jobs.options, jobs.shapes, {}, 0}, *backend, chosen);
    ASSERT_EQ(chosen, by_rescan(jobs)) << "seed " << seed;
    for (const std::int32_t option : chosen) larger += option > 0 ? 1 : 0;
  }
  EXPECT_GT(larger, 4000);
}

}  // namespace
}  // namespace berth::optimus_test
