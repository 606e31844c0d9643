#pragma once

#include <cassert>

#include "berth/kernel/ones/ones.hpp"

/// The initial population: docs/ones.md section 3.
namespace berth::kernel {

/// Computes the counts of an individual of the initial population.
/// @param keys   [n_jobs] workspace
/// @param count  [n_jobs] out
template <class Group>
BERTH_HD void ones_first(Group& g, const OnesView& v, std::int32_t individual, std::int32_t generation, std::uint64_t* keys,
                         std::int32_t* count) {
  const Draws first = ones_draws(v, OnesPurpose::kFirst, individual, generation);
  std::int64_t held = 0, waiting = 0;
  for (std::int32_t base = 0; base < v.n_jobs; base += g.size()) {
    const std::int32_t j = base + g.rank();
    if (j < v.n_jobs) {
      count[j] = ones_cut(v, j, v.deployed_count[j]);
      held += count[j];
    }
    const bool waits = j < v.n_jobs && count[j] == 0;
    std::int64_t all = 0;
    const std::int64_t at = waiting + g.scan(waits ? 1 : 0, all);
    if (waits) keys[at] = (std::uint64_t{individual == 0 ? 0 : first.number(j)} << 32) | static_cast<std::uint32_t>(j);
    waiting += all;
  }
  std::int64_t idle = v.n_gpus - g.sum(held);
  assert(idle >= 0);
  group_sort(g, keys, static_cast<std::int32_t>(waiting));
  if (g.rank() == 0) {
    for (std::int64_t i = 0; i < waiting && idle > 0; ++i) {
      const auto j = static_cast<std::int32_t>(keys[i] & UINT32_MAX);
      const std::int32_t least = v.option_gpus[v.option_begin[j]];
      const std::int32_t begins = v.fresh[j] != 0 ? v.start[j] : least;
      if (begins > idle || (v.fresh[j] == 0 && v.limit[j] < begins)) continue;
      count[j] = begins;
      idle -= begins;
    }
  }
  g.sync();
}

}  // namespace berth::kernel
