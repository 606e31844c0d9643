#include "host/reference/place/capacity.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace berth::reference {

using kernel::GroupRow;
using kernel::kNoLimit;
using kernel::ProblemView;

NodeList all_nodes(const ProblemView& p) {
  NodeList nodes(static_cast<std::size_t>(p.n_nodes));
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

std::int32_t domain_of(const ProblemView& p, std::int32_t topology, std::int32_t level, std::int32_t node) {
  if (level == 0) return node;
  return p.topology[topology].node_domain[static_cast<std::ptrdiff_t>(level) * p.n_nodes + node];
}

bool usable(const Trial& ask, std::int32_t node) {
  const ProblemView& p = *ask.problem;
  const std::uint64_t word = p.filter_words[static_cast<std::ptrdiff_t>(ask.demand->filter) * p.n_words + node / 64];
  if ((word >> (node % 64) & 1) == 0) return false;
  if (p.node_until[node] == kNever) return true;
  return ask.run != kNever && ask.start + ask.run <= p.node_until[node];
}

std::int64_t share_room(const Trial& ask, const State& s, const GroupRow& group, std::int32_t node, std::int32_t gpu) {
  const ProblemView& p = *ask.problem;
  const auto row = static_cast<std::size_t>(p.gpu_begin[node] + gpu);
  const bool whole_free = (s.free[static_cast<std::size_t>(node)] >> gpu & 1) != 0;
  const bool open = (p.node_open[node] >> gpu & 1) != 0;
  if (!whole_free && (s.used_ppm[row] <= 0 || !open)) return 0;
  std::int64_t room = (kWholeGpu - s.used_ppm[row]) / group.share_ppm;
  const std::int64_t type_memory = p.type_memory[p.node_type[node]];
  if (type_memory != 0 && group.gpu_memory != 0) room = std::min(room, (type_memory - s.used_memory[row]) / group.gpu_memory);
  return std::clamp<std::int64_t>(room, 0, open ? kWholeGpu : 1);
}

Size size_of(const Trial& ask, const State& s, const GroupRow& group, std::int32_t node) {
  if (!usable(ask, node)) return {0, 0};
  const ProblemView& p = *ask.problem;
  const auto n = static_cast<std::size_t>(node);
  const std::int64_t raw = std::popcount(s.free[n]);
  std::int64_t cap = 0;
  if (group.share_ppm == kWholeGpu) {
    cap = raw / group.gpus;
  } else if (p.node_sharing[node] != 0) {
    for (std::int32_t g = 0; g < p.gpu_begin[node + 1] - p.gpu_begin[node]; ++g) cap += share_room(ask, s, group, node, g);
  }
  if (group.cpu != 0 && s.cpu[n] != kNoLimit) cap = std::min(cap, s.cpu[n] / group.cpu);
  if (group.memory != 0 && s.memory[n] != kNoLimit) cap = std::min(cap, s.memory[n] / group.memory);
  cap = std::max<std::int64_t>(cap, 0);
  return {cap, group.share_ppm == kWholeGpu ? raw : cap};
}

Size plain_size(const Trial& ask, const State& s, const GroupRow& group, const NodeList& set) {
  Size sum{0, 0};
  for (const std::int32_t node : set) {
    const Size one = size_of(ask, s, group, node);
    sum.cap += one.cap;
    sum.raw += one.raw;
  }
  return sum;
}

Size full_size(const Trial& ask, const State& s, const GroupRow& group, const NodeList& set) {
  const ProblemView& p = *ask.problem;
  Size size = plain_size(ask, s, group, set);
  if (group.segment_size > 0) {
    std::map<std::int32_t, std::int64_t> caps;
    for (const std::int32_t node : set)
      caps[domain_of(p, group.segment_topology, group.segment_level, node)] += size_of(ask, s, group, node).cap;
    std::int64_t segments = 0;
    for (const auto& one : caps) segments += one.second / group.segment_size;
    size.cap = std::min(size.cap, segments * group.segment_size);
  }
  if (group.spread_most > 0) {
    std::map<std::int32_t, std::int64_t> caps;
    for (const std::int32_t node : set)
      caps[domain_of(p, group.spread_topology, group.spread_level, node)] += size_of(ask, s, group, node).cap;
    std::int64_t members = 0;
    for (const auto& one : caps) members += std::min<std::int64_t>(one.second, group.spread_most);
    size.cap = std::min(size.cap, members);
  }
  return size;
}

std::int64_t free_gpus(const Trial& ask, const State& s, const NodeList& set) {
  std::int64_t sum = 0;
  for (const std::int32_t node : set) {
    if (usable(ask, node)) sum += std::popcount(s.free[static_cast<std::size_t>(node)]);
  }
  return sum;
}

}  // namespace berth::reference
