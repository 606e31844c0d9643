#include "host/cpu/plan_search.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/plan_search/plan_search.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {}  // namespace

void CpuPlanSearch::reserve(const kernel::PlanSearchView& v, std::int32_t individuals, std::size_t lanes) {
  const std::size_t each = kernel::plan_search_individual_bytes(v), lane = kernel::plan_search_workspace_bytes(v);
  const std::size_t bytes = each * to_index(individuals) + lane * lanes + 16;
  if (memory_.size() < bytes) memory_.resize(bytes);
  void* aligned = memory_.data();
  std::size_t room = memory_.size();
  std::align(16, bytes - 16, aligned, room);
  auto* const first = static_cast<std::byte*>(aligned);
  individuals_.clear();
  for (std::int32_t i = 0; i < individuals; ++i)
    individuals_.push_back(kernel::carve_plan_search_individual(first + each * to_index(i), v));
  workspaces_.clear();
  std::byte* const rest = first + each * to_index(individuals);
  for (std::size_t i = 0; i < lanes; ++i) workspaces_.push_back(kernel::carve_plan_search_workspace(rest + lane * i, v));
}

void CpuPlanSearch::begin(const core::PlanSearchTask& task, Threads& threads) {
  const kernel::PlanSearchView& v = task.problem;
  kernel::SerialGroup group;
  kernel::plan_search_begin(group, v, task.request, individuals_[0], workspaces_[0]);
  const auto n = static_cast<std::int32_t>(individuals_.size());
  start_.assign(to_index(n), -1);
  for (std::int32_t i = 0; i < task.request.n_starts; ++i) start_[to_index(kernel::plan_search_start_at(task.request, i))] = i;
  for_each_in_lanes(threads, n - 1, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup alone;
    const kernel::PlanSearchIndividual& x = individuals_[to_index(i + 1)];
    const std::int64_t start = std::int64_t{start_[to_index(i + 1)]} * v.n_jobs;
    if (start >= 0) {
      kernel::plan_search_initialise(alone, v, task.request.start_option + start, task.request.start_order + start, x, workspaces_[lane]);
    } else {
      kernel::plan_search_copy(alone, v, individuals_[0], x);
    }
  });
}

void CpuPlanSearch::generation(const core::PlanSearchTask& task, std::int32_t generation, Threads& threads) {
  const auto n = static_cast<std::int32_t>(individuals_.size());
  for_each_in_lanes(threads, n, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup alone;
    const std::int32_t parent = kernel::plan_search_crossover(task.request, generation, static_cast<std::int32_t>(i));
    if (parent >= 0) {
      kernel::plan_search_offspring(alone, task.problem, task.request, individuals_[to_index(parent)], individuals_[to_index(i)],
                                    workspaces_[lane]);
    }
  });
  for_each_in_lanes(threads, n, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup alone;
    kernel::plan_search_improve(alone, task.problem, task.request, generation, static_cast<std::int32_t>(i), individuals_[to_index(i)],
                                workspaces_[lane]);
  });
}

std::int32_t CpuPlanSearch::best(std::int32_t first, std::int32_t last) const {
  std::int32_t most = first;
  for (std::int32_t i = first + 1; i < last; ++i) {
    if (*individuals_[to_index(i)].score > *individuals_[to_index(most)].score) most = i;
  }
  return most;
}

std::int64_t CpuPlanSearch::best_score() const {
  return *individuals_[to_index(best(0, static_cast<std::int32_t>(individuals_.size())))].score;
}

void CpuPlanSearch::report(const core::PlanSearchTask& task, const kernel::PlanSearchResult& result) const {
  const std::int32_t jobs = task.problem.n_jobs;
  const std::int32_t each = task.request.population;
  const kernel::PlanSearchIndividual& x = individuals_[to_index(best(0, static_cast<std::int32_t>(individuals_.size())))];
  std::int32_t n = 0;
  for (std::int32_t job = 0; job < jobs; ++job) {
    result.option[job] = x.option[job];
    result.entry_begin[job] = n;
    for (std::int32_t e = x.entry_begin[job]; x.option[job] >= 0 && e < x.entry_end[job]; ++e) result.entries[n++] = x.entries[e];
    result.entry_end[job] = n;
  }
  for (std::int32_t island = 0; island < task.request.islands; ++island) {
    const std::int32_t most = best(island * each, (island + 1) * each);
    std::copy_n(individuals_[to_index(most)].option, jobs, result.island_option + std::int64_t{island} * jobs);
  }
}

void CpuPlanSearch::run(const core::PlanSearchTask& task, const kernel::PlanSearchResult& result, int threads) {
  const std::int32_t individuals = kernel::plan_search_individuals(task.request);
  Threads started(std::min(threads, individuals));
  reserve(task.problem, individuals, started.n());
  begin(task, started);
  std::int32_t made = 0;
  result.score[0] = best_score();
  const auto stop = [&] { return task.stop_token != nullptr && task.stop_token->stop(made, task.request.generations); };
  while (made < task.request.generations && !stop()) {
    generation(task, made, started);
    result.score[++made] = best_score();
  }
  *result.generations = made;
  report(task, result);
}

}  // namespace berth::cpu
