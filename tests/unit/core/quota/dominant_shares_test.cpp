// Dominant resource fairness: docs/quotas.md, "Dominant shares".
#include "host/core/quota/dominant_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "berth/queues.hpp"
#include "berth/state.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/quota/quota_ledger.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/support/random.hpp"

namespace berth::test::dominant_shares_test {
namespace {

using core::divide_dominant;
using core::DominantRequest;
using core::kShared;
using core::kWholeFraction;
using core::kWholeShare;
using core::SharedAmounts;
using core::Wide;

constexpr SharedAmounts kAll{kWholeShare, kWholeShare, kWholeShare};
constexpr std::int64_t kError = kWholeShare / 1'000'000'000;  // a billionth of the cluster

/// Takes the whole of `most`, and of each resource that many parts of kWholeFraction.
DominantRequest taker(std::int64_t most, std::int64_t weight, SharedAmounts part, std::int64_t first = 0) {
  return {most, weight, first, part, 0};
}

std::int64_t used(const DominantRequest& one, std::size_t resource) {
  return static_cast<std::int64_t>(Wide{one.gets} * one.part[resource] / kWholeFraction);
}

std::int64_t below(Random& random, std::int64_t n) { return static_cast<std::int64_t>(random.bits() % static_cast<std::uint64_t>(n)); }

std::vector<DominantRequest> random_takers(Random& random) {
  std::vector<DominantRequest> takers;
  const std::int32_t n = random.within(1, 8);
  for (std::int32_t i = 0; i < n; ++i) {
    DominantRequest one = taker(random.percent(30) ? 0 : below(random, kWholeShare + 1), random.within(1, 5) * std::int64_t{1'000'000}, {});
    for (std::int64_t& part : one.part) part = random.percent(25) ? 0 : below(random, kWholeFraction);
    one.part[static_cast<std::size_t>(random.below(3))] = kWholeFraction;
    takers.push_back(one);
  }
  return takers;
}

/// One node, whose GPUs have as many cores; jobs wait.
Snapshot cluster_of(std::int32_t gpus, std::int64_t cores, std::int64_t bytes = kUnlimited) {
  Snapshot s;
  s.gpu_types.resize(1);
  s.gpu_types[0].id = "H";
  Node node;
  node.id = "n";
  node.gpu_type = "H";
  node.gpus = gpus;
  node.cpu_milli = cores * 1'000;
  node.memory_bytes = bytes;
  s.nodes = {node};
  return s;
}

void add_queue(Snapshot& s, const std::string& id, const std::string& parent = "", std::int64_t weight_ppm = 1'000'000) {
  Queue queue;
  queue.id = id;
  queue.parent = parent;
  queue.weight_ppm = weight_ppm;
  s.queues.push_back(queue);
}

void add_jobs(Snapshot& s, const std::string& queue, std::int32_t n, std::int64_t cores, std::int64_t bytes = 0, std::int32_t gpus = 1) {
  for (std::int32_t i = 0; i < n; ++i) {
    Job job;
    job.id = queue + std::to_string(s.jobs.size());
    job.queue = queue;
    job.constraints.cpu_milli_per_gpu = cores * 1'000;
    job.constraints.memory_bytes_per_gpu = bytes;
    Shape shape;
    shape.id = "s";
    shape.gpus = gpus;
    job.shapes = {shape};
    s.jobs.push_back(job);
  }
}

/// In millionths, by queue; parents before their children.
std::vector<std::int64_t> fair_shares(const Snapshot& s) {
  std::vector<std::int64_t> shares;
  for (const QueueStanding& one : queue_standings(ClusterState(s))) {
    if (one.gpu_type < 0) shares.push_back(one.fair_dominant_share);
  }
  return shares;
}

using Shares = std::vector<std::int64_t>;

}  // namespace

// A. Ghodsi and others, NSDI 2011, figure 3: 9 cores and 18 GB; tasks of 1 core and 4 GB, and of 3 cores and 1 GB.
TEST(DominantShares, DivideAsInThePaper) {
  const std::int64_t half = kWholeFraction / 2, third = kWholeFraction / 3;
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {0, half, kWholeFraction}),
                                      taker(kWholeShare, 1'000'000, {0, kWholeFraction, third / 2})};
  divide_dominant(kAll, 0, takers);
  EXPECT_NEAR(static_cast<double>(takers[0].gets), 2e15 / 3, 1e6);
  EXPECT_NEAR(static_cast<double>(takers[1].gets), 2e15 / 3, 1e6);
}

TEST(DominantShares, FollowWeights) {
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0}),
                                      taker(kWholeShare, 3'000'000, {kWholeFraction, 0, 0})};
  divide_dominant(kAll, 0, takers);
  EXPECT_EQ(takers[0].gets, kWholeShare / 4);
  EXPECT_EQ(takers[1].gets, kWholeShare / 4 * 3);
}

TEST(DominantShares, GiveWhatIsFirstBeforeTheRest) {
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0}, kWholeShare / 2),
                                      taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0})};
  divide_dominant(kAll, 0, takers);
  EXPECT_EQ(takers[0].gets, kWholeShare / 4 * 3);
  EXPECT_EQ(takers[1].gets, kWholeShare / 4);
}

// One that takes no cores goes on where the cores are used up.
TEST(DominantShares, RiseWhereAnotherResourceIsUsedUp) {
  std::vector<DominantRequest> takers{taker(kWholeShare, 1'000'000, {0, kWholeFraction, 0}),
                                      taker(kWholeShare, 1'000'000, {0, kWholeFraction, 0}),
                                      taker(kWholeShare, 1'000'000, {kWholeFraction, 0, 0})};
  divide_dominant(kAll, 0, takers);
  EXPECT_EQ(takers[0].gets, kWholeShare / 2);
  EXPECT_EQ(takers[1].gets, kWholeShare / 2);
  EXPECT_EQ(takers[2].gets, kWholeShare);
}

// Feasible; nothing is left over; no share over its weight is below another's, unless it has all or a resource that it takes is used
// up; with equal weights each has what an equal part of all resources would give it.
TEST(DominantShares, AreFairForRandomTakers) {
  for (std::uint64_t seed = 0; seed < 20'000; ++seed) {
    Random random(seed);
    std::vector<DominantRequest> takers = random_takers(random);
    const bool even = random.below(2) == 0;
    for (DominantRequest& one : takers) one.weight = even ? 1'000'000 : one.weight;
    divide_dominant(kAll, 0, takers);
    SharedAmounts left = kAll;
    for (const DominantRequest& one : takers) {
      for (std::size_t r = 0; r < kShared; ++r) left[r] -= used(one, r);
    }
    for (const std::int64_t rest : left) ASSERT_GE(rest, -kError) << seed;
    for (const DominantRequest& one : takers) {
      ASSERT_LE(one.gets, one.most) << seed;
      if (one.gets == one.most) continue;
      bool ends = false;
      for (std::size_t r = 0; r < kShared; ++r) {
        if (one.part[r] == 0 || left[r] > kError) continue;
        // Of those that take this resource none has more for its weight.
        ends = ends || std::all_of(takers.begin(), takers.end(), [&](const DominantRequest& other) {
                 return other.part[r] == 0 || Wide{other.gets} * one.weight <= Wide{one.gets + kError} * other.weight;
               });
      }
      ASSERT_TRUE(ends) << seed;
      const auto n = static_cast<std::int64_t>(takers.size());
      if (even) {
        ASSERT_GE(one.gets, std::min(one.most, kWholeShare / n) - kError) << seed;
      }
    }
  }
}

TEST(DominantShares, AreAlsoOfManyMoreThanThereIs) {
  std::vector<DominantRequest> takers(10'000, taker(kWholeShare, 1'000'000'000'000, {kWholeFraction, kWholeFraction, kWholeFraction}));
  divide_dominant(kAll, 0, takers);
  for (const DominantRequest& one : takers) ASSERT_NEAR(static_cast<double>(one.gets), 1e11, 1.0);
}

// Jobs of one core a GPU, as the node has: only GPUs matter.
TEST(DominantShares, OfGpusAloneAreThoseOfWholeGpus) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    Random random(seed);
    const std::int32_t gpus = random.within(1, 40), queues = random.within(1, 12);
    Snapshot s = cluster_of(gpus, 1'000'000);
    for (std::int32_t q = 0; q < queues; ++q) {
      const std::string id = "q" + std::to_string(10 + q);
      add_queue(s, id, "", random.within(1, 5) * 500'000);
      add_jobs(s, id, random.within(0, 30), 1);
    }
    for (const QueueStanding& one : queue_standings(ClusterState(s))) {
      if (one.gpu_type >= 0) continue;
      ASSERT_EQ((one.fair_dominant_share * gpus + gpus) / 1'000'000, one.fair_share / 1'000'000) << seed << ' ' << one.queue;
    }
  }
}

TEST(DominantShares, OfAChildDoNotFallAsItsSiblingAsksForMore) {
  for (const std::int32_t more : {0, 8, 40, 400}) {
    Snapshot s = cluster_of(8, 8);
    add_queue(s, "p");
    add_queue(s, "a", "p");
    add_queue(s, "b", "p");
    add_jobs(s, "a", 8 + more, 0);
    add_jobs(s, "b", 2, 2);
    EXPECT_EQ(fair_shares(s), (Shares{1'000'000, 750'000, 500'000})) << more;
  }
}

TEST(DominantShares, GiveGuaranteesWhateverIsAskedFor) {
  for (const std::int32_t jobs : {8, 8'000, 80'000}) {
    Snapshot s = cluster_of(8, 8);
    add_queue(s, "a", "", 1'000);
    s.queues.back().quotas = {{"*", 4}};
    add_queue(s, "b");
    add_jobs(s, "a", jobs, 1);
    add_jobs(s, "b", 8, 1);
    EXPECT_GE(fair_shares(s)[0], 500'000) << jobs;
  }
}

TEST(DominantShares, AreExactForLargeWeights) {
  Snapshot s = cluster_of(3, 3);
  for (const char* id : {"a", "b", "c"}) {
    add_queue(s, id, "", 10'000'000'000'000'000);
    add_jobs(s, id, 3, 1);
  }
  EXPECT_EQ(fair_shares(s), (Shares{333'333, 333'333, 333'333}));
}

// 7 bytes a GPU round to little of the cluster's.
TEST(DominantShares, KeepAnExactFitInDeepTrees) {
  Snapshot s = cluster_of(6, 1'000, std::int64_t{1} << 40);
  add_queue(s, "x");
  add_queue(s, "y");
  add_queue(s, "z");
  for (const auto& [id, parent] : {std::pair("z1", "z"), std::pair("z2", "z1"), std::pair("z3", "z2")}) add_queue(s, id, parent);
  for (const char* id : {"x", "y", "z3"}) add_jobs(s, id, 3, 1, 7, 2);
  for (const std::int64_t share : fair_shares(s)) EXPECT_EQ(share, 333'333);
}

// All of its share of the memory is taken; a job that takes none of it is within.
TEST(DominantShares, LeaveRoomForAnotherResource) {
  Snapshot s = cluster_of(10, 1'000, 1'000);
  add_queue(s, "a");
  add_queue(s, "b");
  add_jobs(s, "a", 1, 0, 500, 1);
  add_jobs(s, "b", 9, 0, 0, 1);
  const ClusterState state(s);
  const StateImpl& impl = impl_of(StateView(state));
  core::QuotaLedger ledger;
  ledger.begin(impl);
  for (std::int32_t job = 0; job < std::ssize(s.jobs); ++job) {
    const core::QuotaJob counted = core::quota_job(impl, impl.problem(), job);
    ledger.ask(counted.queue, counted.asked);
  }
  ledger.divide(impl, core::Quotas::kDominant);
  ledger.take(0, core::quota_job(impl, impl.problem(), 0).asked);
  EXPECT_TRUE(ledger.is_within(0, {kWholeGpu, 0, 0}, true));
  EXPECT_TRUE(ledger.has_room(0, true));
  EXPECT_FALSE(ledger.is_within(0, {kWholeGpu, 0, 0, 0, 10}, true));
}

}  // namespace berth::test::dominant_shares_test
