#include "bench/flow/network_simplex.hpp"

#include <lemon/network_simplex.h>
#include <lemon/smart_graph.h>

#include <chrono>

namespace berth::bench {
namespace {

using FlowGraph = lemon::SmartDigraph;
using Simplex = lemon::NetworkSimplex<FlowGraph, std::int64_t, std::int64_t>;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

FlowOptimum solve_flow(const FlowInstance& in) {
  FlowOptimum answer;
  const auto start = std::chrono::steady_clock::now();
  FlowGraph graph;
  const int places = static_cast<int>(in.place_type.size());
  graph.reserveNode(in.jobs + in.types + 1);
  graph.reserveArc(in.jobs * in.types + places);
  FlowGraph::ArcMap<std::int64_t> cost(graph), capacity(graph);
  FlowGraph::NodeMap<std::int64_t> supply(graph, 0);
  const auto arc = [&](FlowGraph::Node from, FlowGraph::Node to, std::int64_t c, std::int64_t u) {
    const FlowGraph::Arc a = graph.addArc(from, to);
    cost[a] = c;
    capacity[a] = u;
  };
  std::vector<FlowGraph::Node> type;
  for (int t = 0; t < in.types; ++t) type.push_back(graph.addNode());
  const FlowGraph::Node sink = graph.addNode();
  supply[sink] = -in.jobs;
  for (int p = 0; p < places; ++p) {
    const std::size_t i = static_cast<std::size_t>(p);
    arc(type[static_cast<std::size_t>(in.place_type[i])], sink, in.place_cost[i], in.place_gpus[i]);
  }
  for (int j = 0; j < in.jobs; ++j) {
    const FlowGraph::Node job = graph.addNode();
    supply[job] = 1;
    for (int t = 0; t < in.types; ++t) {
      arc(job, type[static_cast<std::size_t>(t)], in.run_cost[static_cast<std::size_t>(j * in.types + t)], 1);
    }
  }
  Simplex simplex(graph);
  simplex.upperMap(capacity).costMap(cost).supplyMap(supply);
  answer.build_s = seconds_since(start);

  const auto solve = std::chrono::steady_clock::now();
  const bool optimal = simplex.run() == Simplex::OPTIMAL;
  answer.solve_s = seconds_since(solve);
  if (!optimal) return answer;

  answer.cost = simplex.totalCost<std::int64_t>();
  answer.proven = true;
  FlowGraph::NodeMap<std::int64_t> out(graph, 0);
  for (FlowGraph::ArcIt a(graph); a != lemon::INVALID; ++a) {
    const std::int64_t flow = simplex.flow(a);
    const std::int64_t reduced = cost[a] + simplex.potential(graph.source(a)) - simplex.potential(graph.target(a));
    const bool slack = (reduced >= 0 || flow == capacity[a]) && (reduced <= 0 || flow == 0);
    answer.proven = answer.proven && slack && flow >= 0 && flow <= capacity[a];
    out[graph.source(a)] += flow;
    out[graph.target(a)] -= flow;
  }
  for (FlowGraph::NodeIt n(graph); n != lemon::INVALID; ++n) answer.proven = answer.proven && out[n] == supply[n];
  return answer;
}

}  // namespace berth::bench
