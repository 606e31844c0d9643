#pragma once

#include <cstddef>
#include <cstdint>

#include "berth/kernel/base/bump_allocator.hpp"
#include "berth/kernel/victims/columns.hpp"

/// Memory of one question of `victims`. Nodes are counted from the first of the domain, candidates from the first of the question.
namespace berth::kernel {

/// What a candidate holds on one node of the domain.
struct VictimsItem {
  std::int64_t cost, cpu, memory;
  std::int32_t candidate;  // kNone: counted in the item before, which is of the same candidate
  std::int32_t priority;
  std::int32_t gpus;  // that become free when it leaves
  std::int32_t node;
};

/// What the threads of a question share.
struct VictimsShared {
  std::int64_t members;    // that fit if the chosen ones leave
  std::int32_t n_changed;  // rows of `changed`
  std::int32_t n_chosen;   // rows of `order`
};

/// A set that may leave: that of a node, or one candidate alone.
struct VictimsBest {
  std::int64_t cost, gain;
  std::int64_t rank;   // of the node; candidates come after all nodes
  std::int32_t count;  // 0: no set
  std::int32_t node;   // kNone: a candidate alone
  std::int32_t candidate;
  std::int32_t pad;
};

/// Nodes, or candidates, whose best one is remembered.
inline constexpr std::int32_t kVictimBlock = 32;

BERTH_HD constexpr std::int64_t victim_blocks(std::int64_t n) { return (n + kVictimBlock - 1) / kVictimBlock; }

struct VictimsSizes {
  std::int64_t nodes, candidates, rows;  // rows that the candidates hold, in the domain or not
  std::int64_t lanes;                    // threads that search sets of jobs at the same time
};

struct VictimsWorkspace {
  VictimsShared* shared;
  // By node.
  std::int32_t* node_begin;  // [nodes + 1] items of the node, in order of preference
  std::int32_t* node_free;   // free GPUs, -1: the job may not use the node
  std::int32_t* node_gpus;   // GPUs of the chosen ones
  std::int64_t* node_cpu;    // their cores
  std::int64_t* node_memory;
  std::int32_t* node_cap;      // members that fit if the chosen ones leave
  std::int32_t* node_most;     // members that fit if all candidates of at most the priority leave
  std::uint64_t* node_set;     // items of the cheapest set that raises `node_cap`
  std::int64_t* node_cost;     // of the set
  std::int32_t* node_count;    // of the set
  std::int64_t* node_gain;     // members that fit more on all nodes if the set leaves; 0: no set raises the node's
  std::uint8_t* node_changed;  // kVictimsSetChanged, kVictimsGainChanged
  std::int32_t* changed;       // [nodes] nodes to look at again
  // By block of nodes, and then of candidates.
  VictimsBest* block_best;
  std::int64_t* block_most;     // largest gain in it
  std::uint8_t* block_changed;  // 1: find them again
  // By candidate.
  std::int32_t* row_begin;   // [candidates + 1]
  std::int64_t* alone_gain;  // members that fit more if it leaves too
  std::uint8_t* state;       // kVictimLeaves and those after it
  std::int32_t* order;       // [candidates] chosen ones as a heap
  std::int32_t* gang_list;   // [candidates] gangs whose gain changed
  // By row of a candidate.
  std::int32_t* row_candidate;
  std::int32_t* row_node;  // kNone: not in the domain
  std::int32_t* row_item;  // place among the node's items, then the item; kNone: not in the domain
  VictimsItem* item;
  // By thread.
  std::int32_t* lane_node;
  VictimsBest* lane_best;
  std::int64_t* set_cost;    // [lanes * (kMostVictimGpus + 1)] least cost of as many GPUs, -1: none
  std::int32_t* set_count;   // [lanes * (kMostVictimGpus + 1)]
  std::uint64_t* set_taken;  // [lanes * kMostVictimGpus] for which numbers of GPUs the item is taken
};

/// @param block  Null: only counts.
/// @param lanes  Threads of the group.
/// @returns the bytes in use
BERTH_HD inline std::size_t carve_victims_workspace(std::byte* block, const VictimsSizes& n, std::int64_t lanes, VictimsWorkspace& ws) {
  BumpAllocator c{block};
  const std::int64_t blocks = victim_blocks(n.nodes) + victim_blocks(n.candidates);
  ws.shared = c.take<VictimsShared>(1);
  ws.node_begin = c.take<std::int32_t>(n.nodes + 1);
  ws.node_free = c.take<std::int32_t>(n.nodes);
  ws.node_gpus = c.take<std::int32_t>(n.nodes);
  ws.node_cpu = c.take<std::int64_t>(n.nodes);
  ws.node_memory = c.take<std::int64_t>(n.nodes);
  ws.node_cap = c.take<std::int32_t>(n.nodes);
  ws.node_most = c.take<std::int32_t>(n.nodes);
  ws.node_set = c.take<std::uint64_t>(n.nodes);
  ws.node_cost = c.take<std::int64_t>(n.nodes);
  ws.node_count = c.take<std::int32_t>(n.nodes);
  ws.node_gain = c.take<std::int64_t>(n.nodes);
  ws.node_changed = c.take<std::uint8_t>(n.nodes);
  ws.changed = c.take<std::int32_t>(n.nodes);
  ws.block_best = c.take<VictimsBest>(blocks);
  ws.block_most = c.take<std::int64_t>(blocks);
  ws.block_changed = c.take<std::uint8_t>(blocks);
  ws.row_begin = c.take<std::int32_t>(n.candidates + 1);
  ws.alone_gain = c.take<std::int64_t>(n.candidates);
  ws.state = c.take<std::uint8_t>(n.candidates);
  ws.order = c.take<std::int32_t>(n.candidates);
  ws.gang_list = c.take<std::int32_t>(n.candidates);
  ws.row_candidate = c.take<std::int32_t>(n.rows);
  ws.row_node = c.take<std::int32_t>(n.rows);
  ws.row_item = c.take<std::int32_t>(n.rows);
  ws.item = c.take<VictimsItem>(n.rows);
  ws.lane_node = c.take<std::int32_t>(lanes);
  ws.lane_best = c.take<VictimsBest>(lanes);
  ws.set_cost = c.take<std::int64_t>(n.lanes * (kMostVictimGpus + 1));
  ws.set_count = c.take<std::int32_t>(n.lanes * (kMostVictimGpus + 1));
  ws.set_taken = c.take<std::uint64_t>(n.lanes * kMostVictimGpus);
  return c.used;
}

}  // namespace berth::kernel
