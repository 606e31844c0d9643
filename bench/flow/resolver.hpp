#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bench/flow/network_simplex.hpp"

/// C++17: LEMON does not compile as C++20.
namespace berth::bench {

/// Keeps an optimal flow optimal while jobs are replaced.
///
/// LEMON's `NetworkSimplex` cannot go on from its last basis: `run` always starts from the artificial one, and the tree
/// is private. Its flow and potentials are public. They are enough to solve a changed instance exactly. A job that ends
/// leaves a unit at the sink that its type lacks, and a job that arrives has a unit to bring to the sink. Each takes one
/// shortest path in the residual network, found by LEMON's `Dijkstra` on reduced costs.
class FlowResolver {
 public:
  /// Solves the instance by the network simplex.
  explicit FlowResolver(const FlowInstance& instance);
  ~FlowResolver();
  FlowResolver(const FlowResolver&) = delete;
  FlowResolver& operator=(const FlowResolver&) = delete;

  /// Job `job` ends, and one with these costs [types] takes its number.
  void replace(int job, const std::int64_t* run_cost);

  std::int64_t cost() const;
  /// As `FlowOptimum::proven`.
  bool proven() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::bench
