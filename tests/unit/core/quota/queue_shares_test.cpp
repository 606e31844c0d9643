// What queues are entitled to: docs/quotas.md, "Shares".
#include "host/core/quota/queue_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "berth/state.hpp"
#include "host/core/base/wide.hpp"
#include "tests/support/random.hpp"

namespace berth::test::queue_shares_test {
namespace {

using core::divide_share;
using core::ShareRequest;

std::vector<std::int64_t> shares(std::int64_t amount, std::vector<ShareRequest> takers, std::int64_t unit = 1) {
  core::ShareMemory memory;
  divide_share(amount, unit, takers, memory);
  std::vector<std::int64_t> got;
  for (const ShareRequest& one : takers) got.push_back(one.gets);
  return got;
}

using Gets = std::vector<std::int64_t>;

// The same division, one taker after another in the order of their levels.
std::vector<std::int64_t> shares_in_order(std::int64_t amount, std::vector<ShareRequest> takers, std::int64_t unit) {
  using core::Wide;
  std::int64_t left = std::max<std::int64_t>(0, amount);
  std::vector<ShareRequest*> order;
  Wide weights = 0;
  for (ShareRequest& one : takers) {
    one.gets = std::clamp<std::int64_t>(std::min(one.first, one.most), 0, left);
    left -= one.gets;
    if (one.most <= one.gets || one.weight <= 0) continue;
    order.push_back(&one);
    weights += one.weight;
  }
  std::stable_sort(order.begin(), order.end(), [](const ShareRequest* a, const ShareRequest* b) {
    return Wide{a->most - a->gets} * b->weight < Wide{b->most - b->gets} * a->weight;
  });
  std::size_t at = 0;
  for (; at < order.size() && (order[at]->most - order[at]->gets) * weights <= Wide{left} * order[at]->weight; ++at) {
    left -= order[at]->most - order[at]->gets;
    weights -= order[at]->weight;
    order[at]->gets = order[at]->most;
  }
  std::vector<std::pair<Wide, ShareRequest*>> remainders;
  const std::int64_t rest = left;
  for (; at < order.size(); ++at) {
    const Wide offer = Wide{rest} * order[at]->weight;
    const auto whole = static_cast<std::int64_t>(offer / (weights * unit)) * unit;
    order[at]->gets += whole;
    left -= whole;
    remainders.emplace_back(whole * weights - offer, order[at]);  // by address: those of `takers` ascend
  }
  std::sort(remainders.begin(), remainders.end());
  for (const auto& [parts, one] : remainders) {
    const std::int64_t more = std::min({unit, left, one->most - one->gets});
    one->gets += more;
    left -= more;
  }
  std::vector<std::int64_t> got;
  for (const ShareRequest& one : takers) got.push_back(one.gets);
  return got;
}

// Nodes of one type with `gpus` GPUs in all.
Snapshot cluster(std::int32_t gpus, std::vector<Queue> queues) {
  Snapshot s;
  s.gpu_types.resize(1);
  s.gpu_types[0].id = "H";
  for (std::int32_t n = 0; n < gpus / 8; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = "H";
    node.gpus = 8;
    s.nodes.push_back(node);
  }
  s.queues = std::move(queues);
  return s;
}

Queue queue_of(const std::string& id, std::int64_t guarantee, const std::string& parent = "", std::int64_t weight = 1) {
  Queue queue;
  queue.id = id;
  queue.parent = parent;
  queue.weight_ppm = weight * 1'000'000;
  queue.quotas = {{"*", guarantee, kUnlimited, kUnlimited}};
  return queue;
}

// [queues] in the order of the state: guaranteed, then fair, over all types, in GPUs.
struct Entitled {
  Gets guaranteed, fair;
};
Entitled entitled(const Snapshot& s, const std::vector<std::int64_t>& demand) {
  const ClusterState state(s);
  const StateImpl& impl = state.impl();
  std::vector<std::int64_t> asked;
  for (const std::int64_t gpus : demand) asked.insert(asked.end(), 2, gpus * kWholeGpu);
  core::QueueShares of;
  of.set(impl, asked, true);
  Entitled out;
  for (std::int32_t q = 0; q < std::ssize(demand); ++q) {
    out.guaranteed.push_back(of.guaranteed(q, 1) / kWholeGpu);
    out.fair.push_back(of.fair(q, 1) / kWholeGpu);
  }
  return out;
}

}  // namespace

// KAI: 10 GPUs, both ask for 10 and deserve 2, weights 1 and 3. 2 + 2, then 1 and 4 of 1.5 and 4.5, and one more by remainder.
TEST(QueueShares, DivideAsKaiDoes) {
  EXPECT_EQ(shares(10, {{10, 1, 2}, {10, 3, 2}}), (Gets{4, 6}));
  EXPECT_EQ(shares(1000, {{1000, 1, 0}, {1000, 2, 0}, {1000, 3, 0}}, 100), (Gets{200, 300, 500}));
}

TEST(QueueShares, NoneGetsMoreThanItAsksFor) {
  EXPECT_EQ(shares(12, {{2, 1, 0}, {20, 1, 0}, {20, 1, 0}}), (Gets{2, 5, 5}));
  EXPECT_EQ(shares(100, {{2, 1, 0}, {3, 5, 0}}), (Gets{2, 3}));
  EXPECT_EQ(shares(10, {{2, 1, 8}, {20, 0, 3}, {20, 1, 0}}), (Gets{2, 3, 5})) << "a weight of 0 adds nothing";
  EXPECT_EQ(shares(4, {{9, 1, 3}, {9, 1, 3}}), (Gets{3, 1})) << "guarantees beyond what there is";
  EXPECT_EQ(shares(-5, {{9, 1, 3}}), (Gets{0}));
  EXPECT_EQ(shares(5, {}), (Gets{}));
}

// Weighted max-min: no taker could have more without another of a lower level having less; whole units may be off by one.
TEST(QueueShares, AreWeightedMaxMin) {
  Random random(11);
  core::ShareMemory memory;
  for (int round = 0; round < 20'000; ++round) {
    std::vector<ShareRequest> takers(static_cast<std::size_t>(random.within(1, 7)));
    std::int64_t asked = 0;
    for (ShareRequest& one : takers) {
      one = {random.within(0, 40), random.within(1, 5), 0};
      asked += one.most;
    }
    const std::int64_t amount = random.within(0, 100);
    const std::int64_t left = divide_share(amount, 1, takers, memory);
    const std::int64_t given = std::accumulate(takers.begin(), takers.end(), std::int64_t{0},
                                               [](std::int64_t sum, const ShareRequest& one) { return sum + one.gets; });
    ASSERT_EQ(given, std::min(amount, asked)) << "what is asked for is given";
    ASSERT_EQ(left, amount - given);
    for (const ShareRequest& a : takers) {
      ASSERT_LE(a.gets, a.most);
      for (const ShareRequest& b : takers) {
        // a wants more, and b is at a level that is higher by more than a unit.
        ASSERT_FALSE(a.gets < a.most && (b.gets - 1) * a.weight > (a.gets + 1) * b.weight) << round;
      }
    }
  }
}

TEST(QueueShares, AreThoseOfTheDivisionInOrder) {
  Random random(12);
  for (int round = 0; round < 20'000; ++round) {
    const std::int64_t unit = random.of<std::int64_t>({1, 1000, kWholeGpu});
    const std::int64_t scale = random.of<std::int64_t>({1, unit, 1'000'000'000'000});
    const std::int64_t heavy = random.of<std::int64_t>({1, 7, 1'000'000'000'000});
    std::vector<ShareRequest> takers(static_cast<std::size_t>(random.of<std::int32_t>({1, 2, 9, 60})));
    for (ShareRequest& one : takers) {
      one = {random.within(0, 40) * scale, random.within(0, 5) * heavy, random.within(-3, 9) * scale};
      if (random.percent(20)) one.most += random.within(0, 999);
    }
    const std::int64_t amount = random.within(-1, 500) * scale;
    ASSERT_EQ(shares(amount, takers, unit), shares_in_order(amount, takers, unit)) << round;
  }
}

// A parent with 16 and children with 4 each: what one child leaves goes to the other. The rest of the cluster is no guarantee.
TEST(QueueShares, AParentHandsItsGuaranteeDown) {
  const Snapshot s = cluster(64, {queue_of("p", 16), queue_of("x", 4, "p"), queue_of("y", 4, "p"), queue_of("q", 8)});
  // In the order of the state: p, q, x, y.
  const Entitled all = entitled(s, {0, 20, 40, 2});
  EXPECT_EQ(all.guaranteed, (Gets{0, 8, 14, 2}));
  EXPECT_EQ(all.fair, (Gets{0, 20, 40, 2})) << "there is enough for all";
  EXPECT_EQ(entitled(s, {0, 64, 64, 64}).guaranteed, (Gets{0, 8, 8, 8}));
  EXPECT_EQ(entitled(s, {0, 64, 64, 64}).fair, (Gets{0, 28, 18, 18})) << "16 and 8 first, then 20 each";
}

TEST(QueueShares, AChildsGuaranteeIsItsParentsToo) {
  const Snapshot s = cluster(16, {queue_of("p", 0), queue_of("x", 8, "p"), queue_of("q", 8)});
  EXPECT_EQ(entitled(s, {0, 16, 16}).guaranteed, (Gets{0, 8, 8}));
}

// A parent of 16 GPUs of all types, and a child with a guarantee of 8 of H alone.
TEST(QueueShares, AGuaranteeOfATypeIsOneOfAllTypesBelowAParent) {
  Snapshot s = cluster(16, {queue_of("p", 16), queue_of("x", 2, "p"), queue_of("y", 0, "p")});
  s.queues[2].quotas = {{"H", 8}};
  EXPECT_EQ(entitled(s, {0, 16, 8}).guaranteed, (Gets{0, 8, 8})) << "not 9 and 7, by weight";
  EXPECT_EQ(entitled(s, {0, 16, 3}).guaranteed, (Gets{0, 13, 3}));
  const ClusterState state(s);
  core::QueueShares of;
  const std::int64_t g = kWholeGpu;
  of.set(state.impl(), std::vector<std::int64_t>{0, 0, 16 * g, 16 * g, 0, 8 * g}, false);
  EXPECT_EQ(of.guaranteed(1, 1), 9 * g) << "y asks for none of H";
  EXPECT_EQ(of.guaranteed(2, 1), 7 * g);
  EXPECT_EQ(of.guarantee(2, 1), 8 * g);
  of.change(state.impl(), 2, 0, 5 * g);
  EXPECT_EQ(of.guaranteed(1, 1), 8 * g) << "5 of y and 2 come first";
}

// 8 and 12 below a parent are more than 16 GPUs: only guarantees are handed down beyond these.
TEST(QueueShares, BeyondGuaranteesThereAreOnlyGpusThatWork) {
  Snapshot s = cluster(16, {queue_of("p", 0), queue_of("x", 8, "p"), queue_of("y", 12, "p")});
  EXPECT_EQ(entitled(s, {0, 16, 4}).guaranteed, (Gets{0, 12, 4}));
  EXPECT_EQ(entitled(s, {0, 16, 12}).guaranteed, (Gets{0, 8, 12}));
  s.queues = {queue_of("x", 40), queue_of("y", 12)};
  EXPECT_EQ(entitled(s, {40, 12}).guaranteed, (Gets{16, 12})) << "without a parent each has its own, of the GPUs that work";
  s = cluster(16, {queue_of("p", 16), queue_of("x", 8, "p"), queue_of("y", 8, "p")});
  s.nodes.pop_back();
  EXPECT_EQ(entitled(s, {0, 16, 4}).guaranteed, (Gets{0, 8, 4})) << "8 GPUs are left";
}

TEST(QueueShares, GpusThatAreReleasedOrDrainedWork) {
  Snapshot s = cluster(16, {queue_of("p", 16), queue_of("x", 8, "p"), queue_of("y", 8, "p")});
  const Entitled whole{{0, 12, 4}, {0, 12, 4}};
  for (std::int32_t g = 0; g < 8; ++g) s.nodes[0].gpu_list.push_back({g, GpuState::kReleasing});
  EXPECT_EQ(entitled(s, {0, 16, 4}).guaranteed, whole.guaranteed) << "a victim still stops on them";
  EXPECT_EQ(entitled(s, {0, 16, 4}).fair, whole.fair);
  s.nodes[0].gpu_list.clear();
  s.nodes[0].state = NodeState::kDrain;
  EXPECT_EQ(entitled(s, {0, 16, 4}).guaranteed, whole.guaranteed);
  s.nodes[0].state = NodeState::kFailed;
  EXPECT_EQ(entitled(s, {0, 16, 4}).guaranteed, (Gets{0, 8, 4}));
}

TEST(QueueShares, LimitsHold) {
  Snapshot s = cluster(16, {queue_of("a", 4), queue_of("b", 4)});
  s.queues[0].quotas[0].limit = 6;
  EXPECT_EQ(entitled(s, {16, 16}).fair, (Gets{6, 10}));
}

// What a queue keeps and does not ask for goes to no queue. Of what is not enough for all guarantees it gets what it keeps first.
TEST(QueueShares, WhatAQueueKeepsIsNotDivided) {
  Snapshot s = cluster(32, {queue_of("p", 21), queue_of("x", 9, "p"), queue_of("y", 12, "p")});
  s.queues[0].quotas[0].limit = 21;
  s.queues[2].quotas[0].lending = 1;
  EXPECT_EQ(entitled(s, {0, 30, 0}).guaranteed, (Gets{0, 10, 0}));
  EXPECT_EQ(entitled(s, {0, 30, 0}).fair, (Gets{0, 10, 0}));
  EXPECT_EQ(entitled(s, {0, 30, 5}).guaranteed, (Gets{0, 10, 5})) << "6 more are kept";
  EXPECT_EQ(entitled(s, {0, 30, 30}).guaranteed, (Gets{0, 9, 12}));
  EXPECT_EQ(entitled(s, {4, 9, 0}).fair, (Gets{1, 9, 0}));
  s.queues[0].quotas[0].limit = 15;
  EXPECT_EQ(entitled(s, {0, 30, 0}).guaranteed, (Gets{0, 4, 0}));
  EXPECT_EQ(entitled(s, {0, 30, 30}).guaranteed, (Gets{0, 4, 11})) << "kept ones come before guarantees";
  EXPECT_EQ(shares(10, {{9, 1, 6, 0, 0}, {9, 1, 6, 0, 5}}), (Gets{5, 5}));
  EXPECT_EQ(shares(10, {{9, 1, 6, 0, 2}, {4, 1, 6, 0, 6}}), (Gets{6, 4}));
  s.queues[0].quotas[0].limit = kUnlimited;
  EXPECT_EQ(entitled(s, {0, 40, 0}).fair, (Gets{0, 32, 0})) << "without a limit above it nothing is kept";
}

// y keeps all of m's guarantee. x gets none of it, and s does not lose its own.
TEST(QueueShares, AGuaranteeIsNotHandedDownTwice) {
  for (const std::int64_t of_m : {0, 1}) {
    Snapshot s =
        cluster(8, {queue_of("p", 0), queue_of("m", of_m, "p"), queue_of("s", 1, "p"), queue_of("x", 0, "m"), queue_of("y", 1, "m")});
    s.queues[0].quotas[0].limit = 2;
    s.queues[4].quotas[0].lending = 0;
    EXPECT_EQ(entitled(s, {0, 0, 1, 1, 0}).guaranteed, (Gets{0, 0, 1, 0, 0})) << of_m;
    EXPECT_EQ(entitled(s, {0, 0, 1, 1, 0}).fair, (Gets{0, 0, 1, 0, 0})) << of_m;
    EXPECT_EQ(entitled(s, {0, 0, 0, 1, 0}).guaranteed, (Gets{0, 0, 0, of_m, 0})) << "of s, which does not ask for it";
    EXPECT_EQ(entitled(s, {0, 0, 1, 1, 1}).guaranteed, (Gets{0, 0, 1, 0, 1}));
    s.queues[0].quotas[0].limit = kUnlimited;
    s.queues[1].quotas[0].limit = 2;
    EXPECT_EQ(entitled(s, {0, 0, 1, 1, 0}).guaranteed, (Gets{0, 0, 1, of_m, 0})) << "only m is limited";
  }
}

// In trees of any form, whatever queues keep: with all that is handed down no limit is exceeded, and what a limit still allows is asked
// for by none.
TEST(QueueShares, AreWithinLimitsWithAllThatIsKept) {
  int kept = 0, full = 0;
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    Random random(seed);
    std::vector<Queue> queues;
    for (std::int32_t q = 0; q < 12; ++q) {
      const std::string parent = q > 0 && random.percent(85) ? "q" + std::to_string(random.below(q)) : "";
      Queue queue = queue_of("q" + std::to_string(q), random.below(20), parent, random.within(1, 5));
      if (random.percent(50)) queue.quotas[0].limit = random.below(80);
      if (!parent.empty() && queue.quotas[0].guarantee > 0 && random.percent(60))
        queue.quotas[0].lending = random.below(static_cast<std::int32_t>(queue.quotas[0].guarantee) + 1);
      queues.push_back(std::move(queue));
    }
    const ClusterState state(cluster(random.within(1, 20) * 8, queues));
    const StateImpl& s = state.impl();
    std::vector<std::int64_t> asked(s.queues.size() * 2, 0);
    for (std::int32_t q = 0; q < 12; ++q)
      asked[static_cast<std::size_t>(2 * q + 1)] = random.percent(30) ? 0 : random.below(40) * kWholeGpu / 2;
    core::QueueShares of;
    of.set(s, asked, true);
    // Of a queue, from below: the jobs' parts, what is charged, what is charged while all are idle, and whether some job wants more.
    for (const bool fair : {false, true}) {
      std::vector<std::int64_t> charged(12, 0), idle(12, 0);
      std::vector<bool> wants(12, false);
      for (std::int32_t q = 11; q >= 0; --q) {
        const auto i = static_cast<std::size_t>(q);
        const std::int64_t mine = fair ? of.fair(q, 1) : of.guaranteed(q, 1), cap = s.queue_cap[2 * i + 1];
        const std::int64_t keeps = s.queue_kept.empty() ? 0 : s.queue_kept[2 * i + 1];
        ASSERT_GE(mine, 0);
        ASSERT_LE(mine, std::min(asked[2 * i + 1], cap));
        charged[i] += mine;
        kept += keeps > 0 ? 1 : 0;
        ASSERT_LE(charged[i], std::max(cap, idle[i])) << "seed " << seed << ", queue " << q;
        wants[i] = wants[i] || mine < asked[2 * i + 1];
        if (wants[i] && charged[i] == cap) ++full;
        if (charged[i] >= cap) wants[i] = false;  // of its limit it has all
        if (s.queue_parent[i] < 0) continue;
        charged[static_cast<std::size_t>(s.queue_parent[i])] += std::max(charged[i], keeps);
        idle[static_cast<std::size_t>(s.queue_parent[i])] += std::max(idle[i], keeps);
        if (wants[i]) wants[static_cast<std::size_t>(s.queue_parent[i])] = true;
      }
      // With more GPUs than all ask for, limits alone keep a job from its fair share.
      std::int64_t all = 0;
      for (const std::int64_t one : asked) all += one;
      for (std::size_t q = 0; fair && q < 12; ++q) {
        bool over = false;
        for (std::size_t r = 0; r < 12; ++r) over = over || idle[r] > s.queue_cap[2 * r + 1];
        if (s.queue_parent[q] < 0 && !over && all <= std::int64_t{std::ssize(s.nodes)} * 8 * kWholeGpu) {
          ASSERT_FALSE(wants[q]) << "seed " << seed << ", queue " << q;
        }
      }
    }
  }
  EXPECT_GT(kept, 5'000);
  EXPECT_GT(full, 1'000);
}

// In trees of any form, with limits at every level.
TEST(QueueShares, AfterAChangeTheyAreAsFromNothing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Random random(seed);
    std::vector<Queue> queues;
    for (std::int32_t q = 0; q < 20; ++q) {
      const std::string parent = q > 0 && random.percent(80) ? "q" + std::to_string(random.below(q)) : "";
      Queue queue = queue_of("q" + std::to_string(q), random.percent(40) ? 0 : random.below(30), parent, random.within(1, 5));
      if (random.percent(40)) queue.quotas[0].limit = random.below(60);
      if (random.percent(40))
        queue.quotas.push_back({"H", random.below(20), kUnlimited, random.percent(50) ? random.below(20) : kUnlimited});
      for (Quota& quota : queue.quotas) {
        if (seed % 2 == 0 && !parent.empty() && quota.guarantee > 0 && random.percent(70))
          quota.lending = random.below(static_cast<std::int32_t>(quota.guarantee) + 1);
      }
      queues.push_back(std::move(queue));
    }
    const ClusterState state(cluster(64, queues));
    const StateImpl& s = state.impl();
    std::vector<std::int64_t> asked(s.queues.size() * 2, 0);
    core::QueueShares followed, again;
    followed.set(s, asked, false);
    for (int step = 0; step < 60; ++step) {
      const std::int32_t queue = random.below(20), column = random.below(2);
      std::int64_t& of = asked[static_cast<std::size_t>(2 * queue + column)];
      const std::int64_t more = random.percent(30) ? -of : random.below(40) * kWholeGpu / 2;
      of += more;
      followed.change(s, queue, column, more);
      again.set(s, asked, false);
      for (std::int32_t q = 0; q < 20; ++q) {
        for (std::int32_t c = 0; c < 2; ++c) {
          ASSERT_EQ(followed.guaranteed(q, c), again.guaranteed(q, c))
              << "seed " << seed << ", step " << step << ", queue " << q << ", " << c;
        }
      }
    }
  }
}

}  // namespace berth::test::queue_shares_test
