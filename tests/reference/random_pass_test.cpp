#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "tests/reference/solve.hpp"
#include "tests/support/random_problem.hpp"

/// Properties of any result, on random problems; and that those problems reach the hard cases.
namespace berth::test::random_pass_test {
namespace {

using kernel::Outcome;

// Final use of each GPU: whole users, and parts per million of shares.
struct Usage {
  std::map<std::pair<std::int32_t, int>, int> whole;
  std::map<std::pair<std::int32_t, int>, std::int64_t> shared;

  void add(std::int32_t node, std::uint64_t mask, std::int32_t share_ppm) {
    for (int g = 0; g < 64; ++g) {
      if ((mask >> g & 1) == 0) continue;
      if (share_ppm == kWholeGpu) whole[{node, g}]++;
      if (share_ppm != kWholeGpu) shared[{node, g}] += share_ppm;
    }
  }
};

void expect_no_gpu_used_twice(const Usage& usage) {
  for (const auto& one : usage.whole) {
    EXPECT_EQ(one.second, 1) << "node " << one.first.first << " GPU " << one.first.second;
    EXPECT_EQ(usage.shared.count(one.first), 0u) << "node " << one.first.first << " GPU " << one.first.second;
  }
  for (const auto& one : usage.shared) EXPECT_LE(one.second, kWholeGpu) << "node " << one.first.first << " GPU " << one.first.second;
}

void expect_whole_gang(const Problem& p, const kernel::DemandRow& demand, const std::vector<kernel::PlacedRow>& rows) {
  std::map<std::int32_t, std::int32_t> members;
  for (const kernel::PlacedRow& row : rows) {
    const kernel::GroupRow& group = p.groups[static_cast<std::size_t>(demand.group_begin + row.group)];
    EXPECT_EQ(row.member, members[row.group]) << to_string(row);
    EXPECT_EQ(std::popcount(row.mask), row.members * group.gpus) << to_string(row);
    EXPECT_EQ(row.share_ppm, group.share_ppm) << to_string(row);
    EXPECT_EQ(p.node_type[static_cast<std::size_t>(row.node)], demand.gpu_type) << to_string(row);
    members[row.group] += row.members;
  }
  for (std::int32_t g = 0; g < demand.group_end - demand.group_begin; ++g) {
    EXPECT_EQ(members[g], p.groups[static_cast<std::size_t>(demand.group_begin + g)].members) << "group " << g;
  }
}

void expect_consistent(const Problem& p, const PassCase& pass, const ResultBuffers& result) {
  Usage usage;
  std::vector<bool> gone(static_cast<std::size_t>(p.n_jobs()));
  for (std::size_t i = 0; i < pass.order.size(); ++i) {
    const auto job = static_cast<std::size_t>(pass.order[i]);
    gone[job] = result.displaced_by[i] != kernel::kNone;
    const Outcome outcome = result.outcome[i];
    const bool placed = outcome == Outcome::kPlaced || outcome == Outcome::kMoved || outcome == Outcome::kReserved;
    EXPECT_EQ(placed, result.option[i] != kernel::kNone);
    if (!placed) {
      EXPECT_TRUE(result.entries_of(i).empty());
      continue;
    }
    const auto option = static_cast<std::size_t>(p.option_begin[job] + result.option[i]);
    expect_whole_gang(p, p.demands[static_cast<std::size_t>(p.options[option].demand)], result.entries_of(i));
    if (outcome == Outcome::kReserved) continue;
    for (const kernel::PlacedRow& row : result.entries_of(i)) usage.add(row.node, row.mask, row.share_ppm);
  }
  for (std::size_t job = 0; job < gone.size(); ++job) {
    if (gone[job]) continue;
    for (std::int32_t h = p.held_begin[job]; h < p.held_begin[job + 1]; ++h) {
      const kernel::HeldRow& held = p.held[static_cast<std::size_t>(h)];
      usage.add(held.node, held.mask, held.share_ppm);
    }
  }
  expect_no_gpu_used_twice(usage);
}

}  // namespace

TEST(RandomPass, GangsAreWholeAndNoGpuIsUsedTwice) {
  for (std::uint64_t seed = 0; seed < 400 && !HasFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Problem p = random_problem(seed);
    const PassCase pass = random_pass(seed, p);

    expect_consistent(p, pass, solve(p, pass));
  }
}

TEST(RandomPass, SizesAtTheEdges) {
  for (const std::int32_t nodes : {0, 1, 63, 64, 65}) {
    for (const std::int32_t jobs : {0, 1, 33}) {
      SCOPED_TRACE(::testing::Message() << "nodes " << nodes << ", jobs " << jobs);
      RandomSpec spec;
      spec.nodes = nodes;
      spec.jobs = jobs;
      spec.max_gpus = 64;
      const Problem p = random_problem(7, spec);
      const PassCase pass = random_pass(7, p);

      expect_consistent(p, pass, solve(p, pass));
    }
  }
}

// The first `n` positions of a pass.
PassCase cut(PassCase pass, std::size_t n) {
  pass.order.resize(n);
  pass.running.resize(n);
  pass.victim_ok.resize(n);
  return pass;
}

// No later job changes what an earlier one gets. Jobs that may be displaced would: they are jobs behind.
TEST(RandomPass, LaterJobsDelayNoReservation) {
  std::int64_t reserved = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const Problem p = random_problem(seed);
    PassCase pass = random_conservative_pass(seed, p);
    pass.preemptive = false;
    const ResultBuffers all = solve(p, pass);
    for (std::size_t n = 1; n < pass.order.size(); n += 1 + n / 2) {
      const ResultBuffers some = solve(p, cut(pass, n));
      for (std::size_t i = 0; i < n; ++i) {
        ASSERT_EQ(brief(some, i), brief(all, i)) << "seed " << seed << ", position " << i << " of " << n;
        ASSERT_EQ(masks(some, i), masks(all, i)) << "seed " << seed << ", position " << i << " of " << n;
        ASSERT_EQ(some.reserve_at[i], all.reserve_at[i]) << "seed " << seed << ", position " << i << " of " << n;
        reserved += some.outcome[i] == Outcome::kReserved ? 1 : 0;
      }
    }
  }
  EXPECT_GE(reserved, 500);
}

// Parts per million of a GPU, or with gpu -1 cores of a node, that one job has from `from` until before `to`.
struct Stay {
  std::int32_t node;
  int gpu;
  TimeUs from, to;
  std::int64_t amount;
};

// What jobs hold, and what they get now or later, until they end.
std::vector<Stay> stays_of(const Problem& p, const PassCase& pass, const ResultBuffers& result) {
  std::vector<Stay> stays;
  const auto add = [&](std::int32_t node, std::uint64_t mask, TimeUs from, TimeUs to, std::int32_t ppm, std::int64_t cpu) {
    if (from >= to) return;
    stays.push_back({node, -1, from, to, cpu});
    for (int g = 0; g < 64; ++g) {
      if ((mask >> g & 1) != 0) stays.push_back({node, g, from, to, ppm});
    }
  };
  std::map<std::int32_t, TimeUs> ends;
  for (const kernel::ReleaseRow& release : pass.releases) {
    if (release.job >= 0) ends[release.job] = std::max(release.at, pass.now);
  }
  std::vector<bool> gone(static_cast<std::size_t>(p.n_jobs()));
  for (std::size_t i = 0; i < pass.order.size(); ++i) {
    const auto job = static_cast<std::size_t>(pass.order[i]);
    gone[job] = result.displaced_by[i] != kernel::kNone;
    if (result.option[i] == kernel::kNone) continue;
    const auto option = static_cast<std::size_t>(p.option_begin[job] + result.option[i]);
    const TimeUs run = pass.option_run[option];
    const std::int32_t groups = p.demands[static_cast<std::size_t>(p.options[option].demand)].group_begin;
    const TimeUs from = result.outcome[i] == Outcome::kReserved ? result.reserve_at[i] : pass.now;
    for (const kernel::PlacedRow& row : result.entries_of(i)) {
      add(row.node, row.mask, from, run == kNever ? kNever : from + run, row.share_ppm,
          row.members * p.groups[static_cast<std::size_t>(groups + row.group)].cpu);
    }
  }
  for (std::int32_t j = 0; j < p.n_jobs(); ++j) {
    const auto job = static_cast<std::size_t>(j);
    if (gone[job]) continue;
    const TimeUs end = ends.count(j) != 0 ? ends[j] : kNever;
    for (std::int32_t h = p.held_begin[job]; h < p.held_begin[job + 1]; ++h) {
      const kernel::HeldRow& held = p.held[static_cast<std::size_t>(h)];
      add(held.node, held.mask, pass.now, end, held.share_ppm, held.cpu);
    }
  }
  return stays;
}

// At every instant at which some job begins, what is used of its GPUs, and of the cores of its nodes, is at most all.
void expect_nothing_is_used_twice(const Problem& p, const std::vector<Stay>& stays) {
  for (const Stay& one : stays) {
    const auto node = static_cast<std::size_t>(one.node);
    std::int64_t all = kWholeGpu, used = 0;
    if (one.gpu < 0) {
      all = p.node_cpu[node];
      if (all == kernel::kNoLimit || all < 0) continue;
      for (const kernel::HeldRow& held : p.held) all += held.node == one.node ? held.cpu : 0;
    }
    for (const Stay& other : stays) {
      const bool then = other.from <= one.from && one.from < other.to;
      if (then && other.node == one.node && other.gpu == one.gpu) used += other.amount;
    }
    ASSERT_LE(used, all) << "node " << one.node << " GPU " << one.gpu << " at " << one.from;
  }
}

TEST(RandomPass, ReservedAllocationsNeverOverlapInTime) {
  std::int64_t reserved = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    const Problem p = random_problem(seed);
    const PassCase pass = random_conservative_pass(seed, p);
    const ResultBuffers result = solve(p, pass);
    for (const Outcome outcome : result.outcome) reserved += outcome == Outcome::kReserved ? 1 : 0;
    expect_nothing_is_used_twice(p, stays_of(p, pass, result));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GE(reserved, 1000);
}

// EASY: jobs that displace others beside the reservation leave it alone.
TEST(RandomPass, VictimsBesideAReservationDoNotDelayIt) {
  std::int64_t displaced = 0;
  for (std::uint64_t seed = 0; seed < 5000; ++seed) {
    const Problem p = random_problem(seed);
    PassCase pass = random_pass(seed, p);
    pass.discipline = kernel::Discipline::kEasy;
    pass.preemptive = true;
    const ResultBuffers result = solve(p, pass);
    const auto reserved = std::find(result.outcome.begin(), result.outcome.end(), Outcome::kReserved);
    if (reserved == result.outcome.end()) continue;
    const auto position = static_cast<std::int32_t>(reserved - result.outcome.begin());
    for (const std::int32_t by : result.displaced_by) displaced += by > position ? 1 : 0;
    expect_nothing_is_used_twice(p, stays_of(p, pass, result));
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
  EXPECT_GE(displaced, 400);
}

// A generator that never reaches a branch tests nothing.
TEST(RandomPass, EveryOutcomeOccursOften) {
  std::map<Outcome, int> seen;
  int rows_of_trees = 0;
  int candidates = 0;
  for (std::uint64_t seed = 0; seed < 480; ++seed) {
    const Problem p = random_problem(seed);
    const ResultBuffers result = solve(p, random_pass(seed, p));
    for (const Outcome outcome : result.outcome) ++seen[outcome];
    for (std::int32_t e = 0; e < result.n_entries; ++e) rows_of_trees += result.entries[static_cast<std::size_t>(e)].group > 0 ? 1 : 0;
    const ScoreCase c = random_score(seed, p);
    for (const kernel::CandidateRow& one : score(*core::make_reference_backend(), p, c.view())) candidates += one.option >= 0 ? 1 : 0;
  }

  for (int o = 0; o <= static_cast<int>(Outcome::kGaveUp); ++o) {
    EXPECT_GE(seen[static_cast<Outcome>(o)], 25) << to_string(static_cast<Outcome>(o));
    RecordProperty(to_string(static_cast<Outcome>(o)), seen[static_cast<Outcome>(o)]);
  }
  EXPECT_GE(rows_of_trees, 100);
  EXPECT_GE(candidates, 1000);
}

TEST(RandomPass, SameSeedSameProblem) {
  const Problem a = random_problem(3);
  const Problem b = random_problem(3);

  EXPECT_EQ(diff(solve(a, random_pass(5, a)), solve(b, random_pass(5, b))), "");
}

}  // namespace berth::test::random_pass_test
