#include "host/reference/plan_search/plan_search.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "host/reference/base/philox.hpp"
#include "host/reference/plan_search/begin.hpp"
#include "host/reference/plan_search/crossover.hpp"
#include "host/reference/plan_search/step.hpp"

namespace berth::reference {
namespace {

using kernel::PlanSearchDraw;
using kernel::PlanSearchOperator;
using kernel::PlanSearchRequest;
using kernel::PlanSearchView;

class SerialPlanSearch {
 public:
  SerialPlanSearch(const PlanSearchView& view, const PlanSearchRequest& request)
      : view_(view),
        request_(request),
        population_(static_cast<std::size_t>(request.population)),
        individuals_(plan_search_beginnings(view, request)) {}

  // Sections 4 and 5.
  void make_generation(std::int32_t generation) {
    std::vector<std::int32_t> forced(individuals_.size(), 0);  // steps of each individual
    for (std::size_t i = 0; i < individuals_.size(); ++i) {
      if (!takes(i, generation) || take_from_parent(view_, individuals_[parent_of(i, generation)], individuals_[i])) continue;
      if (does(PlanSearchOperator::kMutate)) forced[i] = kernel::kPlanSearchForced;
    }
    for (std::size_t i = 0; i < individuals_.size(); ++i) {
      for (std::int32_t s = 0; s < request_.steps; ++s) {
        take_step(view_, request_.operators, numbers_of_step(i, generation, s), s < forced[i], individuals_[i]);
      }
      individuals_[i].fill();
    }
  }

  const SearchedPlan& best() const { return best_of(0, individuals_.size()); }
  const SearchedPlan& best_of_island(std::int32_t island) const {
    const std::size_t first = static_cast<std::size_t>(island) * population_;
    return best_of(first, first + population_);
  }

 private:
  bool does(PlanSearchOperator one) const { return kernel::has_operator(request_.operators, one); }

  std::uint32_t number(PlanSearchDraw purpose, std::size_t individual, std::int32_t generation, std::size_t n) const {
    return drawn_number(request_.seed, static_cast<std::uint32_t>(generation), static_cast<std::uint32_t>(purpose), individual, n);
  }

  // A step draws three blocks of four words.
  PlanSearchNumbers numbers_of_step(std::size_t individual, std::int32_t generation, std::int32_t step) const {
    PlanSearchNumbers numbers{};
    std::size_t n = 12 * static_cast<std::size_t>(step);
    for (auto* words : {&numbers.a, &numbers.b, &numbers.c}) {
      for (std::uint32_t& word : *words) word = number(PlanSearchDraw::kStep, individual, generation, n++);
    }
    return numbers;
  }

  bool takes(std::size_t individual, std::int32_t generation) const {
    const std::size_t here = individual % population_;
    return does(PlanSearchOperator::kCrossover) && population_ > 1 && here % 2 == static_cast<std::size_t>(generation) % 2;
  }

  // The individual itself where it takes nothing in this generation.
  std::size_t parent_of(std::size_t individual, std::int32_t generation) const {
    const auto islands = static_cast<std::size_t>(request_.islands);
    const std::size_t here = individual % population_;
    std::size_t island = individual / population_;
    if (does(PlanSearchOperator::kMigrate) && islands > 1 && (generation + 1) % request_.migration == 0) island = (island + 1) % islands;
    const std::uint32_t drawn = number(PlanSearchDraw::kCrossover, individual, generation, 0);
    return island * population_ + (here + 1 + 2 * drawn_below(drawn, population_ / 2)) % population_;
  }

  const SearchedPlan& best_of(std::size_t begin, std::size_t end) const {
    std::size_t best = begin;
    for (std::size_t i = begin; i < end; ++i) {
      if (individuals_[i].score() > individuals_[best].score()) best = i;
    }
    return individuals_[best];
  }

  const PlanSearchView& view_;
  const PlanSearchRequest& request_;
  std::size_t population_;
  std::vector<SearchedPlan> individuals_;
};

void write_plan(const PlanSearchView& view, const SearchedPlan& plan, const kernel::PlanSearchResult& result) {
  std::int32_t n = 0;
  for (std::int32_t job = 0; job < view.n_jobs; ++job) {
    result.option[job] = plan.option_of(job);
    result.entry_begin[job] = n;
    for (const kernel::PlacedRow& entry : plan.held_by(job).entries) {
      result.entries[n] = entry;
      result.entries[n++].pad = 0;
    }
    result.entry_end[job] = n;
  }
}

}  // namespace

void plan_search(const PlanSearchView& view, const PlanSearchRequest& request, const kernel::PlanSearchResult& result,
                 const std::function<bool(std::int32_t made)>& stop) {
  SerialPlanSearch search(view, request);
  std::int32_t made = 0;
  result.score[0] = search.best().score();
  while (made < request.generations && !(stop && stop(made))) {
    search.make_generation(made);
    result.score[++made] = search.best().score();
  }
  *result.generations = made;
  write_plan(view, search.best(), result);
  std::int32_t* start = result.island_option;
  for (std::int32_t island = 0; island < request.islands; ++island) {
    const SearchedPlan& best = search.best_of_island(island);
    for (std::int32_t job = 0; job < view.n_jobs; ++job) *start++ = best.option_of(job);
  }
}

}  // namespace berth::reference
