#include "host/core/network/traffic.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/network/double_tree.hpp"
#include "host/core/network/hops.hpp"
#include "host/core/state/span.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kSwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);

std::int64_t count(std::span<const NodeMembers> nodes) {
  std::int64_t members = 0;
  for (const NodeMembers& here : nodes) members += here.members;
  return members;
}

// A node once, ascending.
void by_node(std::vector<NodeMembers>& nodes) {
  std::sort(nodes.begin(), nodes.end(), [](const NodeMembers& a, const NodeMembers& b) { return a.node < b.node; });
  std::size_t kept = 0;
  for (const NodeMembers& one : nodes) {
    if (kept > 0 && nodes[kept - 1].node == one.node) {
      nodes[kept - 1].members += one.members;
    } else {
      nodes[kept++] = one;
    }
  }
  nodes.resize(kept);
}

}  // namespace

bool Traffic::stated(const Shape& shape) {
  return std::any_of(shape.groups.begin(), shape.groups.end(), [](const Group& group) { return !group.communication.empty(); });
}

void Traffic::add(std::int32_t link, std::int64_t out, std::int64_t in) {
  if ((out > 0 || in > 0) && links_.bytes_per_s(link) > 0) flows_.push_back({link, out, in});
}

bool Traffic::same_nvlink(std::int32_t a, std::int32_t b) const {
  const Topologies& topologies = impl_of(state_).topologies;
  return topologies.nvlink_domain(a) >= 0 && topologies.nvlink_domain(a) == topologies.nvlink_domain(b);
}

// Nodes are in order of domain path, so a domain's nodes stand together.
void Traffic::add_domains(std::span<const NodeMembers> nodes, std::int64_t bytes) {
  const Topologies& topologies = impl_of(state_).topologies;
  for (std::int32_t level = 1; level + 1 < topologies.levels(kSwitch); ++level) {
    const std::int32_t first = topologies.domain_of(kSwitch, level, nodes.front().node);
    if (first == topologies.domain_of(kSwitch, level, nodes.back().node)) return;
    std::int32_t seen = -1;
    for (const NodeMembers& here : nodes) {
      const std::int32_t domain = topologies.domain_of(kSwitch, level, here.node);
      if (domain != seen) add(links_.of_domain(domain), bytes, bytes);
      seen = domain;
    }
  }
}

// Every node, and every domain below the level that they span, sends so much and gets so much.
void Traffic::add_all(std::span<const NodeMembers> nodes, std::int64_t bytes) {
  for (const NodeMembers& here : nodes) add(links_.of_node(here.node), bytes, bytes);
  add_domains(nodes, bytes);
}

void Traffic::all_reduce(CommAlgorithm algorithm, std::span<const NodeMembers> nodes, std::int64_t bytes) {
  const auto n = static_cast<std::int64_t>(nodes.size());
  if (n < 2) return;
  delay(nodes, hop_count(algorithm, n), hop_ns(impl_of(state_), nodes));
  const bool inside =
      std::all_of(nodes.begin(), nodes.end(), [&](const NodeMembers& here) { return same_nvlink(here.node, nodes[0].node); });
  if (inside) return;
  switch (algorithm) {
    case CommAlgorithm::kRing:
      return add_all(nodes, mul_div(bytes, 2 * (n - 1), n));
    case CommAlgorithm::kSharded:
      return add_all(nodes, mul_div(bytes, 3 * (n - 1), n));
    case CommAlgorithm::kInNetwork:
      return add_all(nodes, bytes);
    case CommAlgorithm::kTree:
      return tree(nodes, bytes);
  }
}

// Each of the two trees carries half of the bytes up and down every edge.
void Traffic::tree(std::span<const NodeMembers> nodes, std::int64_t bytes) {
  const auto n = static_cast<std::int64_t>(nodes.size());
  const std::int64_t second = bytes / 2;
  const std::int64_t first = bytes - second;
  const auto at = [&](std::int64_t position) { return nodes[to_index(position)].node; };
  for (std::int64_t below = 1; below < n; ++below) {
    const std::int64_t above = first_tree_parent(below, n);
    edge(at(below), at(above), first, first);
    edge(at(second_tree_position(below, n)), at(second_tree_position(above, n)), second, second);
  }
}

// Every member of `from` sends `bytes` in all, evenly to the members of `to`; both by node.
void Traffic::exchange(std::span<const NodeMembers> from, std::span<const NodeMembers> to, std::int64_t bytes) {
  const std::int64_t all_to = count(to);
  if (all_to == 0 || from.empty()) return;
  // To one node after the other, without that of the sender.
  all_.assign(from.begin(), from.end());
  all_.insert(all_.end(), to.begin(), to.end());
  by_node(all_);
  const bool every_sender_gets = all_.size() == to.size();
  delay(all_, static_cast<std::int64_t>(to.size()) - (every_sender_gets ? 1 : 0), hop_ns(impl_of(state_), all_));
  for (std::int32_t level = 0; level + 1 < impl_of(state_).topologies.levels(kSwitch); ++level) {
    const auto moves = [&](std::int64_t members, std::int64_t elsewhere) { return saturate(Wide{bytes} * members * elsewhere / all_to); };
    leave(level, from, to,
          [&](std::int32_t link, std::int64_t members, std::int64_t elsewhere) { add(link, moves(members, elsewhere), 0); });
    leave(level, to, from,
          [&](std::int32_t link, std::int64_t members, std::int64_t elsewhere) { add(link, 0, moves(members, elsewhere)); });
  }
}

// Each segment of the members for itself.
void Traffic::exchange_segments(std::int32_t size, std::int64_t bytes) {
  std::int32_t room = 0;
  const auto close = [&] {
    by_node(peers_);
    exchange(peers_, peers_, bytes);
    peers_.clear();
    room = size;
  };
  peers_.clear();
  room = size;
  for (const NodeMembers& here : members_) {
    for (std::int32_t left = here.members; left > 0;) {
      const std::int32_t take = std::min(left, room);
      peers_.push_back({here.node, take});
      left -= take;
      room -= take;
      if (room == 0) close();
    }
  }
  if (!peers_.empty()) close();
}

// Calls use(link, members of `here` behind it, members of `there` that are not behind it) for each link of a level. What is
// in the NVLink domain of a node counts as behind its NICs.
template <class Use>
void Traffic::leave(std::int32_t level, std::span<const NodeMembers> here, std::span<const NodeMembers> there, const Use& use) {
  const Topologies& topologies = impl_of(state_).topologies;
  const auto place = [&](std::int32_t node) {
    const std::int32_t domain = level == 0 ? topologies.nvlink_domain(node) : topologies.domain_of(kSwitch, level, node);
    return domain < 0 ? links_.of_node(node) : links_.of_domain(domain);
  };
  behind_.resize(to_index(links_.size()));
  for (const NodeMembers& one : there) behind_[to_index(place(one.node))] += one.members;
  const std::int64_t all = count(there);
  for (std::size_t i = 0; i < here.size();) {
    const std::int32_t where = place(here[i].node);
    const std::int32_t link = level == 0 ? links_.of_node(here[i].node) : where;
    std::int64_t members = here[i++].members;
    for (; level > 0 && i < here.size() && place(here[i].node) == where; ++i) members += here[i].members;
    use(link, members, all - behind_[to_index(where)]);
  }
  for (const NodeMembers& one : there) behind_[to_index(place(one.node))] = 0;
}

void Traffic::edge(std::int32_t from, std::int32_t to, std::int64_t forward, std::int64_t back) {
  if (from == to || same_nvlink(from, to)) return;
  const Topologies& topologies = impl_of(state_).topologies;
  add(links_.of_node(from), forward, back);
  add(links_.of_node(to), back, forward);
  for (std::int32_t level = 1; level + 1 < topologies.levels(kSwitch); ++level) {
    const std::int32_t a = topologies.domain_of(kSwitch, level, from);
    const std::int32_t b = topologies.domain_of(kSwitch, level, to);
    if (a == b) return;
    add(links_.of_domain(a), forward, back);
    add(links_.of_domain(b), back, forward);
  }
}

// Member i of `from` sends to member i n / m of the n of `to`, which sends as much back.
void Traffic::pipe(std::span<const NodeMembers> from, std::span<const NodeMembers> to, std::int64_t bytes, bool back) {
  const std::int64_t m = count(from);
  const std::int64_t n = count(to);
  if (m == 0 || n == 0) return;
  std::int64_t hop = 0;
  std::int64_t i = 0;
  std::int64_t passed = 0;  // members of `to` on the nodes before `at`
  std::size_t at = 0, last = 0;
  for (const NodeMembers& here : from) {
    for (std::int32_t k = 0; k < here.members; ++k, ++i) {
      const std::int64_t counterpart = i * n / m;
      while (counterpart >= passed + to[at].members) passed += to[at++].members;
      edge(here.node, to[at].node, bytes, back ? bytes : 0);
      if (k == 0 || at != last) hop = std::max(hop, edge_hop_ns(here.node, to[at].node));  // another pair of nodes
      last = at;
    }
  }
  all_.assign(from.begin(), from.end());
  all_.insert(all_.end(), to.begin(), to.end());
  by_node(all_);
  delay(all_, back ? 2 : 1, hop);
}

void Traffic::chain(std::span<const NodeMembers> nodes, std::int64_t bytes) {
  std::int64_t hop = 0;
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    edge(nodes[i - 1].node, nodes[i].node, bytes, bytes);
    hop = std::max(hop, edge_hop_ns(nodes[i - 1].node, nodes[i].node));
  }
  all_.assign(nodes.begin(), nodes.end());
  by_node(all_);
  delay(all_, 2, hop);
}

std::int64_t Traffic::edge_hop_ns(std::int32_t a, std::int32_t b) const {
  if (a == b) return 0;
  const NodeMembers ends[] = {{std::min(a, b), 1}, {std::max(a, b), 1}};
  return hop_ns(impl_of(state_), ends);
}

// Nodes once, ascending.
void Traffic::delay(std::span<const NodeMembers> nodes, std::int64_t times, std::int64_t each_ns) {
  const std::int64_t ns = saturating_mul(times, each_ns);
  if (ns == 0) return;
  for (const NodeMembers& here : nodes) delays_.push_back({here.node, ns});
}

void Traffic::add_group(const Shape& shape, std::size_t group, std::span<const PlanEntry> entries) {
  for (const Communication& one : shape.groups[group].communication) {
    if (one.bytes_per_step == 0) continue;
    set_members_at_work(shape, entries, static_cast<std::int32_t>(group), members_);
    if (one.peer.empty()) {
      if (one.kind == CommKind::kPp) {
        chain(members_, one.bytes_per_step);
        continue;
      }
      const bool inside = one.kind == CommKind::kTp && shape.groups[group].gpus_per_member > 1;
      if (inside) continue;
      if (one.kind == CommKind::kEp && shape.groups[group].segment) {
        exchange_segments(shape.groups[group].segment->size, one.bytes_per_step);
        continue;
      }
      by_node(members_);
      if (one.kind == CommKind::kTp || one.kind == CommKind::kDp) {
        all_reduce(one.algorithm, members_, one.bytes_per_step);
      } else {
        exchange(members_, members_, one.bytes_per_step);
      }
      continue;
    }
    std::size_t peer = 0;
    while (peer < shape.groups.size() && shape.groups[peer].name != one.peer) ++peer;
    if (peer == shape.groups.size()) continue;
    set_members_at_work(shape, entries, static_cast<std::int32_t>(peer), peers_);
    if (one.kind == CommKind::kEp || one.kind == CommKind::kKv) {
      by_node(members_);
      by_node(peers_);
      exchange(members_, peers_, one.bytes_per_step);
    } else {
      pipe(members_, peers_, one.bytes_per_step, one.kind == CommKind::kPp);
    }
  }
}

// Sums by link, then the direction that carries more.
void Traffic::merge() {
  std::sort(flows_.begin(), flows_.end(), [](const Flow& a, const Flow& b) { return a.link < b.link; });
  for (std::size_t i = 0; i < flows_.size();) {
    Flow sum{flows_[i].link, 0, 0};
    for (; i < flows_.size() && flows_[i].link == sum.link; ++i) {
      sum.out = saturating_add(sum.out, flows_[i].out);
      sum.in = saturating_add(sum.in, flows_[i].in);
    }
    rows_.push_back({sum.link, std::max(sum.out, sum.in)});
  }
}

// Sums by node, then the most.
void Traffic::merge_delays() {
  std::sort(delays_.begin(), delays_.end(), [](const NodeDelay& a, const NodeDelay& b) { return a.node < b.node; });
  for (std::size_t i = 0; i < delays_.size();) {
    const std::int32_t node = delays_[i].node;
    std::int64_t sum = 0;
    for (; i < delays_.size() && delays_[i].node == node; ++i) sum = saturating_add(sum, delays_[i].ns);
    latency_ns_ = std::max(latency_ns_, sum);
  }
}

std::span<const LinkBytes> Traffic::of(const Job& job, const Shape& shape, std::span<const PlanEntry> entries) {
  rows_.clear();
  flows_.clear();
  delays_.clear();
  latency_ns_ = 0;
  if (entries.empty()) return rows_;
  if (stated(shape)) {
    for (std::size_t group = 0; group < shape.groups.size(); ++group) add_group(shape, group, entries);
    merge_delays();
  } else if (job.profile.gradient_bytes > 0) {
    set_nodes_at_work(shape, entries, nodes_);
    members_.clear();
    for (const NodeGpus& here : nodes_) members_.push_back({here.node, here.gpus});
    all_reduce(CommAlgorithm::kRing, members_, job.profile.gradient_bytes);
  }
  merge();
  return rows_;
}

}  // namespace berth::core
