#include <algorithm>

#include "cuda/mirror.cuh"

namespace berth::cuda {

// A column that the list below does not know would reach the device as a host address.
static_assert(sizeof(kernel::ProblemView) == 632, "ProblemView changed: mirror its new columns, then change this number");

/// Replaces the host address by the device's.
template <class T>
void Mirror::follow_column(const T*& column, std::int64_t n) {
  FollowedColumn& mine = columns_.at(next_++);
  if (column == nullptr) return;
  mine.follow(column, static_cast<std::size_t>(n) * sizeof(T), stream_);
  sent_ += mine.sent();
  column = static_cast<const T*>(mine.device());
}

DeviceProblem Mirror::follow(const kernel::ProblemView& problem, cudaStream_t stream) {
  stream_ = stream;
  next_ = 0;
  sent_ = 0;
  kernel::ProblemView v = problem;
  const std::int64_t nodes = problem.n_nodes, jobs = problem.n_jobs, domains = problem.domains.n_domains;
  const std::int64_t quotas = std::int64_t{problem.n_queues} * (problem.n_types + 1);
  std::int64_t groups = 0;
  for (std::int32_t d = 0; d < problem.n_demands; ++d) groups = std::max<std::int64_t>(groups, problem.demands[d].group_end);

  follow_column(v.node_type, nodes);
  follow_column(v.node_free, nodes);
  follow_column(v.node_open, nodes);
  follow_column(v.node_spare, nodes);
  follow_column(v.node_cpu, nodes);
  follow_column(v.node_memory, nodes);
  follow_column(v.node_until, nodes);
  follow_column(v.node_sharing, nodes);
  follow_column(v.inner_begin, nodes + 1);
  follow_column(v.inner_mask, problem.inner_begin == nullptr ? 0 : problem.inner_begin[nodes]);
  follow_column(v.gpu_begin, nodes + 1);
  const std::int64_t gpus = problem.gpu_begin == nullptr ? 0 : problem.gpu_begin[nodes];
  follow_column(v.gpu_used_ppm, gpus);
  follow_column(v.gpu_used_memory, gpus);
  follow_column(v.type_memory, problem.n_types);
  for (kernel::FacetView& facet : v.facet) {
    follow_column(facet.order, nodes);
    follow_column(facet.node_domain, facet.levels * nodes);
  }
  follow_column(v.domains.first, domains);
  follow_column(v.domains.last, domains);
  follow_column(v.domains.child_first, domains);
  follow_column(v.domains.child_last, domains);
  follow_column(v.domains.parent, domains);
  follow_column(v.domains.named, domains);
  follow_column(v.filter_words, std::int64_t{problem.n_filters} * problem.n_words);
  follow_column(v.demands, problem.n_demands);
  follow_column(v.groups, groups);
  follow_column(v.option_begin, jobs + 1);
  follow_column(v.options, problem.option_begin == nullptr ? 0 : problem.option_begin[jobs]);
  follow_column(v.job_queue, jobs);
  follow_column(v.queue_parent, problem.n_queues);
  follow_column(v.queue_cap, quotas);
  follow_column(v.queue_used, quotas);
  follow_column(v.held_begin, jobs + 1);
  follow_column(v.held, problem.held_begin == nullptr ? 0 : problem.held_begin[jobs]);
  follow_column(v.held_type, jobs);
  return DeviceProblem{v};
}

}  // namespace berth::cuda
