#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "tests/support/victims/random_victims.hpp"

// All sets of candidates of tiny problems, counted here by code of its own.
namespace berth::test::victims_test {
namespace {

using kernel::kNone;
using kernel::VictimsOutcome;

/// One question, and which of its candidates leave as bits.
struct TinyQuestion {
  const Problem& p;
  const VictimsCase& one;
  std::size_t q;

  std::size_t candidates() const { return static_cast<std::size_t>(one.candidate_end[q] - one.candidate_begin[q]); }
  std::size_t row(std::size_t c) const { return static_cast<std::size_t>(one.candidate_begin[q]) + c; }
  const kernel::DemandRow& demand() const { return p.demands[static_cast<std::size_t>(one.demand[q])]; }
  const kernel::GroupRow& group() const { return p.groups[static_cast<std::size_t>(demand().group_begin)]; }

  bool in_domain(std::int32_t node) const {
    if (one.topology[q] == kNone) return node == one.domain[q];
    if (one.domain[q] == kNone) return true;
    const TopologyColumns& topology = p.topology[static_cast<std::size_t>(one.topology[q])];
    for (std::int32_t level = 1; level < topology.levels; ++level) {
      if (topology.node_domain[static_cast<std::size_t>(level * p.n_nodes() + node)] == one.domain[q]) return true;
    }
    return false;
  }
  bool counts(std::int32_t node) const {
    const auto words = static_cast<std::size_t>((p.n_nodes() + 63) / 64), at = static_cast<std::size_t>(node);
    const std::uint64_t word = p.filter_words[static_cast<std::size_t>(demand().filter) * words + at / 64];
    const bool lasts = p.node_until[at] == kNever || (one.ends[q] != kNever && one.ends[q] <= p.node_until[at]);
    return in_domain(node) && (word >> (at % 64) & 1) != 0 && lasts;
  }
  std::int64_t members(std::uint32_t leaves) const {
    std::int64_t all = 0;
    for (std::int32_t node = 0; node < p.n_nodes(); ++node) {
      if (!counts(node)) continue;
      const auto at = static_cast<std::size_t>(node);
      std::uint64_t free = p.node_free[at];
      std::int64_t cpu = p.node_cpu[at], memory = p.node_memory[at];
      for (std::size_t c = 0; c < candidates(); ++c) {
        if ((leaves >> c & 1) == 0) continue;
        const auto job = static_cast<std::size_t>(one.candidate_job[row(c)]);
        for (std::int32_t h = p.held_begin[job]; h < p.held_begin[job + 1]; ++h) {
          const kernel::HeldRow& held = p.held[static_cast<std::size_t>(h)];
          if (held.node != node) continue;
          free |= held.mask & p.node_open[at];
          if (p.node_cpu[at] != kernel::kNoLimit) cpu += held.cpu;
          if (p.node_memory[at] != kernel::kNoLimit) memory += held.memory;
        }
      }
      std::int64_t cap = std::popcount(free) / group().gpus;
      if (group().cpu > 0) cap = std::min(cap, std::max<std::int64_t>(0, cpu) / group().cpu);
      if (group().memory > 0) cap = std::min(cap, std::max<std::int64_t>(0, memory) / group().memory);
      all += cap;
    }
    return all;
  }
  /// Highest priority, cost and number of a set. Costs of these problems are small.
  std::tuple<std::int32_t, std::int64_t, int> value(std::uint32_t leaves) const {
    std::int32_t priority = INT32_MIN;
    std::int64_t cost = 0;
    for (std::size_t c = 0; c < candidates(); ++c) {
      if ((leaves >> c & 1) == 0) continue;
      priority = std::max(priority, one.candidate_priority[row(c)]);
      cost += std::min(one.candidate_cost[row(c)], kernel::kMostVictimCost);
    }
    return {priority, cost, std::popcount(leaves)};
  }
  bool limited() const { return group().cpu > 0 || group().memory > 0; }
};

TEST(Victims, MakeRoomAreAllNeededAndForOneMemberTheBestOfAllSets) {
  const auto backend = core::make_cpu_backend(1);
  std::int64_t chosen_sets = 0, optimal = 0, none = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomVictimsSpec spec;
    spec.nodes = 1 + static_cast<std::int32_t>(seed % 4);
    spec.jobs = 7;
    spec.max_gpus = seed % 3 == 0 ? 4 : 8;
    spec.gang_nodes = 2;
    spec.limits = seed % 2 == 0;
    const VictimsCase one = random_victims(seed, spec);
    const VictimsBuffers got = victims(*backend, one);
    for (std::size_t q = 0; q < one.demand.size(); ++q) {
      const TinyQuestion question{one.problem, one, q};
      const std::int64_t lacking = question.group().members;
      const auto sets = std::uint32_t{1} << question.candidates();
      const auto about = [&] { return "seed " + std::to_string(seed) + ", question " + std::to_string(q); };
      std::optional<std::uint32_t> best;
      for (std::uint32_t set = 0; set < sets; ++set) {
        if (question.members(set) < lacking) continue;
        if (!best || question.value(set) < question.value(*best)) best = set;
      }
      std::uint32_t leaves = 0;
      for (const std::int32_t c : got.chosen_of(one, static_cast<std::int32_t>(q))) leaves |= std::uint32_t{1} << c;
      ASSERT_EQ(got.outcome[q] == VictimsOutcome::kNoRoom, !best) << about();
      ASSERT_EQ(got.outcome[q] == VictimsOutcome::kFits, question.members(0) >= lacking) << about();
      if (got.outcome[q] != VictimsOutcome::kChosen) {
        ASSERT_EQ(leaves, 0u) << about();
        ASSERT_EQ(got.members[q], question.members(got.outcome[q] == VictimsOutcome::kFits ? 0 : sets - 1)) << about();
        none += got.outcome[q] == VictimsOutcome::kNoRoom ? 1 : 0;
        continue;
      }
      ++chosen_sets;
      ASSERT_GE(question.members(leaves), lacking) << about();
      ASSERT_EQ(got.members[q], question.members(sets - 1)) << about();
      for (std::uint32_t part = (leaves - 1) & leaves;; part = (part - 1) & leaves) {
        ASSERT_LT(question.members(part), lacking) << about() << ": a part of the set suffices";
        if (part == 0) break;
      }
      const auto [priority, cost, count] = question.value(leaves);
      ASSERT_EQ(std::tuple(got.priority[q], got.cost[q], got.count[q]), std::tuple(priority, cost, count)) << about();
      ASSERT_EQ(priority, std::get<0>(question.value(*best))) << about();
      if (lacking > 1 || question.limited()) continue;
      ++optimal;
      ASSERT_EQ(question.value(leaves), question.value(*best)) << about();
    }
  }
  EXPECT_GT(chosen_sets, 1'000);
  EXPECT_GT(optimal, 400);
  EXPECT_GT(none, 500);
}

}  // namespace
}  // namespace berth::test::victims_test
