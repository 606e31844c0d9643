#include "bench/plan_search/contenders.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "bench/plan_search/sruf_fill.hpp"
#include "bench/support/answer.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/report/value_over_time.hpp"

namespace berth::bench {
namespace {

// Not bench::Lap: these parts run on several threads, and a budget is wall-clock time.
struct Timed {
  Plan plan;
  double seconds;
};

Timed decide_timed(SearchInstance& instance, const Request& request) {
  Timed timed;
  PolicyState nothing_kept;
  const auto begin = std::chrono::steady_clock::now();
  instance.engine.decide(instance.state, nothing_kept, request, timed.plan);
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return timed;
}

Request with_wishes(const SearchKind& kind, const std::string& policy) {
  Request request;
  request.policy = policy;
  request.params = {{"objective", kind.objective}, {"terms", kind.terms}};
  return request;
}

TimeUs budget_us(double budget_ms) { return static_cast<TimeUs>(budget_ms * 1'000); }

// After one warm-up, except for slow ones, where that one counts.
template <class Decide>
SearchAttempt median_of_three(SearchInstance& instance, const Decide& decide) {
  Timed timed = decide();
  std::vector<double> seconds(3, timed.seconds);
  for (double& one : seconds) {
    if (timed.seconds > kSlow_s) break;
    timed = decide();
    one = timed.seconds;
  }
  std::sort(seconds.begin(), seconds.end());
  SearchAttempt found;
  found.reached.push_back({seconds[1], objective_value(instance, timed.plan)});
  return found;
}

SearchAttempt once(SearchInstance& instance, const SearchKind& kind, const std::string& policy) {
  if (policy == instance.by.policy && instance.by_s > kSlow_s) {
    SearchAttempt found;
    found.reached.push_back({instance.by_s, instance.by.bound.value});
    return found;
  }
  const Request request = with_wishes(kind, policy);
  return median_of_three(instance, [&] { return decide_timed(instance, request); });
}

SearchAttempt by_rule(SearchInstance& instance, core::ShapePolicy& rule) {
  return median_of_three(instance, [&] {
    Timed timed;
    const auto begin = std::chrono::steady_clock::now();
    instance.rules.decide(instance.state, instance.by, rule, timed.plan);
    timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return timed;
  });
}

SearchAttempt without_places(SearchInstance& instance, double most_s) {
  SearchAttempt found;
  found.is_plan = false;
  if (!has_solver()) {
    found.why = "built without GLPK";
    return found;
  }
  if (!instance.solved) instance.solved = solve_choice(instance.state.impl(), instance.by, most_s);
  if (instance.solved->ended) {
    require(instance.solved->value <= instance.by.bound.bound, "the value of the best choice is above the bound");
    found.reached.push_back({instance.solved->seconds, instance.solved->value});
  } else {
    found.why = fmt::format("did not finish in {:g} s", most_s);
  }
  return found;
}

SearchAttempt with_places(SearchInstance& instance, double most_s) {
  SearchAttempt found = without_places(instance, most_s);
  if (found.reached.empty()) return found;
  AsSolved rule(*instance.solved);
  SearchAttempt placed = by_rule(instance, rule);
  placed.reached[0].seconds += found.reached[0].seconds;
  return placed;
}

// A search with another objective: its progress is measured by repeated decisions with ever more generations.
// Decisions that would exceed the budget, judged by the previous one, are skipped, except for those of at most
// `published` generations. Where half of the budget or more would be left, a last decision uses the generations that
// fit.
SearchAttempt by_generations(SearchInstance& instance, const std::string& policy, std::int64_t times_as_many, std::int64_t published,
                             double budget_s) {
  SearchAttempt found;
  found.until_s = budget_s;
  Request request;
  request.policy = policy;
  bool last = false;
  for (std::int64_t generations = 1; generations > 0 && generations <= 100'000;) {
    request.params = {{"generations", std::to_string(generations)}};
    const Timed timed = decide_timed(instance, request);
    found.reached.push_back({timed.seconds, objective_value(instance, timed.plan)});
    found.until_s = std::max(found.until_s, timed.seconds);
    found.generations = generations;
    const double each_s = timed.seconds / static_cast<double>(generations);
    const std::int64_t next = generations * times_as_many;
    const double most_s = next <= published ? std::max(budget_s, kPolluxMost_s) : budget_s;
    if (last) break;
    last = each_s * static_cast<double>(next) > most_s;
    const bool worthwhile = timed.seconds < budget_s / 2;
    generations = !last ? next : worthwhile ? static_cast<std::int64_t>(0.9 * budget_s / each_s) : 0;
  }
  std::sort(found.reached.begin(), found.reached.end(), [](const ReachedValue& a, const ReachedValue& b) { return a.seconds < b.seconds; });
  return found;
}

SearchAttempt evolve(SearchInstance& instance, const SearchKind& kind, int threads, double budget_ms) {
  Request request = with_wishes(kind, "ones-plus");
  request.threads = threads;
  request.budget_us = budget_us(budget_ms);
  PolicyState nothing_kept;
  Plan plan;
  const report::ValueOverTime found = report::value_over_time(instance.engine, instance.state, nothing_kept, request, plan);
  const std::int64_t value = objective_value(instance, plan);
  const double after_s = found.seconds - found.searched_s;
  SearchAttempt attempt;
  attempt.until_s = std::max(budget_ms / 1'000, found.seconds);
  for (const report::ValueStep& step : found.steps) attempt.reached.push_back({step.seconds + after_s, step.score});
  // In the search a job that moves in its shape always costs one unit, in the plan only where `migration` counts.
  const std::int64_t units = value - attempt.reached.back().value;
  require(units >= 0 && units <= search_jobs(instance.gpus), "the search's last score is not the value of its plan");
  attempt.reached.back().value = value;
  attempt.generations = found.generations;
  return attempt;
}

int all_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace

std::vector<std::string> search_contenders() {
  std::vector<std::string> names{"price", "sruf-fill", "optimus", "pop", kSolved[0], kSolved[1], "ones", "elastic-pollux", kPlus[0]};
  if (all_threads() > 1) names.emplace_back(kPlus[1]);
  return names;
}

bool takes_part(const std::string& contender, const SearchKind& kind, std::int64_t gpus) {
  if (contender == "elastic-pollux") return gpus <= kPolluxMostGpus;
  if (contender == "ones") return gpus <= kOnesMostGpus;
  if (contender == kSolved[0] || contender == kSolved[1]) return &kind == &kSearchKinds[0] && gpus <= kSolverMostGpus;
  return true;
}

SearchAttempt attempt(SearchInstance& instance, const SearchKind& kind, const std::string& contender, const SearchAxes& axes) {
  const double budget_ms = search_budget_ms(axes, contender, kind.name, instance.gpus);
  const double budget_s = budget_ms / 1'000;
  if (contender == "ones") return by_generations(instance, contender, 2, 0, budget_s);
  if (contender == "elastic-pollux") return by_generations(instance, contender, 10, smoke() ? 1 : kPolluxPublished, budget_s);
  if (contender == kPlus[0]) return evolve(instance, kind, 1, budget_ms);
  if (contender == kPlus[1]) return evolve(instance, kind, all_threads(), budget_ms);
  if (contender == kSolved[0]) return without_places(instance, axes.solver_s);
  if (contender == kSolved[1]) return with_places(instance, axes.solver_s);
  SrufFill sruf;
  if (contender == "sruf-fill") return by_rule(instance, sruf);
  return once(instance, kind, contender);
}

std::int64_t value_of_variant(SearchInstance& instance, const SearchKind& kind, const SearchVariant& variant, std::uint64_t seed,
                              double budget_ms) {
  Request request = with_wishes(kind, "ones-plus");
  request.params.insert(request.params.end(), variant.params.begin(), variant.params.end());
  request.seed = seed;
  request.budget_us = budget_us(budget_ms);
  PolicyState kept;
  Plan plan;
  if (variant.again) instance.engine.decide(instance.state, kept, request, plan);
  instance.engine.decide(instance.state, kept, request, plan);
  return objective_value(instance, plan);
}

}  // namespace berth::bench
