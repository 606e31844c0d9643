#include "host/core/engine/engine_impl.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/choice/search_history.hpp"

namespace berth {
namespace {

constexpr int kMostLooks = 4;  // maximum number of choices until all find places
// After this number of decisions in a row by the kept queue alone, the memory of passes over all jobs is given back.
constexpr int kQuietDecisions = 16;

std::int64_t value_of(std::span<const core::ObtainedShape> obtained) {
  std::int64_t sum = 0;
  for (const core::ObtainedShape& one : obtained) sum += one.value;
  return sum;
}

// Whether jobs are tried with other demands than they state, or not at all.
bool narrows(const StateImpl& s, const core::PassRules& rules) {
  return rules.packing == core::Packing::kConsolidate || rules.packing == core::Packing::kContention || rules.consolidation ||
         rules.admits_by_count || rules.sharing_ppm > 0 || core::DelayTimers::apply_to(s, rules);
}

bool is_limited(const Request& request) { return request.max_iterations > 0 || request.budget_us > 0 || request.progress; }

/// N microseconds from now; none where the clock would overflow.
std::chrono::steady_clock::time_point deadline_after(std::int64_t budget_us) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point now = Clock::now();
  const auto most = std::chrono::floor<std::chrono::microseconds>(Clock::time_point::max() - now);
  return budget_us < most.count() ? now + std::chrono::microseconds(budget_us) : Clock::time_point::max();
}

}  // namespace

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

EngineImpl::PassAttempt EngineImpl::take_memory() {
  if (spare_.empty()) return {};
  PassAttempt attempt = std::move(spare_.back());
  spare_.pop_back();
  attempt.kept = false;
  return attempt;
}

// @param of  these jobs alone; empty: all
EngineImpl::PassAttempt EngineImpl::order_jobs(const StateImpl& s, core::PassInput& in, core::QueuePolicy& policy,
                                               std::span<const std::int32_t> of, const core::PassInput::Marks& marks,
                                               const PolicyState& policy_state, const Request& request, Plan& plan) {
  tried.build(s, problem.view(), chosen.shape, builder);
  in.order(s, *chosen.entry, policy, policy_state, marks, tried, chosen.rules, of);
  builder.refuse(in.refusals());
  if (chosen.rules.delays && offers.begin(s, *chosen.rules.delays, policy.lease_ended(), tried, problem)) {
    tried.build(s, problem.view(), chosen.shape, builder);
  }
  PassAttempt attempt = take_memory();
  request_pass(s, in, marks, request, attempt, plan);
  return attempt;
}

void EngineImpl::request_pass(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                              PassAttempt& attempt, Plan& plan) {
  const core::PassInput::Marks seen{offers.any() ? offers.gone() : marks.lost, marks.failures, marks.rejected, marks.impossible};
  const auto find = victims_on_backend(request, plan);
  in.disarrange();
  in.arrange(s, *chosen.entry, chosen.rules.quotas, seen, tried.view(problem.view()), core::FindVictims(find));
  ask_pass(s, in, seen, request, attempt);
}

// The order is arranged.
void EngineImpl::ask_pass(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                          PassAttempt& attempt) {
  attempt.request = in.request(s, *chosen.entry, chosen.rules, marks, request.max_iterations, {}, &tried);
  attempt.visited = tried.view(problem.view());
  attempt.request.option_run = tried.run_times(problem.view(), attempt.request.option_run, attempt.run);
}

// What the queue that is kept between decisions can do, where its pass gives the same answer.
core::Reading EngineImpl::read_kept(const StateImpl& s, const Request& request) {
  const bool here = request.backend == Backend::kAuto || request.backend == Backend::kCpu;
  const bool limited = is_limited(request) || cancelled.load(std::memory_order_relaxed);
  if (chosen.policy == nullptr || !here || limited || !kept.answers(s, chosen)) return core::Reading::kNothing;
  // A whole plan says more of what queues are entitled to.
  if (!request.changes_only && core::KeptQueue::reclaims(s, chosen)) return core::Reading::kNothing;
  return kept.read(s, chosen);
}

// The pass of that queue, whose result is as of the pass over all jobs.
bool EngineImpl::pass_kept(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request,
                           PassAttempt& attempt, Plan& plan) {
  tried.build(s, problem.view(), chosen.shape, builder);
  chosen.policy->load(policy_state);
  if (!kept.decide(s, chosen, builder.rejected_jobs(), problem.failures()) || core::KeptQueue::reclaims(s, chosen)) return false;
  const core::KeptPass& pass = kept.pass();
  // A plan says which job blocks the others by the first that waits.
  const std::span<const std::int32_t> in_front = pass.in_front();
  ordered_.assign(in_front.begin(), in_front.end());
  position_.assign(s.jobs.size(), -1);
  for (const std::int32_t job : in_front) position_[to_index(job)] = 0;
  for (const std::int32_t job : s.job_order) {
    const bool holds = s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0;
    const bool tried_job = marks.rejected[to_index(job)] == 0 && (chosen.entry->preemptive || !holds);
    if (tried_job && position_[to_index(job)] < 0) ordered_.push_back(job);
  }
  input.look(s, ordered_);
  attempt = take_memory();
  attempt.kept = true;
  attempt.request = input.request(s, *chosen.entry, chosen.rules, marks, 0, {}, &tried);
  attempt.visited = problem.view();
  const kernel::PlaceResult result = attempt.result.prepare(attempt.request.n, static_cast<std::int32_t>(pass.entries().size()));
  for (std::int32_t i = 0; i < attempt.request.n; ++i) {
    const std::int32_t job = ordered_[to_index(i)];
    position_[to_index(job)] = i;
    const bool waits = s.job.running[to_index(job)] == 0;
    const bool behind = !in_front.empty() && to_index(i) >= in_front.size();
    result.outcome[i] = !waits ? kernel::Outcome::kKept : behind ? kernel::Outcome::kBehind : kernel::Outcome::kWaits;
    result.option[i] = result.displaced_by[i] = kernel::kNone;
    result.reserve_at[i] = kNever;
    result.entry_begin[i] = result.entry_end[i] = 0;
  }
  for (const core::PassChange& change : pass.changes()) {
    const std::int32_t i = position_[to_index(change.job)];
    result.outcome[i] = change.outcome;
    result.option[i] = change.option;
    result.entry_begin[i] = change.entry_begin;
    result.entry_end[i] = change.entry_end;
    if (change.displaced_by >= 0) result.displaced_by[i] = position_[to_index(change.displaced_by)];
  }
  std::copy(pass.entries().begin(), pass.entries().end(), result.entries);
  *result.n_entries = static_cast<std::int32_t>(pass.entries().size());
  plan.backend = backends.also(request.backend, request.threads, plan.backend_note, [](core::PlacementBackend&) {});
  return true;
}

EngineImpl::PassAttempt EngineImpl::choose_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                                  const Request& request, core::StopToken& stop_token, Plan& plan) {
  const core::ChoiceOrder order{chosen.choice, chosen.shapes.get(), policy_state, request.seed, request.max_iterations};
  input.look(s);
  places.begin(s);
  plan.backend = backends.also(request.backend, request.threads, plan.backend_note, [&](core::PlacementBackend& backend) {
    choice.choose(s, problem.view(), marks, order, backend, stop_token);
  });
  PassAttempt attempt = take_memory();
  pass_choice(s, marks, chosen.rules, request, attempt, plan);
  return attempt;
}

void EngineImpl::pass_choice(const StateImpl& s, const core::PassInput::Marks& marks, const core::PassRules& rules, const Request& request,
                             PassAttempt& attempt, Plan& plan) {
  const auto find = victims_on_backend(request, plan);
  attempt.shape_pass.build(s, problem.view(), marks, choice.chosen(), rules, places, core::FindVictims(find));
  problem.follow_demands(s);
  attempt.request = attempt.shape_pass.request();
  attempt.visited = attempt.shape_pass.problem();
}

void EngineImpl::place(const Request& request, core::StopToken* stop_token, PassAttempt& attempt, Plan& plan) {
  const kernel::PlaceResult placed = attempt.result.prepare(attempt.request.n, core::entry_bound(attempt.visited, attempt.request));
  const core::PlaceTask scenario{attempt.request, {}, stop_token};
  plan.backend = backends.also(request.backend, request.threads, plan.backend_note,
                               [&](core::PlacementBackend& backend) { backend.place(attempt.visited, scenario, placed); });
}

// The choice is applied even when time has run out. Where prices chose, the choice is repeated without options that
// found no place, as long as that improves the plan (docs/prices.md, section 6).
EngineImpl::PassAttempt EngineImpl::place_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                                 const Request& request, PassAttempt best, core::StopToken& stop_token, Plan& plan) {
  place(request, nullptr, best, plan);
  if (chosen.shapes != nullptr) return best;
  const core::ChoiceOrder order{chosen.choice, nullptr, policy_state, request.seed, request.max_iterations};
  best.shape_pass.obtained(s, choice.chosen(), best.result.columns(), obtained_);
  std::int64_t value = value_of(obtained_);
  for (int look = 1; look < kMostLooks; ++look) {
    PassAttempt next = take_memory();
    bool again = false;
    plan.backend = backends.also(request.backend, request.threads, plan.backend_note, [&](core::PlacementBackend& backend) {
      again = choice.choose_again(order, obtained_, backend, stop_token, next.choice);
    });
    if (!again) {
      keep_memory(std::move(next));
      break;
    }
    best.choice = choice.exchange(std::move(next.choice));
    pass_choice(s, marks, chosen.rules, request, next, plan);
    place(request, nullptr, next, plan);
    next.shape_pass.obtained(s, choice.chosen(), next.result.columns(), obtained_);
    const std::int64_t value_again = value_of(obtained_);
    if (value_again <= value) {
      next.choice = choice.exchange(std::move(best.choice));
      keep_memory(std::move(next));
      break;
    }
    value = value_again;
    keep_memory(std::exchange(best, std::move(next)));
  }
  return best;
}

// Back to the jobs' own options, and without the jobs that would outstay their nodes.
void EngineImpl::end_pass(const StateImpl& s, core::PassInput& in, PassAttempt& attempt) {
  const kernel::PlaceResult placed = attempt.result.columns();
  const bool shapes = chosen.policy == nullptr;
  if (shapes) {
    core::follow_demands(s, attempt.visited);
    attempt.shape_pass.translate(problem.view(), attempt.visited, attempt.request, placed);
  } else {
    tried.translate(attempt.request, placed);
    attempt.visited = problem.view();
    attempt.request.option_run = in.option_run();
  }
  overruns.withdraw(s, attempt.visited, attempt.request, placed);
  if (shapes) return;
  in.settle(attempt.request, placed);
  if (chosen.rules.sharing_ppm > 0)
    sharing.settle(s, attempt.visited, tried, problem.lost(), chosen.rules.sharing_ppm, attempt.request, placed);
}

// Others were displaced for a job that does not start, or a job keeps the GPUs that it gave up: the pass is made again. After a stop no
// more jobs are tried than before.
bool EngineImpl::repeat_pass(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                             core::StopToken& stop_token, PassAttempt& attempt, Plan& plan) {
  const bool stopped = stop_token.stopped_at >= 0;
  const bool off_ends = !stopped && in.keep_off_ends(overruns.displacers());
  const bool back = offers.settle(s, problem, attempt.request, attempt.result.columns());
  if (!off_ends && !back) return false;
  if (back) tried.build(s, problem.view(), chosen.shape, builder);
  request_pass(s, in, marks, request, attempt, plan);
  if (stopped) attempt.request.limit = std::min(attempt.request.limit, stop_token.stopped_at);
  place(request, stopped ? nullptr : &stop_token, attempt, plan);
  end_pass(s, in, attempt);
  return true;
}

// A policy that displaces jobs counts those of a queue wherever they run, so those that borrow may make no room for a job on one node.
// Such a job comes first of its standing in another pass, which stands if those before it find other places (docs/quotas.md, "What
// happens").
void EngineImpl::try_stuck_first(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                                 const core::StopToken& stop_token, PassAttempt& attempt, Plan& plan) {
  const bool may_try =
      chosen.entry->preemptive && in.reclaims() && !chosen.rules.admits_by_count && !offers.any() && stop_token.stopped_at < 0;
  if (!may_try || attempt.request.limit < attempt.request.n) return;
  const kernel::ProblemView& p = problem.view();
  const kernel::PlaceResult before = attempt.result.columns();
  for (const std::int32_t from : stuck.find(p, in.quotas(), attempt.request, before)) {
    PassAttempt other = take_memory();
    core::StopToken stop = stop_token;
    const std::span<const std::int32_t> to = in.put_first(p, stuck, from);
    ask_pass(s, in, marks, request, other);
    place(request, &stop, other, plan);
    end_pass(s, in, other);
    in.put_back();
    ask_pass(s, in, marks, request, attempt);
    attempt.request.limit = attempt.request.n;
    attempt.request.option_run = in.option_run();
    attempt.visited = p;
    const core::PassWithFirst with{from, to, other.result.columns()};
    const bool stands =
        stop.stopped_at < 0 && overruns.displacers().empty() && core::first_starts(s, p, in.quotas(), attempt.request, before, with);
    if (stands) {
      stuck.order_as_before(in.quotas(), attempt.request, before, with);
      std::swap(attempt.result, other.result);
    }
    keep_memory(std::move(other));
    if (stands || stop.stopped_at >= 0) return;
  }
}

TimeUs EngineImpl::order_until(const StateImpl& s, core::PassInput& in, core::QueuePolicy& policy, PassAttempt& attempt) {
  const bool moves = chosen.rules.delays && chosen.rules.delays->lease_end != core::LeaseEnd::kKeep;
  return in.order_until(s, *chosen.entry, policy, attempt.result.columns(), moves ? &problem.timers() : nullptr);
}

// From a pass whose options are those of the jobs. @param others  see PassOutput
void EngineImpl::build_plan(const StateImpl& s, core::PassInput& in, PassAttempt& attempt, Plan& plan, const core::OtherJobs* others) {
  const bool shapes = chosen.policy == nullptr;
  const kernel::PlaceResult placed = attempt.result.columns();
  const core::PassOutput output{&attempt.request,
                                &placed,
                                &attempt.visited,
                                &problem.lost(),
                                &problem.repaired(),
                                &problem.repairs(),
                                &in.remaining(),
                                shapes ? attempt.shape_pass.left_out() : tried.left_out(),
                                shapes ? &choice : nullptr,
                                shapes         ? &attempt.shape_pass.left()
                                : offers.any() ? &offers.left()
                                               : nullptr,
                                attempt.kept ? &kept.class_of() : nullptr,
                                shapes          ? attempt.shape_pass.quotas()
                                : in.reclaims() ? &in.quotas()
                                                : nullptr,
                                others,
                                !s.any_several_shapes() && !problem.failures().any() && !narrows(s, chosen.rules)};
  builder.build(s, output, plan);
  if (shapes) {
    choice.report(s, chosen.choice, plan);
  } else {
    plan.bound = {};
  }
}

// The search knows locality by class only, no link loads, and charges one unit per moved job. Where its result is
// worse, or leaves out a job that its queue is entitled to, the initial plan stands.
EngineImpl::PassAttempt EngineImpl::better_of(const StateImpl& s, PassAttempt begin, PassAttempt found, Plan& plan) {
  const std::int64_t found_value = plan.bound.value;
  found.choice = choice.exchange(std::move(begin.choice));
  end_pass(s, input, begin);
  build_plan(s, input, begin, plan);
  if (plan.bound.value >= found_value || leaves_entitled_) {
    keep_memory(std::move(found));
    return begin;
  }
  begin.choice = choice.exchange(std::move(found.choice));
  build_plan(s, input, found, plan);
  keep_memory(std::move(begin));
  return found;
}

EngineImpl::PassAttempt EngineImpl::search_plans(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                                                 const Request& request, PassAttempt& begin, core::StopToken& stop_token, Plan& plan) {
  const kernel::PlaceResult earlier = begin.result.columns();
  const core::SearchOrder order{chosen.choice.search, chosen.choice.terms,    policy_state,
                                request.seed,         request.max_iterations, request.budget_us > 0};
  plan.backend = backends.also(request.backend, request.threads, plan.backend_note, [&](core::PlacementBackend& backend) {
    search.run(s, problem.view(), {choice, begin.shape_pass, earlier}, chosen.rules, order, backend, stop_token);
  });
  PassAttempt found = take_memory();
  found.choice.option.assign(search.chosen().begin(), search.chosen().end());
  found.choice.moved.assign(search.moved().begin(), search.moved().end());
  begin.choice = choice.exchange(std::move(found.choice));
  pass_choice(s, marks, chosen.rules, request, found, plan);
  leaves_entitled_ = found.shape_pass.quotas() != nullptr;
  if (leaves_entitled_) {
    core::PassRules rules = chosen.rules;
    rules.quotas = core::Quotas::kLimits;
    pass_choice(s, marks, rules, request, found, plan);
  }
  const kernel::PlaceResult placed = found.result.prepare(found.request.n, core::entry_bound(found.visited));
  search.place(choice, found.shape_pass, {choice, begin.shape_pass, earlier}, placed);
  return found;
}

void EngineImpl::set_header(const StateImpl& s, const Request& request, Plan& plan) const {
  plan.revision = s.revision;
  plan.now_us = s.now;
  plan.policy = request.policy;
  plan.params = request.params;
  plan.seed = request.seed;
  plan.tables = s.tables_hash();
}

void EngineImpl::require_valid(const std::vector<std::string>& violations) const {
  if (violations.empty()) return;
  std::string text = "the plan of policy '" + chosen.entry->info.name + "' failed validation:";
  for (const std::string& v : violations) text += "\n  " + v;
  throw InternalError(text);
}

void EngineImpl::release_pass_memory(Plan& plan) {
  spare_.clear();
  ordered_ = position_ = {};
  input = {};
  heads = {};
  backends.release_cpu();
  plan.decisions.shrink_to_fit();
  plan.entries.shrink_to_fit();
}

// A plan of changes, from what changed since the last decision. False: the queue that is kept needs more.
bool EngineImpl::decide_changes(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan) {
  Stopwatch total;
  Stopwatch step;
  const core::Failures& failures = problem.find_failures(s);
  builder.reject(s, s.problem(), certificates);
  plan.timing.compile_s = step.lap();
  chosen.policy->load(policy_state);
  if (!kept.decide(s, chosen, builder.rejected_jobs(), failures)) return false;
  plan.backend = backends.also(request.backend, request.threads, plan.backend_note, [](core::PlacementBackend&) {});
  plan.timing.place_s = step.lap();
  set_header(s, request, plan);
  plan.stopped_by = "done";
  plan.order_until_us = within_time(kept.order_until(builder));
  plan.timing.order_s = step.lap();
  builder.build_changes(s, kept, failures, chosen.entry->preemptive, plan);
  plan.timing.reasons_s = step.lap();
  core::ValidateOptions options;
  options.known = &certificates;
  const core::HeldSums held{s.node.held, s.node.cpu_held, s.node.memory_held, s.queue_used, s.broken_nodes()};
  require_valid(validator.check_changes(s.facts(), held, plan, options));
  cancelled.store(false, std::memory_order_relaxed);
  core::PassInput::keep(s, *chosen.policy, policy_state, departed.left());
  policy_state.policy = request.policy;
  departed.settle(policy_state);
  reservations.forget();  // this plan reserves nothing
  if (++quiet_ == kQuietDecisions) release_pass_memory(plan);
  plan.timing.validate_s = step.lap();
  plan.timing.decide_s = total.lap();
  return true;
}

void EngineImpl::check_sharing(const StateImpl& s) const {
  if (!core::QuotaOrder::applies(s, chosen.rules.quotas) && !s.any_longest_wait()) return;
  throw InvalidArgument("policy '" + chosen.entry->info.name +
                        "': sharing needs quotas=limits where queues have guarantees, and jobs without a longest wait for a level");
}

void EngineImpl::decide(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan) {
  core::check_threads(request.threads);
  if (request.max_iterations < 0 || request.budget_us < 0) throw InvalidArgument("a limit of iterations or time is not negative");
  core::StopToken stop_token;
  stop_token.cancelled = &cancelled;
  if (request.budget_us > 0) stop_token.deadline = deadline_after(request.budget_us);
  if (request.progress) stop_token.progress = &request.progress;
  backends.use_device(request.device);
  backends.begin();
  plan.device.clear();
  chosen.choose(request.policy, request.params);
  if (!policy_state.policy.empty() && policy_state.policy != request.policy) {
    throw InvalidArgument("the policy state is of '" + policy_state.policy + "', not of '" + request.policy + "'");
  }

  Stopwatch total;
  Stopwatch step;
  plan.timing = {};
  plan.changes_only = request.changes_only;
  plan.reservations_since = 0;
  plan.reservations_dropped.clear();
  serve(s);
  departed.follow(s, policy_state, chosen.version);
  core::Reading reading = read_kept(s, request);
  if (request.changes_only && reading == core::Reading::kChanges) {
    if (decide_changes(s, policy_state, request, plan)) return;
    reading = core::Reading::kNothing;
  }
  quiet_ = 0;
  offers.clear();
  const bool may_ask_heads = request.changes_only && !is_limited(request) && !cancelled.load(std::memory_order_relaxed);
  if (may_ask_heads && heads.read(s, chosen, policy_state) && decide_heads(s, policy_state, request, plan)) return;
  offers.clear();
  heads.forget();
  if (chosen.rules.sharing_ppm > 0) check_sharing(s);
  problem.build(s, chosen.rules, {}, &policy_state);
  const bool chooses_shapes = chosen.policy == nullptr;
  core::PassInput::Marks marks{problem.lost(), problem.failures(), builder.reject(s, problem.view(), certificates)};
  if (chooses_shapes) marks.impossible = builder.impossible(s, problem.view());
  plan.timing.compile_s = step.lap();
  PassAttempt attempt;
  const bool was_kept = reading != core::Reading::kNothing && pass_kept(s, marks, policy_state, request, attempt, plan);
  if (!was_kept) {
    attempt = chooses_shapes ? choose_shapes(s, marks, policy_state, request, stop_token, plan)
                             : order_jobs(s, input, *chosen.policy, {}, marks, policy_state, request, plan);
  }
  plan.timing.order_s = step.lap();

  stop_token.n = attempt.request.n;
  stop_token.runs_on = chooses_shapes ? nullptr : input.added();
  if (chooses_shapes) {
    attempt = place_shapes(s, marks, policy_state, request, std::move(attempt), stop_token, plan);
  } else if (!was_kept) {
    place(request, &stop_token, attempt, plan);
  }
  PassAttempt begin;  // of a search
  // A search knows no quotas: where they displace jobs, or limits were lowered, its first plan stands.
  const bool searched = searches() && attempt.shape_pass.quotas() == nullptr && !attempt.shape_pass.is_limited();
  if (searched) {
    begin = std::move(attempt);
    attempt = search_plans(s, marks, policy_state, request, begin, stop_token, plan);
  }
  end_pass(s, input, attempt);
  while (!chooses_shapes && !was_kept && repeat_pass(s, input, marks, request, stop_token, attempt, plan)) {
  }
  if (!chooses_shapes && !was_kept) try_stuck_first(s, input, marks, request, stop_token, attempt, plan);
  cancelled.store(false, std::memory_order_relaxed);
  plan.timing.place_s = step.lap();

  set_header(s, request, plan);
  const bool cut = stop_token.stopped_at >= 0;
  const std::int32_t limit = cut && !chooses_shapes ? stop_token.stopped_at : attempt.request.limit;
  const std::int64_t work = searched ? search.work() : choice.work();
  plan.iterations = chooses_shapes ? work : input.iterations(limit);
  const bool out_of_work =
      chooses_shapes ? request.max_iterations > 0 && work >= request.max_iterations : attempt.request.limit < attempt.request.n;
  plan.stopped_by = cut ? (stop_token.by_cancel ? "cancel" : "budget") : out_of_work ? "iterations" : "done";
  if (chooses_shapes) {
    plan.order_until_us = chosen.shapes == nullptr ? kNever : chosen.shapes->next_change();
    if (attempt.shape_pass.quotas() != nullptr)
      plan.order_until_us = std::min(plan.order_until_us, attempt.shape_pass.quotas()->victims_from());
  } else {
    plan.order_until_us = order_until(s, input, *chosen.policy, attempt);
  }
  if (chosen.rules.packing == core::Packing::kContention) {
    problem.waits().look(s, problem.view(), attempt.request, attempt.result.columns());
    plan.order_until_us = first_change(plan.order_until_us, problem.waits().until(), s.now);
  }
  const bool delays = core::DelayTimers::apply_to(s, chosen.rules);
  if (delays) {
    problem.timers().look(s, problem.view(), attempt.request, attempt.result.columns());
    plan.order_until_us = first_change(plan.order_until_us, problem.timers().until(), s.now);
  }
  plan.order_until_us = within_time(plan.order_until_us);
  build_plan(s, input, attempt, plan);
  if (!was_kept) kept.saw(plan.totals.starts + plan.totals.moves + plan.totals.preempts, s.job_order.size());
  if (searched) attempt = better_of(s, std::move(begin), std::move(attempt), plan);
  if (chosen.rules.packing == core::Packing::kContention) problem.waits().say_until(plan);
  if (delays) problem.timers().say_until(plan);
  if (searched) {
    core::set_history(search.history(), 0, plan.history);
  } else {
    core::set_history(chosen.shapes == nullptr ? std::span<const std::int64_t>{} : chosen.shapes->history(), 1, plan.history);
  }
  plan.timing.reasons_s = step.lap();

  core::ValidateOptions options;
  options.known = &certificates;
  const std::vector<std::string>& violations = validator.check(s.facts(), plan, options);
  require_valid(violations);
  reservations.follow(s, request, plan);
  // Only now: a decision that fails must not change the caller's state.
  chooses_shapes ? choice.keep(s, policy_state) : core::PassInput::keep(s, *chosen.policy, policy_state, departed.left());
  if (chosen.shapes != nullptr) chosen.shapes->store(policy_state);
  if (searched && core::has_seed(chosen.choice.search.seeds, core::SearchSeed::kKept)) search.store(choice, policy_state);
  if (chosen.rules.packing == core::Packing::kContention) problem.waits().store(s, policy_state);
  if (chosen.rules.delays) problem.timers().store(policy_state);
  policy_state.policy = request.policy;
  departed.settle(policy_state);
  if (!chooses_shapes)
    heads.look(s, chosen, problem, input, attempt.request, attempt.result.columns(), builder.rejected_jobs(), plan, policy_state);
  keep_memory(std::move(attempt));
  plan.device = backends.device();
  plan.timing.validate_s = step.lap();
  plan.timing.decide_s = total.lap();
}

}  // namespace berth
