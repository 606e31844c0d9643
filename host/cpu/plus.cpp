#include "host/cpu/plus.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include "berth/kernel/plus_search.hpp"
#include "host/cpu/for_each.hpp"

namespace berth::cpu {
namespace {

std::size_t plus_at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

void PlusSearch::reserve(const kernel::PlusView& v, std::int32_t individuals, std::size_t lanes) {
  const std::size_t each = kernel::plus_individual_bytes(v), lane = kernel::plus_workspace_bytes(v);
  const std::size_t bytes = each * plus_at(individuals) + lane * lanes + 16;
  if (memory_.size() < bytes) memory_.resize(bytes);
  void* aligned = memory_.data();
  std::size_t room = memory_.size();
  std::align(16, bytes - 16, aligned, room);
  auto* const first = static_cast<std::byte*>(aligned);
  individuals_.clear();
  for (std::int32_t i = 0; i < individuals; ++i) individuals_.push_back(kernel::carve_plus_individual(first + each * plus_at(i), v));
  workspaces_.clear();
  std::byte* const rest = first + each * plus_at(individuals);
  for (std::size_t i = 0; i < lanes; ++i) workspaces_.push_back(kernel::carve_plus_workspace(rest + lane * i, v));
}

void PlusSearch::begin(const core::PlusTask& task, Threads& threads) {
  const kernel::PlusView& v = task.problem;
  kernel::SerialGroup group;
  kernel::plus_begin(group, v, task.request, individuals_[0], workspaces_[0]);
  const auto n = static_cast<std::int32_t>(individuals_.size());
  gene_.assign(plus_at(n), -1);
  for (std::int32_t i = 0; i < task.request.n_genes; ++i) gene_[plus_at(kernel::plus_gene_at(task.request, i))] = i;
  for_each_in_lanes(threads, n - 1, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup alone;
    const kernel::PlusIndividual& x = individuals_[plus_at(i + 1)];
    const std::int64_t gene = std::int64_t{gene_[plus_at(i + 1)]} * v.n_jobs;
    if (gene >= 0) {
      kernel::plus_grow_up(alone, v, task.request.gene + gene, task.request.order + gene, x, workspaces_[lane]);
    } else {
      kernel::plus_copy(alone, v, individuals_[0], x);
    }
  });
}

void PlusSearch::generation(const core::PlusTask& task, std::int32_t generation, Threads& threads) {
  const auto n = static_cast<std::int32_t>(individuals_.size());
  for_each_in_lanes(threads, n, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup alone;
    const std::int32_t mate = kernel::plus_mate(task.request, generation, static_cast<std::int32_t>(i));
    if (mate >= 0) {
      kernel::plus_cross(alone, task.problem, task.request, individuals_[plus_at(mate)], individuals_[plus_at(i)], workspaces_[lane]);
    }
  });
  for_each_in_lanes(threads, n, 1, [&](std::int64_t i, std::size_t lane) {
    kernel::SerialGroup alone;
    kernel::plus_improve(alone, task.problem, task.request, generation, static_cast<std::int32_t>(i), individuals_[plus_at(i)],
                         workspaces_[lane]);
  });
}

std::int32_t PlusSearch::best(std::int32_t first, std::int32_t last) const {
  std::int32_t most = first;
  for (std::int32_t i = first + 1; i < last; ++i) {
    if (*individuals_[plus_at(i)].score > *individuals_[plus_at(most)].score) most = i;
  }
  return most;
}

std::int64_t PlusSearch::best_score() const {
  return *individuals_[plus_at(best(0, static_cast<std::int32_t>(individuals_.size())))].score;
}

void PlusSearch::report(const core::PlusTask& task, const kernel::PlusResult& result) const {
  const std::int32_t jobs = task.problem.n_jobs;
  const std::int32_t each = task.request.population;
  const kernel::PlusIndividual& x = individuals_[plus_at(best(0, static_cast<std::int32_t>(individuals_.size())))];
  std::int32_t n = 0;
  for (std::int32_t job = 0; job < jobs; ++job) {
    result.row[job] = x.row[job];
    result.entry_begin[job] = n;
    for (std::int32_t e = x.entry_begin[job]; x.row[job] >= 0 && e < x.entry_end[job]; ++e) result.entries[n++] = x.entries[e];
    result.entry_end[job] = n;
  }
  for (std::int32_t island = 0; island < task.request.islands; ++island) {
    const std::int32_t most = best(island * each, (island + 1) * each);
    std::copy_n(individuals_[plus_at(most)].row, jobs, result.gene + std::int64_t{island} * jobs);
  }
}

void PlusSearch::run(const core::PlusTask& task, const kernel::PlusResult& result, int threads) {
  const std::int32_t individuals = kernel::plus_individuals(task.request);
  Threads started(std::min(threads, individuals));
  reserve(task.problem, individuals, started.n());
  begin(task, started);
  std::int32_t made = 0;
  result.score[0] = best_score();
  const auto stop = [&] { return task.watch != nullptr && task.watch->stop(made, task.request.generations); };
  while (made < task.request.generations && !stop()) {
    generation(task, made, started);
    result.score[++made] = best_score();
  }
  *result.generations = made;
  report(task, result);
}

}  // namespace berth::cpu
