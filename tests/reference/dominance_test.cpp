#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "berth/kernel/place/sweep.hpp"
#include "tests/reference/solve.hpp"
#include "tests/support/random.hpp"
#include "tests/support/random_problem.hpp"

/// What is known of a demand counts for those that need more: `needs_no_more`, used by conservative backfill.
namespace berth::test::dominance_test {
namespace {

/// Another demand, of the same filter, whose group differs a little.
kernel::DemandRow variant(Random& random, Problem& p, const kernel::DemandRow& of) {
  kernel::GroupRow group = p.groups[static_cast<std::size_t>(of.group_begin)];
  kernel::DemandRow demand = of;
  group.members = std::max(1, group.members + random.within(-4, 2));
  if (group.share_ppm == kWholeGpu && random.percent(50)) group.gpus = random.within(1, 4);
  if (group.share_ppm != kWholeGpu && random.percent(50)) group.share_ppm = random.of<std::int32_t>({200'000, 500'000, 900'000});
  if (group.share_ppm != kWholeGpu && random.percent(50)) group.gpu_memory = random.of<std::int64_t>({0, 20, 90}) << 30;
  if (random.percent(30)) group.cpu = random.of<std::int32_t>({0, 500, 1000, 4000}) * group.gpus;
  if (random.percent(30)) group.memory = group.memory * random.within(0, 3) / 2;
  if (group.segment_size > 0 && random.percent(40)) group.segment_size = random.within(0, 3);
  if (group.spread_most > 0 && random.percent(40)) group.spread_most = random.within(0, 3);
  if (random.percent(20)) group.require_level = kernel::kNone;
  if (group.segment_size > 0) group.members = (group.members + group.segment_size - 1) / group.segment_size * group.segment_size;
  const bool whole = group.share_ppm == kWholeGpu;
  demand.gpus = whole ? std::int64_t{group.members} * group.gpus : 0;
  demand.quota = std::int64_t{group.members} * group.gpus * group.share_ppm;
  demand.exact = group.segment_size == 0 || group.spread_most == 0 ? 1 : 0;
  group.subtree_gpus = demand.gpus;
  demand.group_begin = static_cast<std::int32_t>(p.groups.size());
  p.groups.push_back(group);
  demand.group_end = static_cast<std::int32_t>(p.groups.size());
  return demand;
}

/// Whether a job that waits, alone in the pass, finds room for a demand.
bool fits(Problem& p, std::int32_t job, std::int32_t demand) {
  p.options[static_cast<std::size_t>(p.option_begin[static_cast<std::size_t>(job)])].demand = demand;
  PassCase pass = pass_over(p);
  pass.order = {job};
  pass.running = {0};
  pass.victim_ok = {0};
  return solve(p, pass).outcome.front() == kernel::Outcome::kPlaced;
}

TEST(Dominance, WhereADemandThatNeedsMoreFitsTheOtherDoes) {
  int unlimited = 0, require = 0, segments = 0, spread = 0, shares = 0;
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    RandomSpec spec;
    spec.nodes = 8;
    spec.jobs = 12;
    spec.types = 1;
    spec.queues = 0;
    spec.tree_percent = 0;
    spec.until = false;
    Problem p = random_problem(seed, spec);
    Random random(seed);
    std::int32_t job = -1;  // one that waits and has a single option
    for (std::int32_t j = 0; j < p.n_jobs(); ++j) {
      const auto at = static_cast<std::size_t>(j);
      if (p.held_begin[at] == p.held_begin[at + 1] && p.option_begin[at + 1] - p.option_begin[at] == 1) job = j;
    }
    const auto first = static_cast<std::int32_t>(seed % p.demands.size());
    if (job < 0 || p.demands[static_cast<std::size_t>(first)].exact == 0) continue;
    const kernel::DemandRow other = variant(random, p, p.demands[static_cast<std::size_t>(first)]);
    if (other.exact == 0) continue;
    const auto second = static_cast<std::int32_t>(p.demands.size());
    p.demands.push_back(other);
    for (const auto& [less, more] : {std::pair(first, second), std::pair(second, first)}) {
      const kernel::DemandRow &a = p.demands[static_cast<std::size_t>(less)], &b = p.demands[static_cast<std::size_t>(more)];
      if (!kernel::needs_no_more(p.view(), a, b)) continue;
      if (!fits(p, job, more)) continue;
      ASSERT_TRUE(fits(p, job, less)) << "seed " << seed << ", demands " << less << " and " << more;
      const kernel::GroupRow& row = p.groups[static_cast<std::size_t>(a.group_begin)];
      unlimited += row.segment_size == 0 && row.spread_most == 0 && row.require_level == kernel::kNone ? 1 : 0;
      require += row.require_level != kernel::kNone ? 1 : 0;
      segments += row.segment_size > 0 ? 1 : 0;
      spread += row.spread_most > 0 ? 1 : 0;
      shares += row.share_ppm != kWholeGpu ? 1 : 0;
    }
  }
  for (const int cases : {unlimited, require, segments, spread, shares}) EXPECT_GT(cases, 20);
}

}  // namespace
}  // namespace berth::test::dominance_test
