#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/base/wide.hpp"
#include "berth/kernel/price/columns.hpp"

/// Sections 1 and 2 of docs/prices.md.
namespace berth::reference {

/// Both are zero for "none", which has no type.
struct PricedOption {
  std::int64_t value = 0;
  std::int64_t gpus = 0;
  std::size_t type = 0;
};

/// GPUs of `type` that an option takes.
inline std::int64_t gpus_of(const PricedOption& option, std::size_t type) { return option.type == type ? option.gpus : 0; }

struct PricedProblem {
  explicit PricedProblem(const kernel::PriceView& view);

  std::vector<std::int64_t> capacity;           // [types]
  std::vector<std::vector<PricedOption>> jobs;  // the first option of each job is none, the others are its rows
};

using Prices = std::vector<std::int64_t>;  // [types]

kernel::Wide net_value(const PricedOption& option, const Prices& price);

/// The choice of the jobs at given prices.
struct Evaluation {
  Prices price;
  std::vector<std::size_t> taken;  // [jobs] index among the job's options
  std::vector<std::int64_t> use;   // [types]
  kernel::Wide bound;              // D
};
Evaluation evaluate(const PricedProblem& problem, const Prices& price);

}  // namespace berth::reference
