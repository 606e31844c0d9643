#include "bench/flow/resolver.hpp"

#include <lemon/adaptors.h>
#include <lemon/dijkstra.h>

#include <cstdio>
#include <cstdlib>

#include "bench/flow/flow_network.hpp"

namespace berth::bench {
namespace {

using ArcValues = FlowGraph::ArcMap<std::int64_t>;
using NodeValues = FlowGraph::NodeMap<std::int64_t>;
using Residual = lemon::ResidualDigraph<const FlowGraph, const ArcValues, ArcValues>;

/// Length of an arc of the residual network: 0 or more while the potentials are optimal.
struct ReducedCost {
  using Key = Residual::Arc;
  using Value = std::int64_t;
  Value operator[](const Key& a) const {
    const Value forward = network->cost[a] + (*potential)[network->graph.source(a)] - (*potential)[network->graph.target(a)];
    return Residual::forward(a) ? forward : -forward;
  }
  const FlowNetwork* network;
  const NodeValues* potential;
};

using ShortestPath = lemon::Dijkstra<Residual, ReducedCost>;

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "bench/flow: %s\n", what);
  std::abort();
}

}  // namespace

struct FlowResolver::State {
  explicit State(const FlowInstance& in)
      : network(in),
        types(in.types),
        flow(network.graph, 0),
        potential(network.graph, 0),
        residual(network.graph, network.capacity, flow),
        length{&network, &potential},
        path(residual, length) {
    Simplex simplex(network.graph);
    simplex.upperMap(network.capacity).costMap(network.cost).supplyMap(network.supply);
    if (simplex.run() != Simplex::OPTIMAL) stop("the network simplex found no optimum");
    simplex.flowMap(flow);
    simplex.potentialMap(potential);
  }

  void augment(FlowGraph::Node from, FlowGraph::Node to) {
    path.init();
    path.addSource(from);
    while (!path.emptyQueue() && path.nextNode() != to) reached.push_back(path.processNextNode());
    if (path.emptyQueue()) stop("no way for a unit of flow");
    const std::int64_t distance = path.currentDist(to);
    for (FlowGraph::Node n : reached) potential[n] += path.dist(n) - distance;
    reached.clear();
    for (FlowGraph::Node n = to; n != from;) {
      const Residual::Arc a = path.predArc(n);
      n = residual.source(a);
      flow[a] += Residual::forward(a) ? 1 : -1;
    }
  }

  FlowNetwork network;
  int types;
  ArcValues flow;
  NodeValues potential;
  Residual residual;
  ReducedCost length;
  ShortestPath path;
  std::vector<FlowGraph::Node> reached;
};

FlowResolver::FlowResolver(const FlowInstance& instance) : state_(std::make_unique<State>(instance)) {}
FlowResolver::~FlowResolver() = default;

void FlowResolver::replace(int job, const std::int64_t* run_cost) {
  State& s = *state_;
  const FlowGraph::Node node = s.network.job[static_cast<std::size_t>(job)];
  const std::size_t first = static_cast<std::size_t>(job * s.types);
  for (int t = 0; t < s.types; ++t) {
    const FlowGraph::Arc arc = s.network.job_arc[first + static_cast<std::size_t>(t)];
    if (s.flow[arc] == 0) continue;
    s.flow[arc] = 0;
    s.augment(s.network.sink, s.network.type[static_cast<std::size_t>(t)]);
    break;
  }
  // The least potential that gives no arc of the job a negative reduced cost.
  for (int t = 0; t < s.types; ++t) {
    const std::int64_t least = s.potential[s.network.type[static_cast<std::size_t>(t)]] - run_cost[t];
    if (t == 0 || least > s.potential[node]) s.potential[node] = least;
    s.network.cost[s.network.job_arc[first + static_cast<std::size_t>(t)]] = run_cost[t];
  }
  s.augment(node, s.network.sink);
}

std::int64_t FlowResolver::cost() const {
  std::int64_t sum = 0;
  for (FlowGraph::ArcIt a(state_->network.graph); a != lemon::INVALID; ++a) sum += state_->network.cost[a] * state_->flow[a];
  return sum;
}

bool FlowResolver::proven() const {
  return proves_optimum(
      state_->network, [&](FlowGraph::Arc a) { return state_->flow[a]; }, [&](FlowGraph::Node n) { return state_->potential[n]; });
}

}  // namespace berth::bench
