#include "host/core/choice/plan_search.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/plan_search/workspace.hpp"
#include "host/core/base/host_memory.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kMostGenerations = 100'000;
constexpr std::int32_t kUntimedGenerations = 64;

}  // namespace

// The options and entries of the initial plan: of jobs that stay and of jobs that the pass placed.
void PlanSearch::set_plan(const kernel::ProblemView& p, const PlacedPlan& begin) {
  const ChosenShapes choice = begin.choice.chosen();
  const kernel::PlaceRequest& pass = begin.pass.request();
  position_.assign(to_index(p.n_jobs), -1);
  for (std::int32_t i = 0; i < pass.n; ++i) position_[to_index(pass.order[i])] = i;
  begin_option_.clear();
  entries_.clear();
  begin_entries_.assign(1, 0);
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    const std::int32_t job = choice.jobs[j];
    const std::int32_t i = position_[to_index(job)];
    std::int32_t option = kernel::kNone;
    if (i < 0) {
      option = columns_.current()[j];
      for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
        entries_.push_back({p.held[h].node, 0, h - p.held_begin[job], 1, p.held[h].mask, kWholeGpu, 0});
      }
    } else if (begin.result.outcome[i] == kernel::Outcome::kPlaced) {
      option = begin.choice.option_index(j, begin.pass.option_of(job, begin.result.option[i]));
      entries_.insert(entries_.end(), begin.result.entries + begin.result.entry_begin[i], begin.result.entries + begin.result.entry_end[i]);
    }
    begin_option_.push_back(option);
    begin_entries_.push_back(static_cast<std::int32_t>(entries_.size()));
  }
}

kernel::PlanSearchResult PlanSearch::prepare(std::int32_t islands, std::int32_t generations, std::int32_t gpus) {
  const std::size_t jobs = begin_option_.size();
  option_.resize(jobs);
  entry_begin_.resize(jobs);
  entry_end_.resize(jobs);
  best_.resize(to_index(gpus));
  score_.resize(to_index(generations) + 1);
  island_option_.resize(to_index(islands) * jobs);
  return {option_.data(), entry_begin_.data(), entry_end_.data(), best_.data(), score_.data(), island_option_.data(), &generations_};
}

void PlanSearch::run(const StateImpl& s, const kernel::ProblemView& p, const PlacedPlan& begin, const PassRules& rules,
                     const SearchOrder& order, PlacementBackend& backend, StopToken& stop_token) {
  const SearchColumns::Asked asked{s, p, begin.choice, order.terms, rules};
  columns_.begin(asked);
  const kernel::PlaceRequest& pass = begin.pass.request();
  const kernel::ProblemView& visited = begin.pass.problem();
  const ChosenShapes choice = begin.choice.chosen();
  for (std::int32_t i = 0; i < pass.n; ++i) {
    const std::int32_t job = pass.order[i];
    if (choice.job_of[to_index(job)] >= 0 || begin.result.outcome[i] != kernel::Outcome::kPlaced) continue;
    const kernel::DemandRow& demand = p.demands[visited.options[visited.option_begin[job] + begin.result.option[i]].demand];
    columns_.take(job, demand, {begin.result.entries + begin.result.entry_begin[i], begin.result.entries + begin.result.entry_end[i]});
  }
  columns_.finish(asked);
  set_plan(p, begin);

  const SearchSettings& settings = order.settings;
  seeds_.set(s, begin.choice, settings, order.kept, columns_.fill_order(), columns_.current());
  const std::int32_t untimed = order.timed || order.max_iterations > 0 ? kMostGenerations : kUntimedGenerations;
  std::int64_t generations = settings.generations > 0 ? settings.generations : untimed;
  if (order.max_iterations > 0) generations = std::min(generations, order.max_iterations - 1);
  PlanSearchTask task;
  task.problem = columns_.view();
  task.request = {order.seed,         settings.population,  settings.islands,
                  settings.steps,     settings.migration,   static_cast<std::int32_t>(generations),
                  settings.operators, begin_option_.data(), begin_entries_.data(),
                  entries_.data(),    seeds_.n(),           seeds_.option(),
                  seeds_.order()};
  task.stop_token = &stop_token;
  const std::size_t each = kernel::plan_search_individual_bytes(task.problem), most = half_of_memory();
  if (each > most / to_index(kernel::plan_search_individuals(task.request))) {
    throw InvalidArgument(fmt::format(
        "ones-plus evolves populations of at most {} MiB, half of this machine's memory; {} individuals of {} KiB each are more",
        most >> 20, kernel::plan_search_individuals(task.request), each >> 10));
  }
  const kernel::ProblemView& view = task.problem.problem;
  const kernel::PlanSearchResult result =
      prepare(settings.islands, task.request.generations, view.n_nodes > 0 ? view.gpu_begin[view.n_nodes] : 0);
  backend.plan_search(task, result);
  choose(p, choice);
}

// A job at its current place stays; in the same option elsewhere, it moves.
void PlanSearch::choose(const kernel::ProblemView& p, const ChosenShapes& choice) {
  chosen_.clear();
  moved_.clear();
  for (std::size_t j = 0; j < option_.size(); ++j) {
    const std::int32_t job = choice.jobs[j];
    const bool current = option_[j] >= 0 && choice.options[to_index(option_[j])].current;
    const auto n = p.held_end[job] - p.held_begin[job];
    bool same = current && entry_end_[j] - entry_begin_[j] == n;
    for (std::int32_t e = 0; same && e < n; ++e) {
      const kernel::PlacedRow& entry = best_[to_index(entry_begin_[j] + e)];
      const kernel::HeldRow& held = p.held[p.held_begin[job] + e];
      same = entry.node == held.node && entry.mask == held.mask;
    }
    chosen_.push_back(option_[j] < 0 ? -1 : option_[j] - choice.option_begin[j]);
    moved_.push_back(current && !same ? 1 : 0);
  }
}

void PlanSearch::place(const ShapeProblem& choice, const ShapePass& pass, const PlacedPlan& earlier, const kernel::PlaceResult& result) {
  const ChosenShapes chosen = choice.chosen();
  const kernel::PlaceRequest& request = pass.request();
  std::int32_t n = 0;
  const auto append = [&](std::int32_t i, const kernel::PlacedRow* first, const kernel::PlacedRow* last) {
    result.entry_begin[i] = n;
    std::copy(first, last, result.entries + n);
    n += static_cast<std::int32_t>(last - first);
    result.entry_end[i] = n;
  };
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    const std::int32_t j = chosen.job_of[to_index(job)];
    result.displaced_by[i] = kernel::kNone;
    result.reserve_at[i] = kNever;
    result.outcome[i] = kernel::Outcome::kWaits;
    result.option[i] = kernel::kNone;
    result.entry_begin[i] = result.entry_end[i] = 0;
    if (j < 0) {
      const std::int32_t before = position_[to_index(job)];
      result.outcome[i] = earlier.result.outcome[before];
      result.option[i] = earlier.result.option[before];
      if (result.option[i] < 0) continue;
      append(i, earlier.result.entries + earlier.result.entry_begin[before], earlier.result.entries + earlier.result.entry_end[before]);
    } else if (option_[to_index(j)] >= 0) {
      result.outcome[i] = kernel::Outcome::kPlaced;
      result.option[i] = 0;  // the chosen option is tried first
      append(i, best_.data() + entry_begin_[to_index(j)], best_.data() + entry_end_[to_index(j)]);
    }
  }
  *result.n_entries = n;
}

}  // namespace berth::core
