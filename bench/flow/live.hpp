#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/flow/instance.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"

namespace berth::bench {

/// The jobs of an instance on a live state: each is placed by `fifo`, greedy, on the type with room on which it runs
/// shortest. Then one job ends, one arrives, and the engine decides by changes.
class Live {
 public:
  explicit Live(const Instance& instance);

  struct Step {
    int job;          // this one ends, and the one that arrives gets its number
    double seconds;   // from the changes to the validated plan
    double commit_s;  // then the plan is applied
  };
  Step step();
  /// Run times of the jobs that are there now, and the same places.
  const FlowInstance& flow() const { return flow_; }
  const std::int64_t* run_cost(int job) const { return &flow_.run_cost[static_cast<std::size_t>(job * flow_.types)]; }
  /// Of the places that the jobs have. Ends the process when one has none.
  std::int64_t cost() const;
  /// The validator accepts the plan of a decision that lists all jobs.
  void check();

 private:
  const Instance& instance_;
  ClusterState state_;
  Engine engine_;
  Request request_;
  PolicyState memory_;
  Plan plan_;
  FlowInstance flow_;
  std::vector<std::string> id_;  // [jobs]
  std::int64_t arrived_;
  std::mt19937_64 random_{kSeed};
};

}  // namespace berth::bench
