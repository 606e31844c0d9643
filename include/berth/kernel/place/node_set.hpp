#pragma once

#include <cstdint>

#include "berth/kernel/base/host_device.hpp"
#include "berth/kernel/place/state.hpp"

/// Sets of nodes as intersections of domains of any topologies, and their capacity: docs/placement.md section 1.
namespace berth::kernel {

struct Restriction {
  std::int32_t topology, level, domain;
};

inline constexpr std::int32_t kNoNode = -2;

/// The nodes allowed by a filter and an end time, within all of `in`.
/// It is scanned along the range [first, last) of topology `scan`, the smallest of its domains.
struct NodeSet {
  std::int32_t filter;
  TimeUs end;                      // when the job ends, kNever: not known
  std::int32_t scan, first, last;  // ranges of a ranked topology are those of the switch topology, which is then the value of `scan`
  std::int32_t node;               // the only node; kNone: not limited to one; kNoNode: the set is empty
  std::int32_t n;
  Restriction in[5];  // at most one per topology
};

BERTH_HD inline NodeSet all_nodes(const ProblemView& p, std::int32_t filter, TimeUs end) {
  NodeSet set{};
  set.filter = filter;
  set.end = end;
  set.last = p.n_nodes;
  set.node = kNone;
  return set;
}

/// The ancestor of a domain, some levels up.
BERTH_HD inline std::int32_t ancestor(const ProblemView& p, std::int32_t domain, std::int32_t levels_up) {
  for (; levels_up > 0; --levels_up) domain = p.domains.parent[domain];
  return domain;
}

/// The intersection of the set and a domain; the cluster changes nothing.
/// One restriction per topology suffices, because domains of a topology are nested or disjoint.
BERTH_HD inline NodeSet within(const ProblemView& p, NodeSet set, std::int32_t topology, std::int32_t level, std::int32_t domain) {
  if (level == p.topology[topology].levels - 1) return set;
  std::int32_t at = set.n;
  for (std::int32_t i = 0; i < set.n; ++i) {
    const Restriction& r = set.in[i];
    if (r.topology != topology) continue;
    at = i;
    const bool nested =
        r.level >= level ? ancestor(p, domain, r.level - level) == r.domain : ancestor(p, r.domain, level - r.level) == domain;
    if (!nested) {
      set.last = set.first;
      set.node = kNoNode;
    }
    if (!nested || r.level <= level) return set;
  }
  if (at == set.n) ++set.n;
  set.in[at] = {topology, level, domain};
  const std::int32_t first = p.domains.first[domain];
  const std::int32_t last = p.domains.last[domain];
  if (last - first < set.last - set.first) {
    set.scan = p.topology[topology].ranked != 0 ? 0 : topology;
    set.first = first;
    set.last = last;
  }
  return set;
}

/// True when the filter alone decides which nodes of the range are in the set.
BERTH_HD inline bool all_in_range(const ProblemView& p, const NodeSet& set) { return set.node == kNone && set.n <= 1 && p.has_until == 0; }

BERTH_HD inline bool contains(const ProblemView& p, const NodeSet& set, std::int32_t node) {
  if (set.node != kNone && set.node != node) return false;
  for (std::int32_t i = 0; i < set.n; ++i) {
    const Restriction& r = set.in[i];
    if (p.topology[r.topology].node_domain[std::int64_t{r.level} * p.n_nodes + node] != r.domain) return false;
  }
  return in_filter(p, set.filter, node) && stays_open(p, node, set.end);
}

BERTH_HD inline bool has_require(const GroupRow& row) { return row.require_level >= 0; }

/// Whether a node is in a named domain of the require level.
BERTH_HD inline bool meets_require(const ProblemView& p, const GroupRow& row, std::int32_t node) {
  if (row.require_level < 1) return true;
  if (row.require_level == p.topology[row.require_topology].levels - 1) return true;
  return p.domains.named[p.topology[row.require_topology].node_domain[std::int64_t{row.require_level} * p.n_nodes + node]] != 0;
}

/// The capacity of a set for a row. `segments` and `spread` are used only where the row requires them.
struct Measure {
  std::int64_t plain, raw, segments, spread;
};

BERTH_HD inline std::int64_t cap_of(const GroupRow& row, const Measure& m) {
  std::int64_t cap = m.plain;
  if (row.segment_size > 0) cap = m.segments * row.segment_size;
  if (row.spread_most > 0 && (row.segment_size == 0 || m.spread < cap)) cap = m.spread;
  return cap;
}

/// Nodes of a word of 64 nodes that have ranks [first, last), pass the filter and have a free GPU.
BERTH_HD inline std::uint64_t nodes_with_gpus(const ProblemView& p, const PassState& s, std::int32_t filter, std::int32_t first,
                                              std::int32_t last, std::int32_t word) {
  std::uint64_t bits = p.filter_words[std::int64_t{filter} * p.n_words + word] & ~s.bucket[word];
  if (word * 64 < first) bits &= ~std::uint64_t{0} << (first - word * 64);
  if ((word + 1) * 64 > last) bits &= ~std::uint64_t{0} >> ((word + 1) * 64 - last);
  return bits;
}

/// Whole free GPUs of the nodes of ranks [first, last) that pass the filter.
BERTH_HD inline std::int64_t free_gpus_between(const ProblemView& p, const PassState& s, std::int32_t filter, std::int32_t first,
                                               std::int32_t last) {
  std::int64_t gpus = 0;
  for (std::int32_t w = first / 64; w * 64 < last; ++w) {
    std::uint64_t bits = nodes_with_gpus(p, s, filter, first, last, w);
    for (; bits != 0; bits &= bits - 1) gpus += popcount(s.free[w * 64 + lowest(bits)]);
  }
  return gpus;
}

/// True when the filter excludes no node of ranks [first, last) that has a free GPU.
BERTH_HD inline bool none_kept_out(const ProblemView& p, const PassState& s, std::int32_t filter, std::int32_t first, std::int32_t last) {
  for (std::int32_t w = first / 64; w * 64 < last; ++w) {
    std::uint64_t bits = ~(p.filter_words[std::int64_t{filter} * p.n_words + w] | s.bucket[w]);
    if (w * 64 < first) bits &= ~std::uint64_t{0} << (first - w * 64);
    if ((w + 1) * 64 > last) bits &= ~std::uint64_t{0} >> ((w + 1) * 64 - last);
    if (bits != 0) return false;
  }
  return true;
}

/// Whole free GPUs of the set.
BERTH_HD inline std::int64_t free_gpus_of(const ProblemView& p, const PassState& s, const NodeSet& set) {
  if (set.scan == 0 && all_in_range(p, set)) return free_gpus_between(p, s, set.filter, set.first, set.last);
  std::int64_t gpus = 0;
  const std::int32_t* order = p.topology[set.scan].order;
  for (std::int32_t i = set.first; i < set.last; ++i) {
    if (contains(p, set, order[i])) gpus += popcount(s.free[order[i]]);
  }
  return gpus;
}

/// Adds plain and raw of the nodes of a word that have ranks [first, last) and pass the filter. A row of whole GPUs, no end of a node.
/// O(max_gpus), and the nodes that have room where the row needs cores or memory.
BERTH_HD inline void measure_word(const ProblemView& p, const PassState& s, const GroupRow& row, std::int32_t filter, std::int32_t first,
                                  std::int32_t last, std::int32_t word, Measure& m) {
  const bool limits = row.cpu > 0 || row.memory > 0;
  const std::uint64_t* bucket = s.bucket + std::int64_t{s.max_gpus} * p.n_words + word;
  std::uint64_t bits = nodes_with_gpus(p, s, filter, first, last, word);
  for (std::int32_t c = s.max_gpus; bits != 0; --c, bucket -= p.n_words) {
    std::uint64_t here = *bucket & bits;
    if (here == 0) continue;
    bits ^= here;
    m.raw += std::int64_t{c} * popcount(here);
    if (c < row.gpus) continue;
    const std::int64_t cap = row.gpus == 1 ? c : c / row.gpus;
    if (!limits) {
      m.plain += cap * popcount(here);
      continue;
    }
    // A node has at most 64 members, so the products have 63 bits.
    const std::int64_t cpu = row.cpu > 0 ? cap * row.cpu : INT64_MIN;
    const std::int64_t memory = row.memory > 0 ? cap * row.memory : INT64_MIN;
    for (; here != 0; here &= here - 1) {
      const std::int32_t node = word * 64 + lowest(here);
      m.plain += s.cpu[node] >= cpu && s.memory[node] >= memory ? cap : within_limits(s, row, node, cap);
    }
  }
}

/// Plain and raw of the nodes of ranks [first, last) that pass the filter; see measure_word. One thread.
BERTH_HD inline Measure measure_between(const ProblemView& p, const PassState& s, const GroupRow& row, std::int32_t filter,
                                        std::int32_t first, std::int32_t last) {
  Measure m{};
  for (std::int32_t word = first / 64; word * 64 < last; ++word) measure_word(p, s, row, filter, first, last, word, m);
  return m;
}

/// Sums plain and raw over the nodes of the set at positions first + lane, + lanes, ...
BERTH_HD inline Measure measure_plain(const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set, std::int32_t lane,
                                      std::int32_t lanes) {
  Measure m{};
  if (set.scan == 0 && row.share_ppm == kWholeGpu) {
    // Ranks are positions here, so whole words of nodes without a free GPU are skipped.
    const bool all = all_in_range(p, set);
    const std::int32_t last_word = (set.last + 63) / 64;
    for (std::int32_t w = set.first / 64 + lane; w < last_word; w += lanes) {
      if (all) {
        measure_word(p, s, row, set.filter, set.first, set.last, w, m);
        continue;
      }
      for (std::uint64_t bits = nodes_with_gpus(p, s, set.filter, set.first, set.last, w); bits != 0; bits &= bits - 1) {
        const std::int32_t node = w * 64 + lowest(bits);
        if (!contains(p, set, node)) continue;
        m.plain += node_cap(p, s, row, node);
        m.raw += popcount(s.free[node]);
      }
    }
    return m;
  }
  const std::int32_t* order = p.topology[set.scan].order;
  for (std::int32_t i = set.first + lane; i < set.last; i += lanes) {
    const std::int32_t node = order[i];
    if (!contains(p, set, node)) continue;
    const std::int64_t cap = node_cap(p, s, row, node);
    m.plain += cap;
    m.raw += node_raw(s, row, node, cap);
  }
  return m;
}

/// True when all domains of a topology are ranges of the set in which the filter alone decides which nodes are in it.
BERTH_HD inline bool measures_by_rank(const ProblemView& p, const GroupRow& row, const NodeSet& set, std::int32_t topology) {
  return set.scan == 0 && row.share_ppm == kWholeGpu && p.topology[topology].ranked != 0 && all_in_range(p, set);
}

/// Plain and raw of the intersection of a set and a domain below the cluster, without building it where ranks suffice. One thread.
BERTH_HD inline Measure measure_child(const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set,
                                      std::int32_t topology, std::int32_t level, std::int32_t d) {
  if (!measures_by_rank(p, row, set, topology)) return measure_plain(p, s, row, within(p, set, topology, level, d), 0, 1);
  const std::int32_t first = p.domains.first[d] > set.first ? p.domains.first[d] : set.first;
  const std::int32_t last = p.domains.last[d] < set.last ? p.domains.last[d] : set.last;
  return measure_between(p, s, row, set.filter, first, last);
}

/// One lane's part of plain, which stops at `enough`. The parts add up to `enough` or more when plain does.
BERTH_HD inline std::int64_t plain_up_to(const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set,
                                         std::int64_t enough, std::int32_t lane, std::int32_t lanes) {
  std::int64_t plain = 0;
  if (set.scan == 0 && row.share_ppm == kWholeGpu) {
    const bool all = all_in_range(p, set);
    for (std::int32_t w = set.first / 64 + lane; w * 64 < set.last && plain < enough; w += lanes) {
      if (all) {
        Measure m{};
        measure_word(p, s, row, set.filter, set.first, set.last, w, m);
        plain += m.plain;
        continue;
      }
      std::uint64_t bits = nodes_with_gpus(p, s, set.filter, set.first, set.last, w);
      for (std::int32_t c = 1; c < row.gpus && c <= s.max_gpus; ++c) bits &= ~s.bucket[std::int64_t{c} * p.n_words + w];
      for (; bits != 0 && plain < enough; bits &= bits - 1) {
        const std::int32_t node = w * 64 + lowest(bits);
        if (contains(p, set, node)) plain += node_cap(p, s, row, node);
      }
    }
    return plain;
  }
  const std::int32_t* order = p.topology[set.scan].order;
  for (std::int32_t i = set.first + lane; i < set.last && plain < enough; i += lanes) {
    if (contains(p, set, order[i])) plain += node_cap(p, s, row, order[i]);
  }
  return plain;
}

/// Range [first, last) of domains of (topology, level) that can intersect the set. Nodes at level 0 are not domains.
struct DomainRange {
  std::int32_t first, last;
};

BERTH_HD inline DomainRange domains_meeting(const ProblemView& p, const NodeSet& set, std::int32_t topology, std::int32_t level) {
  const TopologyView& f = p.topology[topology];
  if ((set.scan == topology || (set.scan == 0 && f.ranked != 0)) && set.first < set.last) {
    const std::int32_t* column = f.node_domain + std::int64_t{level} * p.n_nodes;
    return {column[f.order[set.first]], column[f.order[set.last - 1]] + 1};
  }
  return {f.level_begin[level], f.level_begin[level + 1]};
}

inline constexpr std::int32_t kFewNodes = 64;

/// Sums `per` of each domain's plain capacity in the set, over the domains of (topology, level).
template <class Per>
BERTH_HD std::int64_t sum_by_domain(const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set,
                                    std::int32_t topology, std::int32_t level, std::int32_t lane, std::int32_t lanes, const Per& per) {
  std::int64_t sum = 0;
  if (level == 0) {
    const std::int32_t* order = p.topology[set.scan].order;
    for (std::int32_t i = set.first + lane; i < set.last; i += lanes) {
      if (contains(p, set, order[i])) sum += per(node_cap(p, s, row, order[i]));
    }
    return sum;
  }
  if (set.scan != topology && set.last - set.first <= kFewNodes) {
    // The set has fewer nodes than the other topology has domains, most of which have none of them.
    const std::int32_t* order = p.topology[set.scan].order;
    const std::int32_t* column = p.topology[topology].node_domain + std::int64_t{level} * p.n_nodes;
    for (std::int32_t i = set.first + lane; i < set.last; i += lanes) {
      bool seen = false;
      for (std::int32_t k = set.first; k < i && !seen; ++k) seen = column[order[k]] == column[order[i]];
      if (seen) continue;
      std::int64_t plain = 0;
      for (std::int32_t k = i; k < set.last; ++k) {
        if (column[order[k]] == column[order[i]] && contains(p, set, order[k])) plain += node_cap(p, s, row, order[k]);
      }
      sum += per(plain);
    }
    return sum;
  }
  const DomainRange range = domains_meeting(p, set, topology, level);
  for (std::int32_t d = range.first + lane; d < range.last; d += lanes) {
    if (row.share_ppm == kWholeGpu && free_in(p, s, topology, level, d) < row.gpus) continue;
    sum += per(measure_plain(p, s, row, within(p, set, topology, level, d), 0, 1).plain);
  }
  return sum;
}

struct PerSegment {
  std::int64_t size;
  BERTH_HD std::int64_t operator()(std::int64_t cap) const { return cap / size; }
};
struct PerSpread {
  std::int64_t most;
  BERTH_HD std::int64_t operator()(std::int64_t cap) const { return cap < most ? cap : most; }
};

/// One lane's part of the measure of a set; the parts add up.
BERTH_HD inline Measure measure(const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set, std::int32_t lane,
                                std::int32_t lanes) {
  Measure m = measure_plain(p, s, row, set, lane, lanes);
  if (row.segment_size > 0) {
    m.segments = sum_by_domain(p, s, row, set, row.segment_topology, row.segment_level, lane, lanes, PerSegment{row.segment_size});
  }
  if (row.spread_most > 0) {
    m.spread = sum_by_domain(p, s, row, set, row.spread_topology, row.spread_level, lane, lanes, PerSpread{row.spread_most});
  }
  return m;
}

/// Used by one thread, for members that must all be in the set: where plain has no room for them, no other rule has.
BERTH_HD inline Measure measure_for(const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set,
                                    std::int64_t members) {
  const Measure plain = measure_plain(p, s, row, set, 0, 1);
  const bool more = row.segment_size > 0 || row.spread_most > 0;
  return !more || plain.plain < members ? plain : measure(p, s, row, set, 0, 1);
}

/// The measure of a set, computed by all threads together.
template <class Group>
BERTH_HD Measure measure_together(Group& group, const ProblemView& p, const PassState& s, const GroupRow& row, const NodeSet& set) {
  Measure m = measure(p, s, row, set, group.rank(), group.size());
  m.plain = group.sum(m.plain);
  m.raw = group.sum(m.raw);
  if (row.segment_size > 0) m.segments = group.sum(m.segments);
  if (row.spread_most > 0) m.spread = group.sum(m.spread);
  return m;
}

}  // namespace berth::kernel
