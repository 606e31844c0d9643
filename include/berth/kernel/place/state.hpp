#pragma once

#include <cassert>
#include <cstdint>

#include "berth/kernel/base/bits.hpp"
#include "berth/kernel/base/group.hpp"
#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/base/problem.hpp"

/// The state that changes during a scheduling pass. An index finds the best-fitting node without visiting all nodes.
namespace berth::kernel {

struct PassState {
  std::uint64_t* free;         // [n_nodes]
  std::int64_t* cpu;           // [n_nodes]
  std::int64_t* memory;        // [n_nodes]
  std::int32_t* used_ppm;      // [gpus]
  std::int64_t* used_memory;   // [gpus]
  std::int64_t* queue_used;    // [n_queues * (n_types + 1)]
  std::uint64_t* bucket;       // [(max_gpus + 1) * n_words] nodes by exact number of free GPUs
  std::int32_t* bucket_count;  // [max_gpus + 1]
  std::int32_t* domain_free;   // [n_domains] free whole GPUs in the domain: an upper bound for pruning
  std::int64_t* type_free;     // [n_types]
  std::int32_t max_gpus;
};

/// See base/columns.hpp. All but those of shares (`used_ppm`, `used_memory`), which the individuals of a search have in common.
template <class Visit, ViewOf<PassState>... Views>
BERTH_HD void for_each_column(const ProblemView& p, std::int32_t max_gpus, Visit&& visit, Views&... views) {
  const std::int64_t nodes = p.n_nodes;
  visit(nodes, views.free...);
  visit(nodes, views.cpu...);
  visit(nodes, views.memory...);
  visit(std::int64_t{p.n_queues} * (p.n_types + 1), views.queue_used...);
  visit(std::int64_t{max_gpus + 1} * p.n_words, views.bucket...);
  visit(std::int64_t{max_gpus + 1}, views.bucket_count...);
  visit(std::int64_t{p.domains.n_domains}, views.domain_free...);
  visit(std::int64_t{p.n_types}, views.type_free...);
}
static_assert(sizeof(PassState) == 88, "PassState changed: list its new columns above, then change this number");

BERTH_HD inline bool in_filter(const ProblemView& p, std::int32_t filter, std::int32_t node) {
  return (p.filter_words[std::int64_t{filter} * p.n_words + node / 64] >> (node % 64) & 1) != 0;
}

/// The levels whose domains are counted: of clusters only that of the switch topology.
inline constexpr std::int32_t kMostCountedLevels = kMaxLevels - 1 + 4 * (kMaxLevels - 2);

/// Calls visit(domain of each node, by node) for each level that is counted.
template <class Visit>
BERTH_HD void for_each_counted_level(const ProblemView& p, Visit&& visit) {
  for (std::int32_t f = 0; f < 5; ++f) {
    const std::int32_t end = f == 0 ? p.topology[0].levels : p.topology[f].levels - 1;
    if (end < 2) continue;
    const std::int32_t* row = p.topology[f].node_domain;
    for (std::int32_t l = 1; l < end; ++l) visit(row += p.n_nodes);
  }
}

/// Adds to the free GPUs of the domains that a node is in. One thread.
BERTH_HD inline void count_in_domains(const ProblemView& p, const PassState& s, std::int32_t node, std::int32_t gpus) {
  std::int32_t* const domain_free = s.domain_free;
  for_each_counted_level(p, [&](const std::int32_t* domain) { domain_free[domain[node]] += gpus; });
}

/// Moves a node from one bucket to another. One thread.
BERTH_HD inline void move_to_bucket(const ProblemView& p, const PassState& s, std::int32_t node, std::int32_t before, std::int32_t after) {
  const std::uint64_t bit = std::uint64_t{1} << (node % 64);
  s.bucket[std::int64_t{before} * p.n_words + node / 64] &= ~bit;
  s.bucket[std::int64_t{after} * p.n_words + node / 64] |= bit;
  assert(s.bucket_count[before] > 0);
  --s.bucket_count[before];
  ++s.bucket_count[after];
}

/// Moves a node to the bucket of its new free count and updates the sums of its ancestors. One thread.
BERTH_HD inline void set_free(const ProblemView& p, PassState& s, std::int32_t node, std::uint64_t mask) {
  const std::int32_t before = popcount(s.free[node]);
  const std::int32_t after = popcount(mask);
  s.free[node] = mask;
  if (before == after) return;
  move_to_bucket(p, s, node, before, after);
  if (p.node_type[node] >= 0) s.type_free[p.node_type[node]] += after - before;
  count_in_domains(p, s, node, after - before);
}

/// Free whole GPUs of a domain, which may be the cluster of any topology.
BERTH_HD inline std::int32_t free_in(const ProblemView& p, const PassState& s, std::int32_t topology, std::int32_t level,
                                     std::int32_t domain) {
  if (level == p.topology[topology].levels - 1) return s.domain_free[p.topology[0].level_begin[p.topology[0].levels - 1]];
  return s.domain_free[domain];
}

/// Builds the index from `free`. All threads.
template <class Group>
BERTH_HD void build_index(Group& group, const ProblemView& p, PassState& s) {
  const std::int64_t words = std::int64_t{s.max_gpus + 1} * p.n_words;
  for (std::int64_t i = group.rank(); i < words; i += group.size()) s.bucket[i] = 0;
  for (std::int64_t i = group.rank(); i < p.domains.n_domains; i += group.size()) s.domain_free[i] = 0;
  for (std::int64_t i = group.rank(); i <= s.max_gpus; i += group.size()) s.bucket_count[i] = 0;
  for (std::int64_t i = group.rank(); i < p.n_types; i += group.size()) s.type_free[i] = 0;
  group.sync();
  // A thread owns whole words, so bits need no atomics.
  for (std::int32_t w = group.rank(); w < p.n_words; w += group.size()) {
    for (std::int32_t n = w * 64; n < p.n_nodes && n < (w + 1) * 64; ++n) {
      s.bucket[std::int64_t{popcount(s.free[n])} * p.n_words + w] |= std::uint64_t{1} << (n % 64);
    }
  }
  group.sync();
  for (std::int32_t c = group.rank(); c <= s.max_gpus; c += group.size()) {
    std::int32_t count = 0;
    for (std::int32_t w = 0; w < p.n_words; ++w) count += popcount(s.bucket[std::int64_t{c} * p.n_words + w]);
    s.bucket_count[c] = count;
  }
  for (std::int32_t d = group.rank(); d < p.domains.n_domains; d += group.size()) {
    std::int32_t topology = 0;
    while (topology < 4 && d >= p.topology[topology + 1].level_begin[1]) ++topology;
    const TopologyView& f = p.topology[topology];
    if (topology != 0 && d == f.level_begin[f.levels - 1]) continue;
    std::int32_t gpus = 0;
    for (std::int32_t i = p.domains.first[d]; i < p.domains.last[d]; ++i) gpus += popcount(s.free[f.order[i]]);
    s.domain_free[d] = gpus;
  }
  for (std::int32_t t = group.rank(); t < p.n_types; t += group.size()) {
    std::int64_t gpus = 0;
    for (std::int32_t n = 0; n < p.n_nodes; ++n) gpus += p.node_type[n] == t ? popcount(s.free[n]) : 0;
    s.type_free[t] = gpus;
  }
  group.sync();
}

/// Selects n GPUs of a node: see docs/placement.md section 4.
BERTH_HD inline std::uint64_t pick_gpus(const ProblemView& p, std::int32_t node, std::uint64_t free, std::int32_t n) {
  const std::int32_t first = p.inner_begin[node];
  const std::int32_t last = p.inner_begin[node + 1];
  if (first == last) return lowest_bits(free, n);
  std::int32_t best = kNone;
  std::int32_t best_free = 65;
  for (std::int32_t g = first; g < last; ++g) {
    const std::int32_t has = popcount(free & p.inner_mask[g]);
    if (has >= n && has < best_free) {
      best = g;
      best_free = has;
    }
  }
  if (best != kNone) return lowest_bits(free & p.inner_mask[best], n);
  std::uint64_t taken = 0;
  while (n > 0) {
    std::int32_t fullest = kNone;
    std::int32_t most = 0;
    for (std::int32_t g = first; g < last; ++g) {
      const std::int32_t has = popcount(free & ~taken & p.inner_mask[g]);
      if (has > most) {
        fullest = g;
        most = has;
      }
    }
    const std::uint64_t part = lowest_bits(fullest == kNone ? free & ~taken : free & ~taken & p.inner_mask[fullest], n);
    if (part == 0) break;
    taken |= part;
    n -= popcount(part);
  }
  return taken;
}

/// Members of a share row that fit on GPU g of a node.
BERTH_HD inline std::int64_t gpu_share_cap(const ProblemView& p, const PassState& s, const GroupRow& row, std::int32_t node,
                                           std::int32_t g) {
  const std::int64_t i = std::int64_t{p.gpu_begin[node]} + g;
  const bool whole_free = (s.free[node] >> g & 1) != 0;
  const std::int32_t used = s.used_ppm[i];
  const bool open = (p.node_open[node] >> g & 1) != 0;
  if (!whole_free && (used == 0 || !open)) return 0;
  std::int64_t cap = (kWholeGpu - used) / row.share_ppm;
  const std::int64_t memory = p.type_memory[p.node_type[node]];
  if (memory != 0 && row.gpu_memory != 0) {
    const std::int64_t by_memory = (memory - s.used_memory[i]) / row.gpu_memory;
    if (by_memory < cap) cap = by_memory;
  }
  if (!open && cap > 1) return 1;
  return cap > 0 ? cap : 0;
}

/// True when a job that ends at `end` (kNever: not known) may use the node.
BERTH_HD inline bool stays_open(const ProblemView& p, std::int32_t node, TimeUs end) {
  return p.has_until == 0 || p.node_until[node] == kNever || (end != kNever && end <= p.node_until[node]);
}

/// min(cap, has / per), at least 0. Most nodes have enough, which a multiplication shows without a division.
BERTH_HD inline std::int64_t limited(std::int64_t cap, std::int64_t has, std::int64_t per) {
  if (has <= 0) return 0;
  constexpr std::int64_t kSmall = std::int64_t{1} << 26;
  if (cap < kSmall && per < (INT64_MAX / kSmall) && cap * per <= has) return cap;
  const std::int64_t holds = has / per;
  return holds < cap ? holds : cap;
}

/// At most `cap` members, as the cores and the memory of a node allow.
BERTH_HD inline std::int64_t within_limits(const PassState& s, const GroupRow& row, std::int32_t node, std::int64_t cap) {
  if (row.cpu > 0 && s.cpu[node] != kNoLimit) cap = limited(cap, s.cpu[node], row.cpu);
  if (row.memory > 0 && s.memory[node] != kNoLimit) cap = limited(cap, s.memory[node], row.memory);
  return cap;
}

/// Capacity of one allowed node for members of a row: docs/placement.md section 1.
BERTH_HD inline std::int64_t node_cap(const ProblemView& p, const PassState& s, const GroupRow& row, std::int32_t node) {
  std::int64_t cap = 0;
  if (row.share_ppm == kWholeGpu) {
    cap = row.gpus == 1 ? popcount(s.free[node]) : popcount(s.free[node]) / row.gpus;  // a division costs more than the rest
  } else {
    if (p.node_sharing[node] == 0) return 0;
    const std::int32_t gpus = p.gpu_begin[node + 1] - p.gpu_begin[node];
    for (std::int32_t g = 0; g < gpus; ++g) cap += gpu_share_cap(p, s, row, node, g);
  }
  return cap == 0 ? 0 : within_limits(s, row, node, cap);
}

/// raw(node) of section 1; `cap` is the node's.
BERTH_HD inline std::int64_t node_raw(const PassState& s, const GroupRow& row, std::int32_t node, std::int64_t cap) {
  return row.share_ppm == kWholeGpu ? popcount(s.free[node]) : cap;
}

/// Charges or releases cores and memory where they are modelled. One thread.
BERTH_HD inline void charge(PassState& s, std::int32_t node, std::int64_t cpu, std::int64_t memory) {
  if (s.cpu[node] != kNoLimit) s.cpu[node] -= cpu;
  if (s.memory[node] != kNoLimit) s.memory[node] -= memory;
}

/// Allocates given GPUs (one share each when share_ppm is below whole). One thread.
BERTH_HD inline void take_mask(const ProblemView& p, PassState& s, std::int32_t node, std::uint64_t mask, std::int32_t share_ppm,
                               std::int64_t gpu_memory, std::int64_t cpu, std::int64_t memory) {
  charge(s, node, cpu, memory);
  if (share_ppm < kWholeGpu) {
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
      const std::int64_t i = std::int64_t{p.gpu_begin[node]} + lowest(left);
      s.used_ppm[i] += share_ppm;
      assert(s.used_ppm[i] > 0);
      s.used_memory[i] += gpu_memory;
    }
  }
  assert(0 < share_ppm && share_ppm <= kWholeGpu);
  set_free(p, s, node, s.free[node] & ~mask);
}

/// The inverse of take_mask; `open` has the bits that may become free.
BERTH_HD inline void give_mask(const ProblemView& p, PassState& s, std::int32_t node, std::uint64_t mask, std::uint64_t open,
                               std::int32_t share_ppm, std::int64_t gpu_memory, std::int64_t cpu, std::int64_t memory) {
  charge(s, node, -cpu, -memory);
  std::uint64_t freed = mask;
  if (share_ppm < kWholeGpu) {
    for (std::uint64_t left = mask; left != 0; left &= left - 1) {
      const std::int64_t i = std::int64_t{p.gpu_begin[node]} + lowest(left);
      s.used_ppm[i] -= share_ppm;
      assert(s.used_ppm[i] >= 0);
      s.used_memory[i] -= gpu_memory;
      if (s.used_ppm[i] > 0) freed &= ~(left & (~left + 1));
    }
  }
  set_free(p, s, node, s.free[node] | (freed & open));
}

}  // namespace berth::kernel
