#include "berth/engine.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/backends.hpp"
#include "host/core/chosen_policy.hpp"
#include "host/core/overruns.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/plan_search.hpp"
#include "host/core/plan_validator.hpp"
#include "host/core/search_history.hpp"
#include "host/core/shape_choice.hpp"
#include "host/core/state_impl.hpp"
#include "host/core/walk_input.hpp"
#include "host/core/walk_problem.hpp"
#include "host/core/walk_result.hpp"

namespace berth {
namespace {

constexpr int kMostLooks = 4;  // at where what was chosen finds places

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double s = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return s;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// So many microseconds from now; none where the clock cannot count so far.
std::chrono::steady_clock::time_point deadline_after(std::int64_t budget_us) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const auto most = std::chrono::floor<std::chrono::microseconds>(Clock::time_point::max() - now);
  return budget_us < most.count() ? now + std::chrono::microseconds(budget_us) : Clock::time_point::max();
}

}  // namespace

class EngineImpl {
 public:
  core::ChosenPolicy chosen;
  core::Backends backends;
  core::WalkInput input;
  core::ShapeChoice choice;
  core::ChoiceWalk choice_walk, other_walk;  // the other one: the best so far while another is tried
  core::PlanSearch search;
  core::WalkProblem problem;
  core::WalkResult result, other_result;
  core::Overruns overruns;
  core::PlanBuilder builder;
  core::PlanValidator validator;
  core::CertificateMemory certificates;  // a certificate costs a look at every node: checked once, before and after the walk
  std::weak_ptr<const int> served;       // the state of the last decision
  std::atomic<bool> cancelled{false};
  kernel::ProblemView walked{};  // of the decision in hand
  kernel::PlaceRequest walk{};

  /// Versions number the changes of one state: what is kept by version is of no use for another state.
  void serve(const StateImpl& s) {
    if (served.lock() == s.identity) return;
    input = {};
    choice = {};
    builder = {};
    validator = {};
    certificates = {};
    served = s.identity;
  }

  void decide(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan);

 private:
  void order_jobs(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state, const Request& request);
  void choose_shapes(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state, const Request& request,
                     core::Watch& watch, Plan& plan);
  kernel::PlaceResult place(const Request& request, core::Watch* watch, Plan& plan);
  kernel::PlaceResult place_shapes(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state,
                                   const Request& request, core::Watch& watch, Plan& plan);
  kernel::PlaceResult search_plans(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state,
                                   const Request& request, const kernel::PlaceResult& begin, core::Watch& watch, Plan& plan);
  void walk_choice(const StateImpl& s, const core::WalkInput::Marks& marks);
  void build_plan(const StateImpl& s, const kernel::PlaceResult& placed, Plan& plan);
  kernel::PlaceResult better_of(const StateImpl& s, const kernel::PlaceResult& begin, const kernel::PlaceResult& found, Plan& plan);
  bool searches() const { return chosen.choice.search.population > 0; }
  std::int64_t work() const { return searches() ? search.work() : choice.work(); }

  std::vector<std::int32_t> obtained_;  // [jobs of the choice]
  // What a search began with.
  std::vector<std::int32_t> chosen_before_;
  std::vector<std::uint8_t> moved_before_;
  kernel::PlaceRequest walk_before_{};
  kernel::ProblemView walked_before_{};
};

Engine::Engine() : impl_(std::make_unique<EngineImpl>()) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::cancel() noexcept { impl_->cancelled.store(true, std::memory_order_relaxed); }

Plan Engine::decide(const ClusterState& state, const Request& request) {
  PolicyState policy_state;
  Plan plan;
  decide(state, policy_state, request, plan);
  return plan;
}

void Engine::decide(const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan) {
  try {
    impl_->decide(state.impl(), policy_state, request, plan);
  } catch (...) {
    // What is kept between decisions may be half done: begin anew.
    impl_->served.reset();
    impl_->chosen.entry = nullptr;
    throw;
  }
}

void EngineImpl::order_jobs(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state,
                            const Request& request) {
  input.order(s, *chosen.entry, *chosen.policy, policy_state, marks);
  walk = input.request(s, *chosen.entry, chosen.rules, marks, request.work_limit);
  walked = problem.view();
}

void EngineImpl::choose_shapes(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state,
                               const Request& request, core::Watch& watch, Plan& plan) {
  const core::ChoiceOrder order{chosen.choice, chosen.shapes.get(), policy_state, request.seed, request.work_limit};
  input.look(s);
  backends.run(request.backend, request.threads, plan.backend_note,
               [&](core::PlacementBackend& backend) { choice.choose(s, problem.view(), marks, order, backend, watch); });
  walk_choice(s, marks);
}

void EngineImpl::walk_choice(const StateImpl& s, const core::WalkInput::Marks& marks) {
  choice_walk.build(s, problem.view(), marks, choice.chosen(), chosen.rules);
  walk = choice_walk.request();
  walked = choice_walk.problem();
}

kernel::PlaceResult EngineImpl::place(const Request& request, core::Watch* watch, Plan& plan) {
  const kernel::PlaceResult placed = result.prepare(walk.n, core::entry_bound(walked));
  const core::Scenario scenario{walk, {}, watch};
  plan.backend = backends.run(request.backend, request.threads, plan.backend_note,
                              [&](core::PlacementBackend& backend) { backend.place(walked, scenario, placed); });
  return placed;
}

// What was chosen is carried out, however late it is. Where prices chose, what found no place is left out and the choice made again, as
// long as that gains something (docs/prices.md, section 6).
kernel::PlaceResult EngineImpl::place_shapes(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state,
                                             const Request& request, core::Watch& watch, Plan& plan) {
  kernel::PlaceResult best = place(request, nullptr, plan);
  if (chosen.shapes != nullptr) return best;
  const core::ChoiceOrder order{chosen.choice, nullptr, policy_state, request.seed, request.work_limit};
  choice_walk.obtained(choice.chosen(), best, obtained_);
  std::int64_t value = choice.value_in(obtained_);
  for (int look = 1; look < kMostLooks; ++look) {
    bool again = false;
    backends.run(request.backend, request.threads, plan.backend_note,
                 [&](core::PlacementBackend& backend) { again = choice.choose_again(order, obtained_, backend, watch); });
    if (!again) break;
    const kernel::PlaceRequest best_walk = walk;
    const kernel::ProblemView best_walked = walked;
    std::swap(choice_walk, other_walk);
    std::swap(result, other_result);
    walk_choice(s, marks);
    const kernel::PlaceResult placed = place(request, nullptr, plan);
    choice_walk.obtained(choice.chosen(), placed, obtained_);
    const std::int64_t value_again = choice.value_in(obtained_);
    if (value_again <= value) {
      choice.take_back();
      std::swap(choice_walk, other_walk);
      std::swap(result, other_result);
      walk = best_walk;
      walked = best_walked;
      break;
    }
    value = value_again;
    best = placed;
  }
  return best;
}

// From a walk whose options are those of the jobs.
void EngineImpl::build_plan(const StateImpl& s, const kernel::PlaceResult& placed, Plan& plan) {
  const bool shapes = chosen.policy == nullptr;
  const core::WalkOutput output{&walk,
                                &placed,
                                &walked,
                                &problem.lost(),
                                &problem.mended(),
                                &problem.mends(),
                                &input.remaining(),
                                shapes ? &choice : nullptr,
                                shapes ? &choice_walk.left() : nullptr};
  builder.build(s, output, plan);
  if (shapes) {
    choice.report(s, chosen.choice, plan);
  } else {
    plan.bound = {};
  }
}

// The search knows how a gang lies by class, loads of links not at all, and counts a unit for each who moves: where it went astray, its
// beginning stands.
kernel::PlaceResult EngineImpl::better_of(const StateImpl& s, const kernel::PlaceResult& begin, const kernel::PlaceResult& found,
                                          Plan& plan) {
  const std::int64_t worth = plan.bound.value;
  const kernel::PlaceRequest found_walk = walk;
  const kernel::ProblemView found_walked = walked;
  const auto exchange = [&] {
    choice.exchange(chosen_before_, moved_before_);
    std::swap(choice_walk, other_walk);
    std::swap(result, other_result);
  };
  exchange();
  walk = walk_before_;
  walked = walked_before_;
  choice_walk.translate(problem.view(), walked, walk, begin);
  overruns.withdraw(s, walked, walk, begin);
  build_plan(s, begin, plan);
  if (plan.bound.value >= worth) return begin;
  exchange();
  walk = found_walk;
  walked = found_walked;
  build_plan(s, found, plan);
  return found;
}

kernel::PlaceResult EngineImpl::search_plans(const StateImpl& s, const core::WalkInput::Marks& marks, const PolicyState& policy_state,
                                             const Request& request, const kernel::PlaceResult& begin, core::Watch& watch, Plan& plan) {
  const core::SearchOrder order{chosen.choice.search, chosen.choice.terms, policy_state,
                                request.seed,         request.work_limit,  request.budget_us > 0};
  plan.backend = backends.run(request.backend, request.threads, plan.backend_note, [&](core::PlacementBackend& backend) {
    search.run(s, problem.view(), {choice, choice_walk, begin}, chosen.rules, order, backend, watch);
  });
  chosen_before_.assign(search.chosen().begin(), search.chosen().end());
  moved_before_.assign(search.moved().begin(), search.moved().end());
  choice.exchange(chosen_before_, moved_before_);
  walk_before_ = walk;
  walked_before_ = walked;
  std::swap(choice_walk, other_walk);
  std::swap(result, other_result);
  walk_choice(s, marks);
  const kernel::PlaceResult placed = result.prepare(walk.n, core::entry_bound(walked));
  search.place(choice, choice_walk, {choice, other_walk, begin}, placed);
  return placed;
}

void EngineImpl::decide(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan) {
  core::check_threads(request.threads);
  if (request.work_limit < 0 || request.budget_us < 0) throw InvalidArgument("a limit of work or time is not negative");
  core::Watch watch;
  watch.cancelled = &cancelled;
  if (request.budget_us > 0) watch.deadline = deadline_after(request.budget_us);
  if (request.progress) watch.progress = &request.progress;
  chosen.choose(request.policy, request.params);
  if (!policy_state.policy.empty() && policy_state.policy != request.policy) {
    throw InvalidArgument("the policy state is of '" + policy_state.policy + "', not of '" + request.policy + "'");
  }

  Stopwatch total;
  Stopwatch step;
  plan.timing = {};
  serve(s);
  problem.build(s, chosen.rules);
  const bool chooses_shapes = chosen.policy == nullptr;
  core::WalkInput::Marks marks{problem.lost(), problem.mended(), builder.decline(s, problem.view(), certificates)};
  if (chooses_shapes) marks.impossible = builder.impossible(s, problem.view());
  plan.timing.compile_s = step.lap();
  chooses_shapes ? choose_shapes(s, marks, policy_state, request, watch, plan) : order_jobs(s, marks, policy_state, request);
  plan.timing.order_s = step.lap();

  watch.n = walk.n;
  kernel::PlaceResult placed = chooses_shapes ? place_shapes(s, marks, policy_state, request, watch, plan) : place(request, &watch, plan);
  const kernel::PlaceResult begin = placed;
  if (searches()) placed = search_plans(s, marks, policy_state, request, begin, watch, plan);
  cancelled.store(false, std::memory_order_relaxed);
  if (chooses_shapes) choice_walk.translate(problem.view(), walked, walk, placed);
  overruns.withdraw(s, walked, walk, placed);
  plan.timing.place_s = step.lap();

  plan.revision = s.revision;
  plan.now_us = s.now;
  plan.policy = request.policy;
  plan.params = request.params;
  plan.seed = request.seed;
  const bool cut = watch.stopped_at >= 0;
  const std::int32_t limit = cut && !chooses_shapes ? watch.stopped_at : walk.limit;
  plan.work_done = chooses_shapes ? work() : limit;
  const bool out_of_work = chooses_shapes ? request.work_limit > 0 && work() >= request.work_limit : walk.limit < walk.n;
  plan.stopped_by = cut ? (watch.by_cancel ? "cancel" : "budget") : out_of_work ? "work" : "done";
  plan.tables = s.tables_hash();
  plan.order_until_us = chooses_shapes ? kNever : input.order_until(s, *chosen.entry, *chosen.policy, placed);
  build_plan(s, placed, plan);
  if (searches()) placed = better_of(s, begin, placed, plan);
  if (searches()) {
    core::set_history(search.history(), 0, plan.history);
  } else {
    core::set_history(chosen.shapes == nullptr ? std::span<const std::int64_t>{} : chosen.shapes->history(), 1, plan.history);
  }
  plan.timing.reasons_s = step.lap();

  core::ValidateOptions options;
  options.known = &certificates;
  const std::vector<std::string>& violations = validator.check(s.facts(), plan, options);
  if (!violations.empty()) {
    std::string text = "the plan of policy '" + request.policy + "' failed validation:";
    for (const std::string& v : violations) text += "\n  " + v;
    throw InternalError(text);
  }
  // Only now: a decision that fails leaves the caller's state as it was.
  chooses_shapes ? choice.keep(s, policy_state) : core::WalkInput::keep(s, *chosen.policy, policy_state);
  if (chosen.shapes != nullptr) chosen.shapes->store(policy_state);
  if (searches() && core::has_seed(chosen.choice.search.seeds, core::SearchSeed::kKept)) search.store(choice, policy_state);
  policy_state.policy = request.policy;
  plan.timing.validate_s = step.lap();
  plan.timing.decide_s = total.lap();
}

}  // namespace berth
