#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/core/kept/kept_pass.hpp"
#include "host/core/kept/victim_order.hpp"
#include "host/core/kept/waiting_classes.hpp"

namespace berth::core {

/// How many GPUs are in reach of jobs that found no place in a pass: free GPUs, and those of jobs behind them that may be displaced. Never
/// less than StuckJobs counts. Memory is kept between passes.
class StuckReach {
 public:
  /// Before `has` of a pass; these must outlive the calls.
  void begin(const StateImpl& state, const KeptPass& pass, const VictimOrder& running, KeySource& keys, bool class_rule) {
    s_ = &state;
    pass_ = &pass;
    running_ = &running;
    keys_ = &keys;
    class_rule_ = class_rule;
    n_types_ = 0;
  }
  /// Whether at least this number of GPUs of a type is in reach of the job at this place. O(n log n) once for n running jobs of the type,
  /// then O(log n); with classes of preemption O(n).
  bool has(const OrderPlace& place, std::int32_t gpu_type, std::int64_t gpus);

 private:
  /// A job within its guarantee, and the GPUs of it and of those behind it.
  struct Within {
    OrderPlace place;
    std::int64_t gpus = 0, with_behind = 0;
    bool operator<(const Within& other) const { return place < other.place; }
  };
  struct OfType {
    std::int32_t type = -1;
    std::int64_t borrowed = 0;  // by jobs of the last level, or free
    std::vector<Within> within;
  };
  const OfType& of_type(std::int32_t gpu_type);

  const StateImpl* s_ = nullptr;
  const KeptPass* pass_ = nullptr;
  const VictimOrder* running_ = nullptr;
  KeySource* keys_ = nullptr;
  bool class_rule_ = false;
  std::vector<OfType> types_;  // the first ones are of the pass; the others keep their memory
  std::size_t n_types_ = 0;
};

}  // namespace berth::core
