#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/shape_policy.hpp"
#include "host/policy/pollux_problem.hpp"

namespace berth::policy {

/// A question about shapes as Pollux (OSDI'21) sees it, and the answer back. Memory is kept.
class PolluxQuestion {
 public:
  /// Jobs by attained service, the least first, then by rank. Nodes with what is free, and what the jobs themselves hold; those that have
  /// nothing to give are left out. @throws InvalidArgument when `population` of them would take more than PolluxSearch::kMostCells.
  const PolluxProblem& set(const core::ShapeQuestion& question, std::int32_t population);
  /// Shapes of as many GPUs as the rows have, in the order of the question. A job that keeps type and number keeps its shape.
  void answer(const core::ShapeQuestion& question, ConstPolluxRows rows, std::span<std::int32_t> chosen) const;

 private:
  void set_order(const core::ShapeQuestion& q);
  void set_nodes(const core::ShapeQuestion& q);
  void add_current(const core::ShapeQuestion& q, std::int32_t j);
  void add_shapes(const core::ShapeQuestion& q, std::int32_t j);
  void add_limits(const core::ShapeQuestion& q, std::int32_t j);
  std::int32_t slot(const core::ShapeQuestion& q, std::int32_t j) const;

  PolluxProblem problem_;
  std::vector<std::int32_t> order_;    // the question's jobs as the problem has them
  std::vector<std::int64_t> service_;  // [jobs] of the question
  std::vector<std::int64_t> left_;     // [types]
  std::vector<std::int32_t> gpus_;     // [nodes] of the cluster
  std::vector<std::int32_t> node_of_;  // [nodes] of the cluster: in the problem, -1
  std::vector<std::int32_t> shapes_;   // of one job
};

}  // namespace berth::policy
