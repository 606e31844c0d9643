#pragma once

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/group.hpp"
#include "berth/kernel/ones/rules.hpp"
#include "berth/kernel/ones/score.hpp"

/// One candidate of a generation: docs/ones.md sections 4 and 5. A group makes each candidate, independently of the others.
namespace berth::kernel {

/// Input shared by all candidates of a generation.
struct OnesGeneration {
  std::int32_t number;
  const std::int32_t* first;       // [population * n_jobs] of the parents
  const std::int32_t* count;       // [population * n_jobs] of the parents, refreshed
  const std::int64_t* left;        // [n_jobs] remaining work, of jobs that are not fresh
  const std::int32_t* fill_order;  // [n_fill] jobs that are not fresh
  const std::int32_t* fresh_jobs;  // [n_fresh] by rank
  std::int32_t n_fill, n_fresh;
};

BERTH_HD constexpr std::int32_t ones_pairs(std::int32_t population) { return population / 2; }
BERTH_HD constexpr std::int32_t ones_candidates(std::int32_t population) { return 2 * population + 2 * ones_pairs(population); }
/// Words for the bits of a pair: whole blocks of random numbers.
BERTH_HD constexpr std::int32_t ones_bit_words(std::int32_t n_gpus) { return (n_gpus + 127) / 128 * 4; }

/// Number of set bits among [first, first + count).
BERTH_HD inline std::int32_t ones_set(const std::uint32_t* bits, std::int32_t first, std::int32_t count) {
  if (count == 0) return 0;
  const std::int32_t last = first + count - 1, from = first / 32, to = last / 32;
  const std::uint32_t head = UINT32_MAX << (first % 32), tail = UINT32_MAX >> (31 - last % 32);
  if (from == to) return popcount(bits[from] & head & tail);
  std::int32_t n = popcount(bits[from] & head) + popcount(bits[to] & tail);
  for (std::int32_t w = from + 1; w < to; ++w) n += popcount(bits[w]);
  return n;
}

/// The offspring of two parents. @param bits  [ones_bit_words] workspace
template <class Group>
BERTH_HD void ones_cross(Group& g, const OnesView& v, const OnesGeneration& of, std::int32_t offspring, std::uint32_t* bits,
                         std::int32_t* count) {
  const std::int32_t pair = offspring / 2;
  const Draws crossover = ones_draws(v, OnesPurpose::kCrossover, pair, of.number);
  for (std::int32_t b = g.rank(); b < ones_bit_words(v.n_gpus) / 4; b += g.size()) {
    const RandomBlock block = crossover.block(static_cast<std::uint32_t>(b));
    for (std::int32_t w = 0; w < 4; ++w) bits[4 * b + w] = block.word[w];
  }
  const RandomBlock parents = ones_draws(v, OnesPurpose::kPairs, pair, of.number).block(0);
  const std::int32_t a = below(parents.word[0], v.population), drawn = below(parents.word[1], v.population - 1);
  const std::int32_t b = drawn < a ? drawn : drawn + 1;
  // The second offspring swaps the two parents of the first.
  const std::int64_t zeros = std::int64_t{offspring % 2 == 0 ? a : b} * v.n_jobs,
                     ones = std::int64_t{offspring % 2 == 0 ? b : a} * v.n_jobs;
  g.sync();
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) {
    const std::int32_t from_zeros = of.count[zeros + j] - ones_set(bits, of.first[zeros + j], of.count[zeros + j]);
    count[j] = ones_cut(v, j, from_zeros + ones_set(bits, of.first[ones + j], of.count[ones + j]));
  }
}

/// A copy of a parent; a mutant loses the jobs that are drawn.
template <class Group>
BERTH_HD void ones_copy(Group& g, const OnesView& v, const OnesGeneration& of, std::int32_t parent, bool mutant, std::int32_t* count) {
  const Draws mutation = ones_draws(v, OnesPurpose::kMutation, parent, of.number);
  const std::uint64_t gone = (std::uint64_t{static_cast<std::uint32_t>(v.theta_ppm)} << 32) / 1'000'000;
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) {
    const std::int32_t has = of.count[std::int64_t{parent} * v.n_jobs + j];
    count[j] = mutant && has > 0 && v.fresh[j] == 0 && mutation.number(j) < gone ? 0 : has;
  }
}

/// Gives idle GPUs to the jobs of a list that request more, one after the other.
/// @param request  count of a job of the list, given the number of idle GPUs
/// @returns the number of GPUs still idle
template <class Group, class Request>
BERTH_HD std::int32_t ones_hand_out(Group& g, const std::int32_t* list, std::int32_t n, std::int32_t idle, std::int32_t* count,
                                    const Request& request) {
  for (std::int32_t base = 0; base < n && idle > 0; base += g.size()) {
    const std::int32_t at = base + g.rank();
    const std::int32_t job = at < n ? list[at] : -1;
    bool asks = job >= 0;
    while (idle > 0) {
      const std::int32_t gets = asks ? request(job, idle) : 0;
      const bool more = asks && gets > count[job];
      // A job that is passed over now would be so later too, because idle GPUs only decrease.
      if (!more) asks = false;
      const Key first = g.min(more ? Key{static_cast<std::uint64_t>(at), static_cast<std::uint64_t>(gets - count[job])} : kNoKey);
      if (first == kNoKey) break;
      idle -= static_cast<std::int32_t>(first.lo);
      if (more && first.hi == static_cast<std::uint64_t>(at)) {
        count[job] = gets;
        asks = false;
      }
    }
  }
  return idle;
}

template <class Group>
BERTH_HD void ones_fill(Group& g, const OnesView& v, const OnesGeneration& of, std::int32_t* count) {
  std::int64_t held = 0;
  for (std::int32_t j = g.rank(); j < v.n_jobs; j += g.size()) held += count[j];
  auto idle = static_cast<std::int32_t>(v.n_gpus - g.sum(held));
  idle = ones_hand_out(g, of.fresh_jobs, of.n_fresh, idle, count,
                       [&](std::int32_t job, std::int32_t left) { return v.start[job] <= left ? v.start[job] : 0; });
  for (const std::int32_t* const most : {v.limit, v.most}) {
    idle = ones_hand_out(g, of.fill_order, of.n_fill, idle, count, [&](std::int32_t job, std::int32_t left) {
      const std::int32_t may = most[job] - count[job] < left ? most[job] : count[job] + left;
      return ones_fit(v, job, may);
    });
  }
}

/// Computes candidate `index` of a generation: its counts. @returns its score, in every thread.
/// @param bits   [ones_bit_words] workspace
/// @param count  [n_jobs] out
template <class Group>
BERTH_HD std::int64_t ones_candidate(Group& g, const OnesView& v, const OnesGeneration& of, std::int32_t index, std::uint32_t* bits,
                                     std::int32_t* count) {
  const std::int32_t n_offspring = 2 * ones_pairs(v.population), offspring = index - v.population;
  if (offspring >= 0 && offspring < n_offspring) {
    ones_cross(g, v, of, offspring, bits, count);
  } else {
    ones_copy(g, v, of, offspring < 0 ? index : offspring - n_offspring, offspring >= 0, count);
  }
  g.sync();
  ones_fill(g, v, of, count);
  g.sync();
  return ones_score(g, v, count, of.left);
}

}  // namespace berth::kernel
