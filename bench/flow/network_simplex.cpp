#include "bench/flow/network_simplex.hpp"

#include <chrono>

#include "bench/flow/flow_network.hpp"

namespace berth::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

FlowNetwork::FlowNetwork(const FlowInstance& in) : cost(graph), capacity(graph), supply(graph, 0) {
  const int places = static_cast<int>(in.place_type.size());
  graph.reserveNode(in.jobs + in.types + 1);
  graph.reserveArc(in.jobs * in.types + places);
  const auto arc = [&](FlowGraph::Node from, FlowGraph::Node to, std::int64_t c, std::int64_t u) {
    const FlowGraph::Arc a = graph.addArc(from, to);
    cost[a] = c;
    capacity[a] = u;
    return a;
  };
  for (int t = 0; t < in.types; ++t) type.push_back(graph.addNode());
  sink = graph.addNode();
  supply[sink] = -in.jobs;
  for (int p = 0; p < places; ++p) {
    const std::size_t i = static_cast<std::size_t>(p);
    arc(type[static_cast<std::size_t>(in.place_type[i])], sink, in.place_cost[i], in.place_gpus[i]);
  }
  job.reserve(static_cast<std::size_t>(in.jobs));
  job_arc.reserve(static_cast<std::size_t>(in.jobs * in.types));
  for (int j = 0; j < in.jobs; ++j) {
    job.push_back(graph.addNode());
    supply[job.back()] = 1;
    for (int t = 0; t < in.types; ++t) {
      job_arc.push_back(arc(job.back(), type[static_cast<std::size_t>(t)], in.run_cost[static_cast<std::size_t>(j * in.types + t)], 1));
    }
  }
}

FlowOptimum solve_flow(const FlowInstance& in) {
  FlowOptimum answer;
  const auto start = std::chrono::steady_clock::now();
  const FlowNetwork network(in);
  Simplex simplex(network.graph);
  simplex.upperMap(network.capacity).costMap(network.cost).supplyMap(network.supply);
  answer.build_s = seconds_since(start);

  const auto solve = std::chrono::steady_clock::now();
  const bool optimal = simplex.run() == Simplex::OPTIMAL;
  answer.solve_s = seconds_since(solve);
  if (!optimal) return answer;

  answer.cost = simplex.totalCost<std::int64_t>();
  answer.proven = proves_optimum(
      network, [&](FlowGraph::Arc a) { return simplex.flow(a); }, [&](FlowGraph::Node n) { return simplex.potential(n); });
  return answer;
}

}  // namespace berth::bench
