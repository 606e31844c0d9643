#include "host/policy/search/pollux_question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"
#include "host/policy/search/pollux_search.hpp"

namespace berth::policy {
namespace {

constexpr std::int32_t kPolluxGpus = 64, kPolluxNodes = 16;
constexpr TimeUs kPolluxRestart = 30 * kSecond;

bool holds(const core::ShapeQuestion& q, std::int32_t job) { return q.state.job().running[to_index(job)] != 0 && !q.state.lost_gpus(job); }

// Pollux: max(age - restarts x 30 s, 0) / (age + 30 s). Ours: a job that never ran has nothing to restart.
double kept_by_a_change(const StateView& s, std::int32_t job) {
  if (s.job().running[to_index(job)] == 0 && s.run_now(job) == 0) return 1;
  const auto age = static_cast<double>(std::max<TimeUs>(0, s.now() - s.job().submit[to_index(job)]));
  const double lost = static_cast<double>(kPolluxRestart) * s.jobs()[to_index(job)].job->progress.restarts;
  return std::max(0.0, age - lost) / (age + static_cast<double>(kPolluxRestart));
}

}  // namespace

std::int32_t PolluxQuestion::job_of(const core::ShapeQuestion& q, std::int32_t j) const {
  return q.options[to_index(q.problem.option_begin[order_[to_index(j)]])].job;
}

const PolluxProblem& PolluxQuestion::set(const core::ShapeQuestion& q, std::int32_t population) {
  set_order(q);
  set_nodes(q);
  const std::int64_t cells = 2 * std::int64_t{population} * problem_.n_jobs * problem_.n_nodes;
  if (cells > PolluxSearch::kMostCells) {
    throw InvalidArgument(fmt::format("elastic-pollux searches at most {} numbers (2 x population x jobs x nodes); 2 x {} x {} x {} are {}",
                                      PolluxSearch::kMostCells, population, problem_.n_jobs, problem_.n_nodes, cells));
  }
  problem_.most_gpus.clear();
  problem_.most_nodes.clear();
  problem_.kept.clear();
  problem_.current.assign(problem_.cells(), 0);
  problem_.shape_begin.assign(1, 0);
  problem_.shape_gpus.clear();
  problem_.shape_speed.clear();
  for (std::int32_t j = 0; j < problem_.n_jobs; ++j) {
    problem_.kept.push_back(kept_by_a_change(q.state, job_of(q, j)));
    add_current(q, j);
    add_shapes(q, j);
    add_limits(q, j);
  }
  return problem_;
}

void PolluxQuestion::set_order(const core::ShapeQuestion& q) {
  service_.clear();
  order_.clear();
  for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
    service_.push_back(q.state.attained_now(q.options[to_index(q.problem.option_begin[j])].job));
    order_.push_back(j);
  }
  std::sort(order_.begin(), order_.end(),
            [&](std::int32_t a, std::int32_t b) { return std::tuple(service_[to_index(a)], a) < std::tuple(service_[to_index(b)], b); });
}

// Limits each type to what the question has: free GPUs of the state may be promised to a job under repair.
void PolluxQuestion::set_nodes(const core::ShapeQuestion& q) {
  const kernel::ProblemView& p = q.state.problem();
  gpus_.clear();
  for (std::int32_t n = 0; n < p.n_nodes; ++n) gpus_.push_back(std::popcount(p.node_free[n]));
  for (std::int32_t j = 0; j < q.problem.n_jobs; ++j) {
    const std::int32_t job = job_of(q, j);
    for (std::int32_t h = p.held_begin[job]; holds(q, job) && h < p.held_end[job]; ++h) {
      gpus_[to_index(p.held[h].node)] += std::popcount(p.held[h].mask);
    }
  }
  problem_.node_gpus.clear();
  problem_.node_type.clear();
  node_of_.assign(to_index(p.n_nodes), -1);
  left_.assign(q.problem.capacity, q.problem.capacity + q.problem.n_types);
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    std::int64_t& left = left_[to_index(p.node_type[n])];
    const auto gpus = static_cast<std::int32_t>(std::min<std::int64_t>(gpus_[to_index(n)], left));
    if (gpus == 0) continue;
    left -= gpus;
    node_of_[to_index(n)] = static_cast<std::int32_t>(problem_.node_gpus.size());
    problem_.node_gpus.push_back(gpus);
    problem_.node_type.push_back(p.node_type[n]);
  }
  problem_.n_jobs = q.problem.n_jobs;
  problem_.n_types = q.problem.n_types;
  problem_.n_nodes = static_cast<std::int32_t>(problem_.node_gpus.size());
}

void PolluxQuestion::add_current(const core::ShapeQuestion& q, std::int32_t j) {
  const kernel::ProblemView& p = q.state.problem();
  const std::int32_t job = job_of(q, j);
  for (std::int32_t h = p.held_begin[job]; holds(q, job) && h < p.held_end[job]; ++h) {
    const std::int32_t n = node_of_[to_index(p.held[h].node)];
    if (n < 0) continue;
    std::uint8_t& here = problem_.current[to_index(j) * to_index(problem_.n_nodes) + to_index(n)];
    here = static_cast<std::uint8_t>(std::min(problem_.node_gpus[to_index(n)], here + std::popcount(p.held[h].mask)));
  }
}

void PolluxQuestion::add_shapes(const core::ShapeQuestion& q, std::int32_t j) {
  const std::int32_t job = order_[to_index(j)];
  shapes_.clear();
  for (std::int32_t k = q.problem.option_begin[job]; k < q.problem.option_begin[job + 1]; ++k) {
    if (q.shapes[to_index(k)].speed > 0) shapes_.push_back(k);
  }
  std::sort(shapes_.begin(), shapes_.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(q.problem.type[a], q.problem.gpus[a], q.shapes[to_index(b)].speed, a) <
           std::tuple(q.problem.type[b], q.problem.gpus[b], q.shapes[to_index(a)].speed, b);
  });
  std::size_t next = 0;
  for (std::int32_t t = 0; t < problem_.n_types; ++t) {
    for (std::int32_t last = 0; next < shapes_.size() && q.problem.type[shapes_[next]] == t; ++next) {
      const std::int32_t k = shapes_[next];
      if (q.problem.gpus[k] == last) continue;  // the fastest shape with this number of GPUs came first
      last = q.problem.gpus[k];
      problem_.shape_gpus.push_back(last);
      problem_.shape_speed.push_back(static_cast<double>(q.shapes[to_index(k)].speed) / static_cast<double>(kernel::kSpeedUnit));
    }
    problem_.shape_begin.push_back(static_cast<std::int32_t>(problem_.shape_gpus.size()));
  }
}

// Twice what the job has or its rates were seen on, 64 GPUs and 16 nodes. At least what it needs to run, and what it has.
void PolluxQuestion::add_limits(const core::ShapeQuestion& q, std::int32_t j) {
  std::int64_t seen = 0, least = INT64_MAX, has = 0;
  for (const ObservedRate& rate : q.state.jobs()[to_index(job_of(q, j))].job->progress.observed)
    seen = std::max<std::int64_t>(seen, rate.gpus);
  const auto first = problem_.shape_gpus.begin() + problem_.shape_begin[to_index(j) * to_index(problem_.n_types)];
  for (auto gpus = first; gpus != problem_.shape_gpus.end(); ++gpus) least = std::min<std::int64_t>(least, *gpus);
  std::int32_t nodes = 0;
  for (std::size_t n = 0; n < to_index(problem_.n_nodes); ++n) {
    const std::uint8_t here = problem_.current[to_index(j) * to_index(problem_.n_nodes) + n];
    has += here;
    nodes += here > 0 ? 1 : 0;
  }
  const std::int64_t pollux = std::clamp<std::int64_t>(2 * std::max(seen, has), 1, kPolluxGpus);
  const std::int64_t most = std::max({pollux, has, least == INT64_MAX ? 0 : least});
  problem_.most_gpus.push_back(static_cast<std::int32_t>(most));
  problem_.most_nodes.push_back(most > kPolluxGpus ? problem_.n_nodes : std::max(kPolluxNodes, nodes));
}

void PolluxQuestion::answer(const core::ShapeQuestion& q, ConstPolluxRows rows, std::span<std::int32_t> chosen) const {
  for (std::int32_t j = 0; j < problem_.n_jobs; ++j) {
    std::int32_t type = 0, gpus = 0;
    for (std::size_t n = 0; n < to_index(problem_.n_nodes); ++n) {
      const std::uint8_t here = rows[to_index(j) * to_index(problem_.n_nodes) + n];
      if (here > 0) type = problem_.node_type[n];
      gpus += here;
    }
    const std::int32_t job = order_[to_index(j)], first = q.problem.option_begin[job];
    std::int32_t best = -1;
    const auto rank = [&](std::int32_t k) { return std::tuple(q.options[to_index(k)].current, q.shapes[to_index(k)].speed); };
    for (std::int32_t k = first; k < q.problem.option_begin[job + 1]; ++k) {
      if (q.problem.type[k] != type || q.problem.gpus[k] != gpus || q.shapes[to_index(k)].speed <= 0) continue;
      if (best < 0 || rank(k) > rank(best)) best = k;
    }
    chosen[to_index(job)] = best < 0 ? -1 : best - first;
  }
}

}  // namespace berth::policy
