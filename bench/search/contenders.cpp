#include "bench/search/contenders.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "bench/support/answer.hpp"
#include "host/core/plan_worth.hpp"
#include "host/core/state_impl.hpp"
#include "host/report/value_over_time.hpp"

namespace berth::bench {
namespace {

// Not bench::Lap: these parts run on several threads, and a budget is wall time.
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

std::int64_t worth_of(const SearchInstance& instance, const Plan& plan) {
  require_valid(instance.state, plan);
  const std::int64_t worth = core::worth_by(instance.state.impl(), plan, instance.by);
  require(worth <= instance.by.bound.bound, "a contender is worth more than the bound");
  return worth;
}

Request with_wishes(const SearchKind& kind, const std::string& policy) {
  Request request;
  request.policy = policy;
  request.params = {{"objective", kind.objective}, {"terms", kind.terms}};
  return request;
}

TimeUs budget_us(double budget_ms) { return static_cast<TimeUs>(budget_ms * 1'000); }

Attempt once(SearchInstance& instance, const SearchKind& kind, const std::string& policy) {
  const Request request = with_wishes(kind, policy);
  decide_timed(instance, request);
  std::vector<double> seconds;
  Plan plan;
  for (int i = 0; i < 3; ++i) {
    Timed timed = decide_timed(instance, request);
    seconds.push_back(timed.seconds);
    plan = std::move(timed.plan);
  }
  std::sort(seconds.begin(), seconds.end());
  return {{{seconds[1], worth_of(instance, plan)}}, 0};
}

// A search that values its plans by something else: how its plan grows is seen by asking again and again. Decisions that would take longer
// than the budget, by the one before, are not made, but for those of `published` generations at most.
Attempt by_generations(SearchInstance& instance, const std::string& policy, std::int64_t times_as_many, std::int64_t published,
                       double budget_s) {
  Attempt found;
  Request request;
  request.policy = policy;
  double expected_s = 0;
  for (std::int64_t generations = 1; generations <= 100'000; generations *= times_as_many) {
    if (expected_s > (generations <= published ? std::max(budget_s, kPolluxMost_s) : budget_s)) break;
    request.params = {{"generations", std::to_string(generations)}};
    const Timed timed = decide_timed(instance, request);
    found.reached.push_back({timed.seconds, worth_of(instance, timed.plan)});
    found.generations = generations;
    expected_s = timed.seconds * static_cast<double>(times_as_many);
  }
  std::sort(found.reached.begin(), found.reached.end(), [](const Reached& a, const Reached& b) { return a.seconds < b.seconds; });
  return found;
}

Attempt evolve(SearchInstance& instance, const SearchKind& kind, int threads, double budget_ms) {
  Request request = with_wishes(kind, "ones-plus");
  request.threads = threads;
  request.budget_us = budget_us(budget_ms);
  PolicyState nothing_kept;
  Plan plan;
  const report::ValueOverTime found = report::value_over_time(instance.engine, instance.state, nothing_kept, request, plan);
  const std::int64_t worth = worth_of(instance, plan);
  const double after_s = found.seconds - found.searched_s;
  Attempt attempt;
  for (const report::ValueStep& step : found.steps) attempt.reached.push_back({step.seconds + after_s, step.score});
  // To the search a job that moves in its shape is worth a unit less in any case, to the plan only where `migration` counts.
  const std::int64_t units = worth - attempt.reached.back().worth;
  require(units >= 0 && units <= search_jobs(instance.by.totals.gpus), "the search's last score is not what its plan is worth");
  attempt.reached.back().worth = worth;
  attempt.generations = found.generations;
  return attempt;
}

int all_threads() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

}  // namespace

std::vector<std::string> search_contenders() {
  std::vector<std::string> names{"price", "optimus", "pop", "ones", "elastic-pollux", kPlus[0]};
  if (all_threads() > 1) names.emplace_back(kPlus[1]);
  return names;
}

bool takes_part(const std::string& contender, std::int64_t gpus) { return contender != "elastic-pollux" || gpus <= kPolluxMostGpus; }

Attempt attempt(SearchInstance& instance, const SearchKind& kind, const std::string& contender, double budget_ms) {
  const double budget_s = budget_ms / 1'000;
  if (contender == "ones") return by_generations(instance, contender, 2, 0, budget_s);
  if (contender == "elastic-pollux") return by_generations(instance, contender, 10, smoke() ? 1 : kPolluxPublished, budget_s);
  if (contender == kPlus[0]) return evolve(instance, kind, 1, budget_ms);
  if (contender == kPlus[1]) return evolve(instance, kind, all_threads(), budget_ms);
  return once(instance, kind, contender);
}

std::int64_t worth_of_variant(SearchInstance& instance, const SearchKind& kind, const SearchVariant& variant, std::uint64_t seed,
                              double budget_ms) {
  Request request = with_wishes(kind, "ones-plus");
  request.params.insert(request.params.end(), variant.params.begin(), variant.params.end());
  request.seed = seed;
  request.budget_us = budget_us(budget_ms);
  PolicyState kept;
  Plan plan;
  if (variant.again) instance.engine.decide(instance.state, kept, request, plan);
  instance.engine.decide(instance.state, kept, request, plan);
  return worth_of(instance, plan);
}

}  // namespace berth::bench
