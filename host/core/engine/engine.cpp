#include "berth/engine.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/choice/plan_search.hpp"
#include "host/core/choice/search_history.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/pass_result.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/state_view.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth {
namespace {

constexpr int kMostLooks = 4;  // maximum number of choices until all find places

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

/// N microseconds from now; none where the clock would overflow.
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
  core::PassInput input;
  core::ShapeProblem choice;
  core::ShapePass shape_pass, other_pass;  // the other one: the best so far while another is tried
  core::PlanSearch search;
  core::PassProblem problem;
  core::PassResult result, other_result;
  core::Overruns overruns;
  core::PlanBuilder builder;
  core::PlanValidator validator;
  core::CertificateMemory certificates;  // a certificate needs a pass over all nodes: checked once, before and after the scheduling pass
  std::weak_ptr<const int> served;       // the state of the last decision
  std::atomic<bool> cancelled{false};
  kernel::ProblemView visited{};  // of the current decision
  kernel::PlaceRequest pass{};

  /// Versions count the changes of one state: results kept by version are not valid for another state.
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
  void order_jobs(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request);
  void choose_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request,
                     core::StopToken& stop_token, Plan& plan);
  kernel::PlaceResult place(const Request& request, core::StopToken* stop_token, Plan& plan);
  kernel::PlaceResult place_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                   const Request& request, core::StopToken& stop_token, Plan& plan);
  kernel::PlaceResult search_plans(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                   const Request& request, const kernel::PlaceResult& begin, core::StopToken& stop_token, Plan& plan);
  void pass_choice(const StateImpl& s, const core::PassInput::Marks& marks);
  void build_plan(const StateImpl& s, const kernel::PlaceResult& placed, Plan& plan);
  kernel::PlaceResult better_of(const StateImpl& s, const kernel::PlaceResult& begin, const kernel::PlaceResult& found, Plan& plan);
  bool searches() const { return chosen.choice.search.population > 0; }
  std::int64_t work() const { return searches() ? search.work() : choice.work(); }

  std::vector<std::int32_t> obtained_;  // [jobs of the choice]
  // The choice that a search started from.
  std::vector<std::int32_t> chosen_before_;
  std::vector<std::uint8_t> moved_before_;
  kernel::PlaceRequest pass_before_{};
  kernel::ProblemView visited_before_{};
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
    // Data kept between decisions may be incomplete: start again.
    impl_->served.reset();
    impl_->chosen.entry = nullptr;
    throw;
  }
}

void EngineImpl::order_jobs(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                            const Request& request) {
  input.order(s, *chosen.entry, *chosen.policy, policy_state, marks);
  pass = input.request(s, *chosen.entry, chosen.rules, marks, request.work_limit);
  visited = problem.view();
}

void EngineImpl::choose_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                               const Request& request, core::StopToken& stop_token, Plan& plan) {
  const core::ChoiceOrder order{chosen.choice, chosen.shapes.get(), policy_state, request.seed, request.work_limit};
  input.look(s);
  backends.run(request.backend, request.threads, plan.backend_note,
               [&](core::PlacementBackend& backend) { choice.choose(s, problem.view(), marks, order, backend, stop_token); });
  pass_choice(s, marks);
}

void EngineImpl::pass_choice(const StateImpl& s, const core::PassInput::Marks& marks) {
  shape_pass.build(s, problem.view(), marks, choice.chosen(), chosen.rules);
  pass = shape_pass.request();
  visited = shape_pass.problem();
}

kernel::PlaceResult EngineImpl::place(const Request& request, core::StopToken* stop_token, Plan& plan) {
  const kernel::PlaceResult placed = result.prepare(pass.n, core::entry_bound(visited));
  const core::PlaceTask scenario{pass, {}, stop_token};
  plan.backend = backends.run(request.backend, request.threads, plan.backend_note,
                              [&](core::PlacementBackend& backend) { backend.place(visited, scenario, placed); });
  return placed;
}

// The choice is applied even when time has run out. Where prices chose, the choice is repeated without options that
// found no place, as long as that improves the plan (docs/prices.md, section 6).
kernel::PlaceResult EngineImpl::place_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                             const Request& request, core::StopToken& stop_token, Plan& plan) {
  kernel::PlaceResult best = place(request, nullptr, plan);
  if (chosen.shapes != nullptr) return best;
  const core::ChoiceOrder order{chosen.choice, nullptr, policy_state, request.seed, request.work_limit};
  shape_pass.obtained(choice.chosen(), best, obtained_);
  std::int64_t value = choice.value_in(obtained_);
  for (int look = 1; look < kMostLooks; ++look) {
    bool again = false;
    backends.run(request.backend, request.threads, plan.backend_note,
                 [&](core::PlacementBackend& backend) { again = choice.choose_again(order, obtained_, backend, stop_token); });
    if (!again) break;
    const kernel::PlaceRequest best_pass = pass;
    const kernel::ProblemView best_visited = visited;
    std::swap(shape_pass, other_pass);
    std::swap(result, other_result);
    pass_choice(s, marks);
    const kernel::PlaceResult placed = place(request, nullptr, plan);
    shape_pass.obtained(choice.chosen(), placed, obtained_);
    const std::int64_t value_again = choice.value_in(obtained_);
    if (value_again <= value) {
      choice.take_back();
      std::swap(shape_pass, other_pass);
      std::swap(result, other_result);
      pass = best_pass;
      visited = best_visited;
      break;
    }
    value = value_again;
    best = placed;
  }
  return best;
}

// From a pass whose options are those of the jobs.
void EngineImpl::build_plan(const StateImpl& s, const kernel::PlaceResult& placed, Plan& plan) {
  const bool shapes = chosen.policy == nullptr;
  const core::PassOutput output{&pass,
                                &placed,
                                &visited,
                                &problem.lost(),
                                &problem.repaired(),
                                &problem.repairs(),
                                &input.remaining(),
                                shapes ? &choice : nullptr,
                                shapes ? &shape_pass.left() : nullptr};
  builder.build(s, output, plan);
  if (shapes) {
    choice.report(s, chosen.choice, plan);
  } else {
    plan.bound = {};
  }
}

// The search knows locality by class only, no link loads, and charges one unit per moved job. Where its result is
// worse, the initial plan stands.
kernel::PlaceResult EngineImpl::better_of(const StateImpl& s, const kernel::PlaceResult& begin, const kernel::PlaceResult& found,
                                          Plan& plan) {
  const std::int64_t found_value = plan.bound.value;
  const kernel::PlaceRequest found_pass = pass;
  const kernel::ProblemView found_visited = visited;
  const auto exchange = [&] {
    choice.exchange(chosen_before_, moved_before_);
    std::swap(shape_pass, other_pass);
    std::swap(result, other_result);
  };
  exchange();
  pass = pass_before_;
  visited = visited_before_;
  shape_pass.translate(problem.view(), visited, pass, begin);
  overruns.withdraw(s, visited, pass, begin);
  build_plan(s, begin, plan);
  if (plan.bound.value >= found_value) return begin;
  exchange();
  pass = found_pass;
  visited = found_visited;
  build_plan(s, found, plan);
  return found;
}

kernel::PlaceResult EngineImpl::search_plans(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                             const Request& request, const kernel::PlaceResult& begin, core::StopToken& stop_token,
                                             Plan& plan) {
  const core::SearchOrder order{chosen.choice.search, chosen.choice.terms, policy_state,
                                request.seed,         request.work_limit,  request.budget_us > 0};
  plan.backend = backends.run(request.backend, request.threads, plan.backend_note, [&](core::PlacementBackend& backend) {
    search.run(s, problem.view(), {choice, shape_pass, begin}, chosen.rules, order, backend, stop_token);
  });
  chosen_before_.assign(search.chosen().begin(), search.chosen().end());
  moved_before_.assign(search.moved().begin(), search.moved().end());
  choice.exchange(chosen_before_, moved_before_);
  pass_before_ = pass;
  visited_before_ = visited;
  std::swap(shape_pass, other_pass);
  std::swap(result, other_result);
  pass_choice(s, marks);
  const kernel::PlaceResult placed = result.prepare(pass.n, core::entry_bound(visited));
  search.place(choice, shape_pass, {choice, other_pass, begin}, placed);
  return placed;
}

void EngineImpl::decide(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan) {
  core::check_threads(request.threads);
  if (request.work_limit < 0 || request.budget_us < 0) throw InvalidArgument("a limit of work or time is not negative");
  core::StopToken stop_token;
  stop_token.cancelled = &cancelled;
  if (request.budget_us > 0) stop_token.deadline = deadline_after(request.budget_us);
  if (request.progress) stop_token.progress = &request.progress;
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
  core::PassInput::Marks marks{problem.lost(), problem.repaired(), builder.reject(s, problem.view(), certificates)};
  if (chooses_shapes) marks.impossible = builder.impossible(s, problem.view());
  plan.timing.compile_s = step.lap();
  chooses_shapes ? choose_shapes(s, marks, policy_state, request, stop_token, plan) : order_jobs(s, marks, policy_state, request);
  plan.timing.order_s = step.lap();

  stop_token.n = pass.n;
  kernel::PlaceResult placed =
      chooses_shapes ? place_shapes(s, marks, policy_state, request, stop_token, plan) : place(request, &stop_token, plan);
  const kernel::PlaceResult begin = placed;
  if (searches()) placed = search_plans(s, marks, policy_state, request, begin, stop_token, plan);
  cancelled.store(false, std::memory_order_relaxed);
  if (chooses_shapes) shape_pass.translate(problem.view(), visited, pass, placed);
  overruns.withdraw(s, visited, pass, placed);
  plan.timing.place_s = step.lap();

  plan.revision = s.revision;
  plan.now_us = s.now;
  plan.policy = request.policy;
  plan.params = request.params;
  plan.seed = request.seed;
  const bool cut = stop_token.stopped_at >= 0;
  const std::int32_t limit = cut && !chooses_shapes ? stop_token.stopped_at : pass.limit;
  plan.work_done = chooses_shapes ? work() : limit;
  const bool out_of_work = chooses_shapes ? request.work_limit > 0 && work() >= request.work_limit : pass.limit < pass.n;
  plan.stopped_by = cut ? (stop_token.by_cancel ? "cancel" : "budget") : out_of_work ? "work" : "done";
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
  // Only now: a decision that fails must not change the caller's state.
  chooses_shapes ? choice.keep(s, policy_state) : core::PassInput::keep(s, *chosen.policy, policy_state);
  if (chosen.shapes != nullptr) chosen.shapes->store(policy_state);
  if (searches() && core::has_seed(chosen.choice.search.seeds, core::SearchSeed::kKept)) search.store(choice, policy_state);
  policy_state.policy = request.policy;
  plan.timing.validate_s = step.lap();
  plan.timing.decide_s = total.lap();
}

}  // namespace berth
