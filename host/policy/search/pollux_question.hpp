#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/policy_api/shape_policy.hpp"
#include "host/policy/search/pollux_problem.hpp"

namespace berth::policy {

/// A question about shapes as Pollux (OSDI'21) sees it, and the answer. Keeps its memory.
class PolluxQuestion {
 public:
  /// Jobs by attained service, least first, then by rank. Nodes have their free GPUs and those that the jobs hold.
  /// Nodes without GPUs to give are left out.
  /// @throws InvalidArgument when `population` individuals would exceed PolluxSearch::kMostCells.
  const PolluxProblem& set(const core::ShapeQuestion& question, std::int32_t population);
  /// Shapes with the numbers of GPUs of the rows, in the order of the question. A job that keeps type and number keeps its shape.
  void answer(const core::ShapeQuestion& question, ConstPolluxRows rows, std::span<std::int32_t> chosen) const;

 private:
  void set_order(const core::ShapeQuestion& q);
  void set_nodes(const core::ShapeQuestion& q);
  void add_current(const core::ShapeQuestion& q, std::int32_t j);
  void add_shapes(const core::ShapeQuestion& q, std::int32_t j);
  void add_limits(const core::ShapeQuestion& q, std::int32_t j);
  std::int32_t job_of(const core::ShapeQuestion& q, std::int32_t j) const;

  PolluxProblem problem_;
  std::vector<std::int32_t> order_;    // the question's jobs in the order of the problem
  std::vector<std::int64_t> service_;  // [jobs] of the question
  std::vector<std::int64_t> left_;     // [types]
  std::vector<std::int32_t> gpus_;     // [nodes] of the cluster
  std::vector<std::int32_t> node_of_;  // [nodes] of the cluster: index in the problem, or -1
  std::vector<std::int32_t> shapes_;   // of one job
};

}  // namespace berth::policy
