#pragma once

#include <cstdint>

#include "berth/kernel/place/pass.hpp"

/// Flat demands of whole GPUs, and the node that holds one, found in the bit sets of nodes: docs/placement.md section 2, level 0.
namespace berth::kernel {

/// What a flat demand asks of the node that holds all of its members. It is read as a whole, by a few wide loads.
struct FlatDemand {
  alignas(16) std::int32_t filter;  // kNone: no node may hold all members, or the demand is no flat one of whole GPUs
  std::int32_t type, gpus, members;
  std::int64_t cpu, memory;      // of all members, 0: none. On one node are at most 64 members, so they have 63 bits
  std::int32_t topology, level;  // of the domain that `require` names; level kNone: none
  std::int64_t quota;
};

/// Members of one row, which may have `require`.
BERTH_HD inline FlatDemand flat_demand(const ProblemView& p, std::int32_t filter, std::int32_t type, const GroupRow& row,
                                       std::int32_t members, std::int64_t quota, std::int32_t max_gpus) {
  FlatDemand d{kNone, type, 0, members, 0, 0, 0, kNone, quota};
  const std::int64_t gpus = std::int64_t{members} * row.gpus;
  if (row.share_ppm != kWholeGpu || members == 0) return d;
  if (gpus > max_gpus || (row.spread_most > 0 && members > row.spread_most)) return d;
  d.filter = filter;
  d.gpus = static_cast<std::int32_t>(gpus);
  d.cpu = members * row.cpu;
  d.memory = members * row.memory;
  if (row.require_level >= 1 && row.require_level < p.topology[row.require_topology].levels - 1) {
    d.topology = row.require_topology;
    d.level = row.require_level;
  }
  return d;
}

inline constexpr std::uint32_t kNoNodeFound = UINT32_MAX;

/// The node that holds all members with least free GPUs, of equal ones the lowest rank. No node has an end. Where it finds one, its last
/// collective is a barrier. O(max_gpus * n_words / threads), and the nodes that lack cores, memory or a named domain.
template <class Group>
BERTH_HD std::uint32_t tightest_node(Group& group, const ProblemView& p, const PassState& s, const FlatDemand& d) {
  if (d.filter == kNone) return kNoNodeFound;
  const std::uint64_t* const allowed = p.filter_words + std::int64_t{d.filter} * p.n_words;
  const std::int32_t* const domain = d.level == kNone ? nullptr : p.topology[d.topology].node_domain + std::int64_t{d.level} * p.n_nodes;
  // Threads are shared out among several buckets where one has few words.
  const bool several = p.n_words > 0 && group.size() >= 2 * p.n_words;
  const std::int32_t parts = several ? group.size() / p.n_words : 1;
  const std::int32_t part = several ? group.rank() / p.n_words : 0;
  constexpr std::int32_t kNodeBits = 20;  // `several` with at most 1,024 threads: less than 2^15 nodes
  for (std::int32_t c = d.gpus; c <= s.max_gpus;) {
    std::int32_t mine = kNone, buckets = 0;
    for (; c <= s.max_gpus && buckets < parts; ++c) {
      if (s.bucket_count[c] == 0) continue;
      if (buckets == part) mine = c;
      ++buckets;
    }
    if (buckets == 0) break;
    const std::uint64_t* const bucket = s.bucket + std::int64_t{mine == kNone ? 0 : mine} * p.n_words;
    for (std::int32_t base = 0; base < p.n_words; base += group.size()) {
      const std::int32_t word = base + group.rank() - part * p.n_words;
      std::uint32_t found = kNoNodeFound;
      std::uint64_t bits = mine != kNone && word < p.n_words ? bucket[word] & allowed[word] : 0;
      for (; bits != 0; bits &= bits - 1) {
        const std::int32_t node = word * 64 + lowest(bits);
        if (d.cpu > 0 && s.cpu[node] < d.cpu) continue;
        if (d.memory > 0 && s.memory[node] < d.memory) continue;
        if (domain != nullptr && p.domains.named[domain[node]] == 0) continue;
        found = static_cast<std::uint32_t>(part << kNodeBits | node);
        break;
      }
      found = group.min(found);
      if (found != kNoNodeFound) return several ? found & ((std::uint32_t{1} << kNodeBits) - 1) : found;
    }
  }
  return kNoNodeFound;
}

}  // namespace berth::kernel
