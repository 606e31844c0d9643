// Plans of changes under leases (docs/placement.md, "Decisions under leases").
#include <algorithm>
#include <utility>

#include "host/core/choice/search_history.hpp"
#include "host/core/engine/engine_impl.hpp"

namespace berth {

// A plan of changes by a pass over the jobs whose leases have ended and the heads of those that wait. False: all jobs have to be asked.
bool EngineImpl::decide_heads(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan) {
  using Answer = core::WaitingHeads::Answer;
  Stopwatch total;
  Stopwatch step;
  problem.begin(s, chosen.rules, policy_state);
  const core::PassInput::Marks marks{problem.lost(), problem.failures(), builder.reject(s, problem.view(), certificates)};
  plan.timing.compile_s = step.lap();
  tried.build(s, problem.view(), chosen.shape, builder);
  if (!heads.choose(s, chosen, problem, marks, builder.rejected_jobs(), tried, policy_state)) return false;
  core::PassInput& in = heads.input();
  core::StopToken never;
  PassAttempt attempt;
  const auto read = [&] { return heads.answer(s, problem, attempt.request, attempt.result.columns()); };
  Answer answer = Answer::kMore;
  while (answer == Answer::kMore) {
    offers.undo(s, problem);
    attempt = order_jobs(s, in, heads.policy(), heads.jobs(), marks, policy_state, request, plan);
    place(request, nullptr, attempt, plan);
    end_pass(s, in, attempt);
    answer = read();
    while (answer == Answer::kAll && repeat_pass(s, in, marks, request, never, attempt, plan)) answer = read();
  }
  if (answer == Answer::kNothing) {
    offers.undo(s, problem);
    keep_memory(std::move(attempt));
    return false;
  }
  plan.timing.place_s = step.lap();
  set_header(s, request, plan);
  plan.iterations = attempt.request.n + heads.others().run + heads.others().wait;
  plan.stopped_by = "done";
  plan.order_until_us = std::min(order_until(s, in, heads.policy(), attempt), heads.others_change());
  core::DelayTimers& timers = problem.timers();
  timers.look(s, problem.view(), attempt.request, attempt.result.columns());
  plan.order_until_us = within_time(first_change(plan.order_until_us, std::min(timers.until(), heads.others_timer()), s.now));
  build_plan(s, in, attempt, plan, &heads.others());
  timers.say_until(plan);
  core::set_history({}, 1, plan.history);
  plan.timing.reasons_s = step.lap();
  core::ValidateOptions options;
  options.known = &certificates;
  const core::HeldSums held{s.node.held, s.node.cpu_held, s.node.memory_held, s.queue_used, s.broken_nodes()};
  require_valid(validator.check_changes(s.facts(), held, plan, options));
  reservations.follow(s, request, plan);
  core::PassInput::keep(s, heads.policy(), policy_state, departed.left());
  timers.store(policy_state);
  policy_state.policy = request.policy;
  departed.settle(policy_state);
  heads.settle(s, in, attempt.request, attempt.result.columns(), policy_state);
  keep_memory(std::move(attempt));
  cancelled.store(false, std::memory_order_relaxed);
  plan.device = backends.device();
  plan.timing.validate_s = step.lap();
  plan.timing.decide_s = total.lap();
  return true;
}

}  // namespace berth
