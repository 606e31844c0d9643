#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "berth/kernel/base/to_index.hpp"

/// The search space of Pollux (OSDI'21): the number of GPUs of each node for each job.
namespace berth::policy {

/// GPUs of a job on each node, job after job: [jobs][nodes].
using PolluxRows = std::span<std::uint8_t>;
using ConstPolluxRows = std::span<const std::uint8_t>;

/// Jobs are in order of attained service, least first. A job runs on GPUs of one type, in one of its shapes there.
struct PolluxProblem {
  std::int32_t n_jobs = 0, n_nodes = 0, n_types = 0;
  std::vector<std::int32_t> node_gpus, node_type;     // [nodes] GPUs 1..64
  std::vector<std::int32_t> most_gpus, most_nodes;    // [jobs]
  std::vector<double> kept;                           // [jobs] fraction of its speed that a job keeps in a row other than `current`
  std::vector<std::uint8_t> current;                  // [jobs][nodes] current allocation
  std::vector<std::int32_t> shape_begin, shape_gpus;  // [jobs * types + 1]; GPUs ascending within a job and type
  std::vector<double> shape_speed;                    // > 0

  std::size_t cells() const { return to_index(n_jobs) * to_index(n_nodes); }
  /// The shape with the most GPUs among those that need at most `gpus`; -1: none.
  std::int32_t shape_of(std::int32_t job, std::int32_t type, std::int32_t gpus) const {
    const std::size_t i = to_index(job) * to_index(n_types) + to_index(type);
    const auto first = shape_gpus.begin() + shape_begin[i], last = shape_gpus.begin() + shape_begin[i + 1];
    const auto after = std::upper_bound(first, last, gpus);
    return after == first ? -1 : static_cast<std::int32_t>(after - shape_gpus.begin()) - 1;
  }
  bool has_shape(std::int32_t job, std::int32_t type) const {
    const std::size_t i = to_index(job) * to_index(n_types) + to_index(type);
    return shape_begin[i] < shape_begin[i + 1];
  }
};

}  // namespace berth::policy
