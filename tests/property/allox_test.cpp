// Compares AlloX's matching with exhaustive search. The matching knows no state, only when GPUs become free: GPUs that were lost never do.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <vector>

#include "host/policy/base/assignment.hpp"
#include "host/policy/shapes/allox_matching.hpp"
#include "tests/support/random.hpp"

namespace berth::policy::allox_test {
namespace {

using test::Random;

constexpr std::int64_t kNever64 = INT64_MAX;

std::int64_t cheapest(std::int32_t rows, std::int32_t columns, const std::vector<std::int64_t>& cost) {
  std::vector<bool> taken(static_cast<std::size_t>(columns), false);
  const std::function<std::int64_t(std::int32_t)> from = [&](std::int32_t row) -> std::int64_t {
    if (row == rows) return 0;
    std::int64_t best = kNever64;
    for (std::int32_t c = 0; c < columns; ++c) {
      const std::int64_t edge = cost[static_cast<std::size_t>(row * columns + c)];
      if (edge < 0 || taken[static_cast<std::size_t>(c)]) continue;
      taken[static_cast<std::size_t>(c)] = true;
      const std::int64_t rest = from(row + 1);
      if (rest != kNever64) best = std::min(best, edge + rest);
      taken[static_cast<std::size_t>(c)] = false;
    }
    return best;
  };
  return from(0);
}

struct Question {
  std::vector<std::vector<AlloxRelease>> released;
  std::vector<AlloxWork> work;
  std::size_t jobs = 0;
};

/// @param gpus  GPUs that all jobs request; 0: random per job
Question random_question(Random& random, std::int32_t gpus) {
  Question q;
  q.released.resize(static_cast<std::size_t>(random.within(1, 2)));
  std::vector<std::int64_t> capacity;
  const TimeUs longest = random.of<TimeUs>({3, 20, 1'000'000'000});
  for (auto& type : q.released) {
    capacity.push_back(0);
    if (random.percent(15)) continue;  // all GPUs of the type were lost
    for (std::int32_t i = random.within(1, 3); i > 0; --i) {
      type.push_back({random.percent(50) ? 0 : random.below(static_cast<std::int32_t>(longest)), random.within(1, 2)});
      capacity.back() += type.back().gpus;
    }
  }
  for (std::int32_t j = random.within(1, 4); j > 0; --j) {
    std::vector<AlloxWork> of;
    bool any = false;
    for (const std::int64_t there : capacity) {
      AlloxWork one{gpus > 0 ? gpus : random.within(1, 4), random.within(1, static_cast<std::int32_t>(longest))};
      if (one.gpus > there || random.percent(10)) one = {};
      any = any || one.gpus > 0;
      of.push_back(one);
    }
    if (!any) continue;
    q.work.insert(q.work.end(), of.begin(), of.end());
    ++q.jobs;
  }
  return q;
}

/// When each machine of `size` GPUs is free.
std::vector<TimeUs> machines(std::vector<AlloxRelease> type, std::int64_t size) {
  std::vector<TimeUs> gpus, free;
  for (const AlloxRelease& one : type) gpus.insert(gpus.end(), static_cast<std::size_t>(one.gpus), one.after);
  std::sort(gpus.begin(), gpus.end());
  for (std::size_t last = static_cast<std::size_t>(size); last <= gpus.size(); last += static_cast<std::size_t>(size))
    free.push_back(gpus[last - 1]);
  return free;
}

/// The minimum sum of completion times over all queues of all machines, where every job has the size of a machine.
std::int64_t least_sum_of_ends(const Question& q, std::int64_t size) {
  struct Machine {
    std::size_t type;
    TimeUs free;
  };
  std::vector<Machine> all;
  for (std::size_t t = 0; t < q.released.size(); ++t) {
    for (const TimeUs free : machines(q.released[t], size)) all.push_back({t, free});
  }
  // Every order of the jobs, with each job at the end of some queue.
  std::vector<std::size_t> order(q.jobs);
  std::iota(order.begin(), order.end(), 0);
  std::int64_t best = kNever64;
  const std::function<void(std::size_t, std::int64_t)> put = [&](std::size_t i, std::int64_t sum) {
    if (i == order.size()) best = std::min(best, sum);
    for (std::size_t m = 0; i < order.size() && m < all.size(); ++m) {
      const AlloxWork& one = q.work[order[i] * q.released.size() + all[m].type];
      if (one.gpus == 0) continue;
      const TimeUs before = all[m].free;
      all[m].free += one.run;
      put(i + 1, sum + all[m].free);
      all[m].free = before;
    }
  };
  do {
    put(0, 0);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

/// The minimum sum of costs, as defined in host/policy/shapes/allox.cpp, over all positions of all machines.
std::int64_t least_sum_of_costs(const Question& q) {
  std::vector<std::vector<std::int64_t>> columns;  // [places][jobs]
  for (std::size_t t = 0; t < q.released.size(); ++t) {
    std::int64_t asked = 0, n = 0;
    for (std::size_t j = 0; j < q.jobs; ++j) {
      asked += q.work[j * q.released.size() + t].gpus;
      n += q.work[j * q.released.size() + t].gpus > 0 ? 1 : 0;
    }
    if (n == 0) continue;
    const std::vector<TimeUs> single = machines(q.released[t], 1), free = machines(q.released[t], asked / n);
    for (const TimeUs from : free) {
      for (std::size_t behind = 0; behind < q.jobs; ++behind) {
        columns.emplace_back();
        for (std::size_t j = 0; j < q.jobs; ++j) {
          const AlloxWork& one = q.work[j * q.released.size() + t];
          columns.back().push_back(one.gpus == 0 ? -1
                                                 : std::max(from, single[static_cast<std::size_t>(one.gpus - 1)]) + one.run +
                                                       one.run * one.gpus * static_cast<std::int64_t>(behind) / (asked / n));
        }
      }
    }
  }
  std::vector<std::int64_t> cost;
  for (std::size_t j = 0; j < q.jobs; ++j) {
    for (const auto& column : columns) cost.push_back(column[j]);
  }
  return cheapest(static_cast<std::int32_t>(q.jobs), static_cast<std::int32_t>(columns.size()), cost);
}

}  // namespace

TEST(Assignment, IsTheCheapestOfAll) {
  Assignment assignment;
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const std::int32_t rows = random.within(0, 5), columns = random.within(rows, 7);
    const std::int64_t most = random.of<std::int64_t>({1, 5, 1000, Assignment::kMostCost});
    std::vector<std::int64_t> cost;
    for (std::int32_t i = 0; i < rows * columns; ++i) {
      const bool edge = random.percent(80) || i % columns == i / columns;  // makes every row assignable
      const std::int64_t part = random.below(1001);
      cost.push_back(edge ? most / 1000 * part + most % 1000 * part / 1000 : Assignment::kNoEdge);
    }
    std::int64_t sum = 0;
    std::vector<bool> taken(static_cast<std::size_t>(columns), false);
    const auto column_of = assignment.solve(rows, columns, cost);
    ASSERT_EQ(column_of.size(), static_cast<std::size_t>(rows));
    for (std::int32_t r = 0; r < rows; ++r) {
      const auto c = static_cast<std::size_t>(column_of[static_cast<std::size_t>(r)]);
      const std::int64_t edge = cost[static_cast<std::size_t>(r * columns) + c];
      ASSERT_FALSE(taken[c]) << "seed " << seed;
      ASSERT_GE(edge, 0) << "seed " << seed;
      taken[c] = true;
      sum += edge;
    }
    ASSERT_EQ(sum, cheapest(rows, columns, cost)) << "seed " << seed;
  }
}

TEST(Allox, MinimisesTheMeanJctOfJobsOfOneSize) {
  AlloxMatching matching;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    const std::int32_t gpus = random.within(1, 2);
    Question q = random_question(random, gpus);
    if (q.jobs == 0) continue;
    const std::int64_t want = least_sum_of_ends(q, gpus);
    const auto places = matching.match(q.released, q.work);
    std::int64_t ends = 0;
    for (std::size_t j = 0; j < q.jobs; ++j) {
      ends += places[j].start + q.work[j * q.released.size() + static_cast<std::size_t>(places[j].type)].run;
    }
    ASSERT_EQ(ends, want) << "seed " << seed;
    ASSERT_EQ(matching.cost(), want) << "seed " << seed;
  }
}

TEST(Allox, MinimisesTheSumOfCostsOfJobsOfAllSizes) {
  AlloxMatching matching;
  std::int64_t jobs = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    Question q = random_question(random, 0);
    if (q.jobs == 0) continue;
    jobs += static_cast<std::int64_t>(q.jobs);
    const std::int64_t want = least_sum_of_costs(q);
    matching.match(q.released, q.work);
    ASSERT_EQ(matching.cost(), want) << "seed " << seed;
  }
  EXPECT_GT(jobs, 2000);
}

}  // namespace berth::policy::allox_test
