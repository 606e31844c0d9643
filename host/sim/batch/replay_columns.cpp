#include "host/sim/batch/replay_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/model/costs.hpp"
#include "host/sim/base/estimator.hpp"

namespace berth::sim {

ReplayColumns::ReplayColumns(const Trace& trace, const Overheads& overheads, const std::vector<std::int32_t>& pool_of, std::int32_t pools)
    : trace_(trace) {
  std::vector<std::pair<std::int32_t, std::int32_t>> lines;  // pool, GPUs
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) lines.emplace_back(pool_of[j], trace.jobs[j].gpus);
  std::vector<std::pair<std::int32_t, std::int32_t>> distinct = lines;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<std::int32_t> jobs_of(distinct.size() + 1, 0);
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const TraceJob& job = trace.jobs[j];
    const ModelOverheads& costs = overheads.of(job.model);
    submit_.push_back(job.submit_us);
    run_.push_back(job.run_us);
    start_cost_.push_back(costs.start_us);
    restart_cost_.push_back(core::displace_cost(costs.costs));
    move_cost_.push_back(core::migrate_cost(costs.costs));
    line_.push_back(static_cast<std::int32_t>(std::lower_bound(distinct.begin(), distinct.end(), lines[j]) - distinct.begin()));
    ++jobs_of[to_index(line_.back()) + 1];
  }
  std::partial_sum(jobs_of.begin(), jobs_of.end(), jobs_of.begin());
  line_begin_ = std::move(jobs_of);
  for (const auto& [pool, gpus] : distinct) {
    line_pool_.push_back(pool);
    line_gpus_.push_back(gpus);
  }
  for (std::int32_t pool = 0; pool <= pools; ++pool) {
    pool_line_.push_back(static_cast<std::int32_t>(std::lower_bound(line_pool_.begin(), line_pool_.end(), pool) - line_pool_.begin()));
  }
}

kernel::ReplayView ReplayColumns::view() const {
  return {static_cast<std::int32_t>(submit_.size()),
          static_cast<std::int32_t>(pool_line_.size()) - 1,
          static_cast<std::int32_t>(line_pool_.size()),
          submit_.data(),
          run_.data(),
          line_.data(),
          start_cost_.data(),
          restart_cost_.data(),
          move_cost_.data(),
          line_pool_.data(),
          line_gpus_.data(),
          line_begin_.data(),
          pool_line_.data()};
}

const ReplayOrder& ReplayColumns::order(const ReplaySpec& spec, core::QueuePolicy& policy, kernel::ReplayKey kind) {
  std::string name;  // empty: by place in the trace, as in `fifo` and in each queue of `las`
  if (kind != kernel::ReplayKey::kLevel && spec.policy != "fifo") {
    const bool drawn = spec.estimates.rfind("noise:", 0) == 0;
    name = fmt::format("{} {} {} {}", spec.policy, spec.estimates, drawn ? spec.seed : 0, static_cast<const void*>(spec.run_us.data()));
    for (const auto& [param, value] : spec.params) name += fmt::format(" {}={}", param, value);
  }
  std::unique_ptr<ReplayOrder>& order = orders_[name];
  if (order == nullptr) order = std::make_unique<ReplayOrder>(make_order(spec, policy, kind));
  return *order;
}

ReplayOrder ReplayColumns::make_order(const ReplaySpec& spec, core::QueuePolicy& policy, kernel::ReplayKey kind) const {
  ReplayOrder order;
  const std::size_t n = submit_.size();
  if (kind != kernel::ReplayKey::kLevel && spec.policy != "fifo") {
    const Estimator estimator(spec.estimates, spec.seed);
    std::vector<std::int32_t> priority, gpus, rows(n);
    std::vector<std::int64_t> remaining, attained(n, 0), deadline;
    const std::vector<std::uint8_t> running(n, 0);
    std::vector<const std::string*> id;
    for (std::size_t j = 0; j < n; ++j) {
      TraceJob job;
      job.run_us = spec.run_us.empty() ? run_[j] : spec.run_us[j];
      order.estimate.push_back(estimator.run_time(job, static_cast<std::int64_t>(j)));
      remaining.push_back(order.estimate.back() == kNever ? kNever : std::max<std::int64_t>(1, order.estimate.back()));
      priority.push_back(trace_.jobs[j].priority);
      gpus.push_back(trace_.jobs[j].gpus);
      deadline.push_back(trace_.jobs[j].deadline_us);
      id.push_back(&trace_.jobs[j].id);
    }
    std::iota(rows.begin(), rows.end(), 0);
    order.key.resize(n);
    policy.keys({submit_.data(), priority.data(), gpus.data(), order.estimate.data(), remaining.data(), attained.data(), deadline.data(),
                 running.data(), id.data(), nullptr},
                0, rows, order.key);
  }
  // Jobs of a line are in the order of the trace before they are sorted by key.
  std::vector<std::int32_t> next(line_begin_.begin(), line_begin_.end());
  order.job_at.resize(n);
  for (std::size_t j = 0; j < n; ++j) order.job_at[to_index(next[to_index(line_[j])]++)] = static_cast<std::int32_t>(j);
  for (std::size_t l = 0; !order.key.empty() && l + 1 < line_begin_.size(); ++l) {
    std::stable_sort(order.job_at.begin() + line_begin_[l], order.job_at.begin() + line_begin_[l + 1],
                     [&](std::int32_t a, std::int32_t b) { return order.key[to_index(a)] < order.key[to_index(b)]; });
  }
  order.position.resize(n);
  for (std::size_t p = 0; p < n; ++p) order.position[to_index(order.job_at[p])] = static_cast<std::int32_t>(p);
  return order;
}

}  // namespace berth::sim
