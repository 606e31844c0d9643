#pragma once

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <cstdint>
#include <vector>

#include "bench/flow/network_simplex.hpp"

/// C++17: LEMON does not compile as C++20.
namespace berth::bench {

using FlowGraph = lemon::SmartDigraph;
using Simplex = lemon::NetworkSimplex<FlowGraph, std::int64_t, std::int64_t>;

/// The network of an instance: job -> type -> sink, with an arc to the sink for each place.
struct FlowNetwork {
  explicit FlowNetwork(const FlowInstance& in);

  FlowGraph graph;
  FlowGraph::ArcMap<std::int64_t> cost, capacity;
  FlowGraph::NodeMap<std::int64_t> supply;
  std::vector<FlowGraph::Node> type, job;
  std::vector<FlowGraph::Arc> job_arc;  // [jobs * types]
  FlowGraph::Node sink;
};

/// The flow keeps to capacities and supplies, and the potentials leave no arc that improves it.
template <class Flow, class Potential>
bool proves_optimum(const FlowNetwork& n, const Flow& flow, const Potential& potential) {
  FlowGraph::NodeMap<std::int64_t> out(n.graph, 0);
  for (FlowGraph::ArcIt a(n.graph); a != lemon::INVALID; ++a) {
    const std::int64_t f = flow(a);
    const std::int64_t reduced = n.cost[a] + potential(n.graph.source(a)) - potential(n.graph.target(a));
    if (f < 0 || f > n.capacity[a] || (reduced < 0 && f < n.capacity[a]) || (reduced > 0 && f > 0)) return false;
    out[n.graph.source(a)] += f;
    out[n.graph.target(a)] -= f;
  }
  for (FlowGraph::NodeIt i(n.graph); i != lemon::INVALID; ++i) {
    if (out[i] != n.supply[i]) return false;
  }
  return true;
}

}  // namespace berth::bench
