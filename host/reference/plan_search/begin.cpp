#include "host/reference/plan_search/begin.hpp"

#include <cstddef>
#include <utility>

namespace berth::reference {
namespace {

using kernel::kNone;
using kernel::PlanSearchRequest;
using kernel::PlanSearchView;

// A running job that is given exactly its current GPUs is at home, regardless of how entries group them.
bool lies_at_home(const PlanSearchHolding& given, const PlanSearchHolding& home) {
  if (given.option == kNone || given.option != home.option || given.entries.size() != home.entries.size()) return false;
  for (std::size_t e = 0; e < given.entries.size(); ++e) {
    if (given.entries[e].node != home.entries[e].node || given.entries[e].mask != home.entries[e].mask) return false;
  }
  return true;
}

SearchedPlan given_plan(const PlanSearchView& view, const PlanSearchRequest& request) {
  SearchedPlan plan(view);
  for (std::int32_t job = 0; job < view.n_jobs; ++job) {
    if (request.option[job] == kNone) continue;
    PlanSearchHolding given{
        request.option[job], false, {request.entries + request.entry_begin[job], request.entries + request.entry_begin[job + 1]}};
    if (view.current[job] != kNone) {
      PlanSearchHolding home = plan_search_home(view, job);
      if (lies_at_home(given, home)) given = std::move(home);
    }
    plan.get(job, std::move(given));
  }
  plan.fill();
  return plan;
}

SearchedPlan plan_of_start(const PlanSearchView& view, const std::int32_t* start, const std::int32_t* start_order) {
  SearchedPlan plan(view);
  for (std::int32_t job = 0; job < view.n_jobs; ++job) {
    if (start[job] != kNone && start[job] == view.current[job]) plan.go_home(job);
  }
  for (std::int32_t i = 0; i < view.n_jobs; ++i) {
    const std::int32_t job = start_order[i];
    // A job without an option has none to be placed in. It gets GPUs, if any, when the plan is filled.
    if (!plan.has_something(job) && start[job] != kNone) plan.place_or_other(job, start[job]);
  }
  plan.fill();
  return plan;
}

}  // namespace

std::vector<SearchedPlan> plan_search_beginnings(const PlanSearchView& view, const PlanSearchRequest& request) {
  std::vector<SearchedPlan> individuals(static_cast<std::size_t>(kernel::plan_search_individuals(request)), given_plan(view, request));
  for (std::int32_t i = 0; i < request.n_starts; ++i) {
    const std::ptrdiff_t first = std::ptrdiff_t{i} * view.n_jobs;
    individuals[static_cast<std::size_t>(kernel::plan_search_start_at(request, i))] =
        plan_of_start(view, request.start_option + first, request.start_order + first);
  }
  return individuals;
}

}  // namespace berth::reference
