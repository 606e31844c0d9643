// Chronus' integer program of bench/deadlines, against all plans of a few jobs and leases.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "bench/deadlines/lease_program.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "tests/support/random.hpp"

namespace berth::test::lease_program_test {
namespace {

// That of the first option before which the last of its leases ends.
std::int64_t value_until(const policy::LeaseJob& job, std::int64_t leases) {
  for (const policy::LeaseOption& option : job.options) {
    if (leases <= option.available) return option.value;
  }
  return 0;
}

// The greatest value of jobs that get all their leases; -1: not all accepted ones can.
std::int64_t best_value(const policy::LeaseQuestion& q, std::size_t job, std::vector<std::int64_t>& free) {
  if (job == q.jobs.size()) return 0;
  const policy::LeaseJob& one = q.jobs[job];
  std::int64_t best = one.accepted ? -1 : best_value(q, job + 1, free);
  for (std::uint32_t leases = 1; leases < (1U << one.options.back().available); ++leases) {
    if (std::popcount(leases) != one.needed) continue;
    bool fits = true;
    for (std::size_t t = 0; t < free.size(); ++t) {
      if (((leases >> t) & 1) != 0) fits = (free[t] -= one.gpus) >= 0 && fits;
    }
    const std::int64_t rest = fits ? best_value(q, job + 1, free) : -1;
    if (rest >= 0) best = std::max(best, rest + value_until(one, static_cast<std::int64_t>(std::bit_width(leases))));
    for (std::size_t t = 0; t < free.size(); ++t) {
      if (((leases >> t) & 1) != 0) free[t] += one.gpus;
    }
  }
  return best;
}

policy::LeaseQuestion some_jobs(Random& random) {
  policy::LeaseQuestion q;
  for (std::int32_t t = random.within(1, 4); t > 0; --t) q.free.push_back(random.within(0, 4));
  for (std::int32_t j = random.within(1, 4); j > 0; --j) {
    policy::LeaseJob& job = q.jobs.emplace_back();
    const auto available = random.within(1, static_cast<std::int32_t>(q.free.size()));
    job.gpus = random.within(1, 3);
    job.needed = random.within(1, available);
    job.accepted = random.percent(15);
    job.options = {{available, random.within(1, 9)}};
    // Earlier options have more value.
    while (random.percent(40) && job.options.front().available > job.needed) {
      const policy::LeaseOption& next = job.options.front();
      job.options.insert(job.options.begin(), {next.available - 1, next.value + random.within(1, 9)});
    }
  }
  q.spares_first = random.percent(50);
  return q;
}

}  // namespace

TEST(LeaseProgram, HasTheValueOfTheBestPlan) {
  Random random(3);
  int solved = 0, impossible = 0;
  for (int world = 0; world < 1'000; ++world) {
    const policy::LeaseQuestion q = some_jobs(random);
    std::vector<std::int64_t> free = q.free;
    const std::int64_t best = best_value(q, 0, free);
    policy::LeaseAnswer answer;
    bench::LeaseProgramFigures figures;
    ASSERT_EQ(bench::solve_leases(q, random.percent(50), 5, "", answer, figures), best >= 0) << world;
    if (best < 0) {
      ++impossible;
      continue;
    }
    ++solved;
    std::int64_t value = 0;
    for (std::size_t j = 0; j < q.jobs.size(); ++j) {
      EXPECT_TRUE(std::is_sorted(answer[j].begin(), answer[j].end()));
      EXPECT_TRUE(answer[j].empty() ? !q.jobs[j].accepted : std::ssize(answer[j]) == q.jobs[j].needed) << world;
      if (!answer[j].empty()) value += value_until(q.jobs[j], answer[j].back() + 1);
      for (const std::int32_t t : answer[j]) {
        EXPECT_LT(t, q.jobs[j].options.back().available);
        EXPECT_GE(free[to_index(t)] -= q.jobs[j].gpus, 0) << world;
      }
    }
    EXPECT_EQ(value, best) << world;
    if (HasFailure()) return;
  }
  EXPECT_GT(solved, 500);
  EXPECT_GT(impossible, 30);
}

}  // namespace berth::test::lease_program_test
