#include "host/core/contention/link_priorities.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <vector>

namespace berth::core::link_priorities_test {
namespace {

constexpr std::int64_t kS = 1'000'000'000;

using Jobs = std::vector<LinkJob>;
using Levels = std::vector<std::int32_t>;
using Times = std::vector<LinkTime>;

// Work that the link time stands for, over what both could compute, in a window: parts of 10,000.
std::int64_t utilisation(const Times& times, const std::vector<std::int64_t>& work_per_sent_s, std::int64_t most_work) {
  std::int64_t work = 0;
  for (std::size_t j = 0; j < times.size(); ++j) work += times[j].sent_ns / kS * work_per_sent_s[j];
  return work * 10'000 / most_work;
}

// Crux's first example: 10 units of work in 2 s and 2 s of sending, next to 5 in 1 s and 1 s.
TEST(LinkSchedule, TheFirstExampleOfCrux) {
  const Jobs jobs{{2 * kS, 2 * kS, 2 * kS}, {kS, kS, kS}};
  const Times first = link_schedule(jobs, Levels{0, 1}, 12 * kS), second = link_schedule(jobs, Levels{1, 0}, 12 * kS);
  EXPECT_EQ(first[0].sent_ns, 6 * kS);
  EXPECT_EQ(first[1].sent_ns, 3 * kS);
  EXPECT_EQ(second[0].sent_ns, 4 * kS);
  EXPECT_EQ(second[1].sent_ns, 6 * kS);
  // Both compute 5 a second and send 1 s for 5.
  EXPECT_EQ(utilisation(first, {5, 5}, 12 * 10), 3'750);
  EXPECT_EQ(utilisation(second, {5, 5}, 12 * 10), 4'166);
  const FavouredPair pair = favoured_pair(jobs[0], jobs[1], 12 * kS);
  EXPECT_EQ(pair.reference_extra_ns, 2 * kS);
  EXPECT_EQ(pair.other_extra_ns, 3 * kS);
  EXPECT_EQ(correction_ppm(pair, 12 * kS), 1'500'000);
}

// The second: 4 s of computing and 1 s of sending, next to 2 s and 3 s; sending may begin after half of the computing.
TEST(LinkSchedule, TheSecondExampleOfCrux) {
  const Jobs jobs{{4 * kS, kS, 2 * kS}, {2 * kS, 3 * kS, kS}};
  const Times first = link_schedule(jobs, Levels{0, 1}, 12 * kS), second = link_schedule(jobs, Levels{1, 0}, 12 * kS);
  EXPECT_EQ(first[0].idle_ns + first[1].idle_ns, 6 * kS);
  EXPECT_EQ(second[0].idle_ns + second[1].idle_ns, 7 * kS);
}

TEST(LinkSchedule, AGangAloneSendsInEveryIteration) {
  EXPECT_EQ(link_schedule(Jobs{{2 * kS, kS, 2 * kS}}, Levels{0}, 9 * kS), (Times{{3 * kS, 3 * kS}}));
  // Half of it is hidden.
  const LinkJob hidden{2 * kS, 2 * kS, kS};
  EXPECT_EQ(hidden.alone_ns(), 3 * kS);
  EXPECT_EQ(link_schedule(Jobs{hidden}, Levels{0}, 9 * kS), (Times{{6 * kS, 3 * kS}}));
}

TEST(LinkSchedule, EqualLevelsAreServedInTheirOrder) {
  // 0 sends from 1 to 3, 1 waits from 2 and sends from 3 to 4.
  const Times times = link_schedule(Jobs{{kS, 2 * kS, kS}, {2 * kS, kS, 2 * kS}}, Levels{0, 0}, 4 * kS);
  EXPECT_EQ(times, (Times{{2 * kS, 2 * kS}, {kS, 2 * kS}}));
}

TEST(LinkPriorities, ACorrectionIsBounded) {
  EXPECT_EQ(correction_ppm({0, 0}, 100), 1'000'000);
  EXPECT_EQ(correction_ppm({0, 5}, 100), kMostCorrectionPpm);
  EXPECT_EQ(correction_ppm({1, 5'000}, 100), kMostCorrectionPpm);
  EXPECT_EQ(correction_ppm({5, 0}, 100), 0);
  EXPECT_EQ(correction_ppm({9, 9}, 1'000), 1'000'000);
  EXPECT_EQ(correction_ppm({9, 10}, 1'000), 1'111'111);
}

TEST(LinkPriorities, LevelsCutTheHeaviestEdges) {
  // A chain of four in two levels: one edge can be cut.
  const std::vector<PriorityEdge> edges{{0, 1, 3}, {1, 2, 5}, {2, 3, 4}};
  const PriorityLevels two = compressed_levels(4, edges, 2);
  EXPECT_EQ(two.cut, 5);
  EXPECT_EQ(two.level, (Levels{0, 0, 1, 1}));
  EXPECT_EQ(compressed_levels(4, edges, 1).cut, 0);
  EXPECT_EQ(compressed_levels(4, edges, 4).cut, 12);
  EXPECT_EQ(compressed_levels(4, edges, 8).level, (Levels{0, 1, 2, 3}));
  EXPECT_EQ(compressed_levels(0, {}, 3).level, Levels{});
}

// A small case: gangs by priority, the pairs that share a link, and levels.
struct SmallCase {
  std::int32_t gangs = 0;
  std::vector<PriorityEdge> edges;
};

class SmallCases {
 public:
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(n)); }
  SmallCase draw() {
    SmallCase one;
    one.gangs = static_cast<std::int32_t>(2 + below(4));
    std::vector<std::int64_t> weights;
    for (std::int32_t j = 0; j < one.gangs; ++j) weights.push_back(1 + below(100));
    std::sort(weights.rbegin(), weights.rend());
    for (std::int32_t high = 0; high < one.gangs; ++high)
      for (std::int32_t low = high + 1; low < one.gangs; ++low)
        if (below(2) == 0) one.edges.push_back({high, low, weights[static_cast<std::size_t>(high)]});
    return one;
  }

 private:
  std::mt19937_64 random_{1};
};

// Calls visit(level) for all ways to give levels.
template <class Visit>
void each_level(std::int32_t gangs, std::int32_t levels, Visit&& visit) {
  Levels level(static_cast<std::size_t>(gangs), 0);
  for (;;) {
    visit(level);
    std::size_t j = 0;
    while (j < level.size() && ++level[j] == levels) level[j++] = 0;
    if (j == level.size()) return;
  }
}

// 1,500 cases of 2 to 5 gangs and three levels, next to the best of all levels that respect the order.
TEST(LinkPriorities, CompressionIsNearTheBestCut) {
  SmallCases cases;
  std::int64_t best = 0, ppm_sum = 0, with_edges = 0;
  for (int round = 0; round < 1'500; ++round) {
    const SmallCase one = cases.draw();
    std::int64_t most = 0;
    each_level(one.gangs, 3, [&](const Levels& level) {
      std::int64_t cut = 0;
      for (const PriorityEdge& edge : one.edges) {
        const std::int32_t high = level[static_cast<std::size_t>(edge.high)], low = level[static_cast<std::size_t>(edge.low)];
        if (high > low) return;
        cut += high < low ? edge.weight : 0;
      }
      most = std::max(most, cut);
    });
    const PriorityLevels found = compressed_levels(one.gangs, one.edges, 3);
    std::int64_t cut = 0;
    for (const PriorityEdge& edge : one.edges) {
      const std::int32_t high = found.level[static_cast<std::size_t>(edge.high)], low = found.level[static_cast<std::size_t>(edge.low)];
      ASSERT_LE(high, low);
      cut += high < low ? edge.weight : 0;
    }
    EXPECT_EQ(cut, found.cut);
    EXPECT_LE(cut, most);
    if (most == 0) continue;
    ++with_edges;
    best += cut == most ? 1 : 0;
    ppm_sum += cut * 1'000'000 / most;
  }
  // 238 cases have no pair that shares a link.
  EXPECT_EQ(with_edges, 1'262);
  EXPECT_EQ(best, 1'262);
  EXPECT_EQ(ppm_sum / with_edges, 1'000'000);
}

// 1,500 cases of 2 to 5 gangs on one link in three levels: time of computing x GPUs, next to the best of all levels.
TEST(LinkPriorities, LevelsAreNearTheBestUtilisation) {
  SmallCases cases;
  constexpr std::int64_t kWindow = 120 * kS;
  std::int64_t best = 0, ppm_sum = 0, unordered_sum = 0;
  for (int round = 0; round < 1'500; ++round) {
    Jobs jobs;
    std::vector<std::int64_t> gpus, priority;
    for (std::int64_t n = 2 + cases.below(4); n > 0; --n) {
      const std::int64_t compute = (1 + cases.below(8)) * kS;
      jobs.push_back({compute, (1 + cases.below(4)) * kS, compute * (1 + cases.below(2)) / 2});
      gpus.push_back(std::int64_t{1} << cases.below(5));
    }
    std::size_t reference = 0;
    const auto sends = [&](std::size_t j) { return jobs[j].send_ns * 1'000'000 / jobs[j].alone_ns(); };
    for (std::size_t j = 1; j < jobs.size(); ++j) reference = sends(j) > sends(reference) ? j : reference;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
      const std::int64_t k = j == reference ? 1'000'000 : correction_ppm(favoured_pair(jobs[reference], jobs[j], kWindow), kWindow);
      priority.push_back(k / 1'000 * (1'000 * gpus[j] * jobs[j].compute_ns / jobs[j].send_ns));
    }
    std::vector<PriorityEdge> edges;
    for (std::size_t a = 0; a < jobs.size(); ++a)
      for (std::size_t b = 0; b < jobs.size(); ++b)
        if (priority[a] > priority[b] || (priority[a] == priority[b] && a < b))
          edges.push_back(
              {static_cast<std::int32_t>(a), static_cast<std::int32_t>(b), 1'000 * gpus[a] * jobs[a].compute_ns / jobs[a].send_ns});
    const auto used = [&](const Levels& level) {
      const Times times = link_schedule(jobs, level, kWindow);
      std::int64_t sum = 0;
      for (std::size_t j = 0; j < jobs.size(); ++j) sum += gpus[j] * (kWindow - times[j].idle_ns);
      return sum;
    };
    std::int64_t most = 0;
    each_level(static_cast<std::int32_t>(jobs.size()), 3, [&](const Levels& level) { most = std::max(most, used(level)); });
    const std::int64_t got = used(compressed_levels(static_cast<std::int32_t>(jobs.size()), edges, 3).level);
    best += got == most ? 1 : 0;
    ppm_sum += got / 1'000 * 1'000'000 / (most / 1'000);
    unordered_sum += used(Levels(jobs.size(), 0)) / 1'000 * 1'000'000 / (most / 1'000);
  }
  EXPECT_EQ(best, 691);
  EXPECT_EQ(ppm_sum / 1'500, 980'237);
  EXPECT_EQ(unordered_sum / 1'500, 804'292);  // all on one level
}

}  // namespace
}  // namespace berth::core::link_priorities_test
