#include "tests/support/problem.hpp"

#include <algorithm>
#include <numeric>

namespace berth::test {

kernel::ProblemView Problem::view() const {
  kernel::ProblemView v{};
  v.n_nodes = n_nodes();
  v.n_words = (v.n_nodes + 63) / 64;
  v.node_type = node_type.data();
  v.node_free = node_free.data();
  v.node_open = node_open.data();
  v.node_spare = node_spare.data();
  v.node_cpu = node_cpu.data();
  v.node_memory = node_memory.data();
  v.node_until = node_until.data();
  v.node_sharing = node_sharing.data();
  v.inner_begin = inner_begin.data();
  v.inner_mask = inner_mask.data();
  v.gpu_begin = gpu_begin.data();
  v.gpu_used_ppm = gpu_used_ppm.data();
  v.gpu_used_memory = gpu_used_memory.data();
  v.has_until = std::any_of(node_until.begin(), node_until.end(), [](TimeUs t) { return t != kNever; }) ? 1 : 0;
  v.n_types = n_types();
  v.type_memory = type_memory.data();
  for (std::size_t f = 0; f < topology.size(); ++f) {
    v.topology[f].levels = topology[f].levels;
    v.topology[f].ranked = std::is_sorted(topology[f].order.begin(), topology[f].order.end()) ? 1 : 0;
    v.topology[f].order = topology[f].order.data();
    v.topology[f].node_domain = topology[f].node_domain.data();
    std::copy(topology[f].level_begin.begin(), topology[f].level_begin.end(), v.topology[f].level_begin);
  }
  v.domains.n_domains = static_cast<std::int32_t>(domain_first.size());
  v.domains.first = domain_first.data();
  v.domains.last = domain_last.data();
  v.domains.child_first = domain_child_first.data();
  v.domains.child_last = domain_child_last.data();
  v.domains.parent = domain_parent.data();
  v.domains.named = domain_named.data();
  v.n_filters = n_filters;
  v.filter_words = filter_words.data();
  v.n_demands = static_cast<std::int32_t>(demands.size());
  v.demands = demands.data();
  v.groups = groups.data();
  v.n_jobs = n_jobs();
  v.n_options = static_cast<std::int32_t>(options.size());
  v.option_begin = option_begin.data();
  v.option_end = option_begin.data() + 1;
  v.options = options.data();
  v.job_queue = job_queue.data();
  v.n_queues = static_cast<std::int32_t>(queue_parent.size());
  v.queue_parent = queue_parent.data();
  v.queue_cap = queue_cap.data();
  v.queue_kept = queue_kept.empty() ? nullptr : queue_kept.data();
  v.queue_used = queue_used.data();
  v.n_held = static_cast<std::int32_t>(held.size());
  v.held_begin = held_begin.data();
  v.held_end = held_begin.data() + 1;
  v.held = held.data();
  v.held_type = held_type.data();
  return v;
}

core::PlaceTask PassCase::view() const {
  kernel::PlaceRequest r{};
  r.now = now;
  r.n = static_cast<std::int32_t>(order.size());
  r.order = order.data();
  r.running = running.data();
  r.victim_ok = victim_ok.data();
  r.preemption_class = preemption_class.data();
  r.job_rank = job_rank.data();
  r.option_run = option_run.data();
  r.may_displace = may_displace.empty() ? nullptr : may_displace.data();
  r.n_releases = static_cast<std::int32_t>(releases.size());
  r.releases = releases.data();
  r.discipline = discipline;
  r.packing = packing;
  r.preemptive = preemptive ? 1 : 0;
  r.class_rule = class_rule ? 1 : 0;
  r.max_tries = max_tries;
  r.limit = std::min(limit, r.n);
  return {r, taken};
}

PassCase pass_over(const Problem& problem) {
  const auto n = static_cast<std::size_t>(problem.n_jobs());
  PassCase pass;
  pass.order.resize(n);
  std::iota(pass.order.begin(), pass.order.end(), 0);
  pass.running.resize(n);
  for (std::size_t j = 0; j < n; ++j) pass.running[j] = problem.held_begin[j] < problem.held_begin[j + 1] ? 1 : 0;
  pass.victim_ok.assign(n, 1);
  pass.preemption_class.assign(n, 0);
  pass.job_rank = pass.order;
  pass.option_run.assign(problem.options.size(), kNever);
  return pass;
}

}  // namespace berth::test
