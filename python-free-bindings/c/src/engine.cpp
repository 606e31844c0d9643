#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"
#include "python-free-bindings/c/src/structs.hpp"

using berth::c::guarded;
using berth::c::Use;

namespace berth::c {

constexpr std::int64_t kMaxParams = 1000;

// Strings keep their memory between calls.
void read_request(const berth_request* request, Request& out) {
  const berth_request r = get_struct(request, "request");
  if (r.changes_only != 0 && r.changes_only != 1) {
    throw InvalidArgument("request.changes_only is " + std::to_string(r.changes_only) + ", not 0 or 1");
  }
  if (r.backend < 0 || r.backend > BERTH_BACKEND_CUDA) {
    throw InvalidArgument("request.backend is " + std::to_string(r.backend) + ": no such backend");
  }
  const std::size_t n = checked_count(r.n_params, kMaxParams, "request.n_params");
  const Texts params(r.params, n, "request.params");
  out.policy = r.policy == nullptr ? "fifo" : r.policy;
  out.params.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string_view text = params[i];
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) {
      throw InvalidArgument("request.params[" + std::to_string(i) + "] is '" + std::string(text) + "': expected NAME=VALUE");
    }
    out.params[i].first = text.substr(0, equals);
    out.params[i].second = text.substr(equals + 1);
  }
  out.backend = static_cast<Backend>(r.backend);
  out.device = r.device == nullptr ? "" : r.device;
  out.threads = r.threads == 0 ? 1 : r.threads;
  out.changes_only = r.changes_only != 0;
  out.seed = r.seed;
  out.max_iterations = r.max_iterations;
  out.budget_us = r.budget_us;
}

namespace {

void log(const Log& to, std::int32_t level, const char* message) {
  if (to.callback == nullptr || level > to.level) return;
  try {
    to.callback(to.data, level, message);
  } catch (...) {
    throw CallbackFailed("the log callback threw an exception");
  }
}

/// The caller's progress callback during a decision. Its exception stops the decision and is reported afterwards.
struct Progress {
  berth_progress_callback callback;
  void* data;
  bool threw = false;

  bool go_on(std::int64_t done, std::int64_t total) {
    try {
      return callback(data, static_cast<std::uint64_t>(done), static_cast<std::uint64_t>(total)) == 0;
    } catch (...) {
      threw = true;
      return false;
    }
  }
};

void count(Stats& stats, const Plan& plan, std::uint64_t ns) {
  constexpr auto relaxed = std::memory_order_relaxed;
  stats.decisions.fetch_add(1, relaxed);
  if (plan.stopped_by == "iterations") stats.by_iterations.fetch_add(1, relaxed);
  if (plan.stopped_by == "budget") stats.by_budget.fetch_add(1, relaxed);
  if (plan.stopped_by == "cancel") stats.by_cancel.fetch_add(1, relaxed);
  stats.jobs_visited.fetch_add(static_cast<std::uint64_t>(plan.iterations), relaxed);
  stats.ns_total.fetch_add(ns, relaxed);
  stats.ns_last.store(ns, relaxed);
  if (ns > stats.ns_max.load(relaxed)) stats.ns_max.store(ns, relaxed);  // only the deciding thread writes
}

std::string summary(const Plan& plan, std::uint64_t ns) {
  return "decided by " + plan.policy + " on " + plan.backend + " at revision " + std::to_string(plan.revision) + ": " +
         std::to_string(plan.totals.starts) + " start, " + std::to_string(plan.totals.preempts) + " preempted, " +
         std::to_string(plan.totals.waits) + " wait, " + std::to_string(plan.totals.rejects) + " rejected; " + plan.stopped_by + " after " +
         std::to_string(ns / 1000) + " us";
}

void decide(Decider& d, const ClusterState& state, PolicyState& policy_state, Plan& plan, const berth_request* request) {
  const auto start = std::chrono::steady_clock::now();
  read_request(request, d.request);
  Progress progress{request->progress, request->progress_data};
  d.request.progress = nullptr;
  if (progress.callback != nullptr) {
    d.request.progress = [&progress](std::int64_t done, std::int64_t total) { return progress.go_on(done, total); };
  }
  // A callback that throws fails a decision that is already made, so all decisions work on a copy of the policy state.
  std::optional<PolicyState> copy;
  if (progress.callback != nullptr || d.log.callback != nullptr) copy = policy_state;
  d.engine.decide(state, copy ? *copy : policy_state, d.request, plan);
  if (progress.threw) throw CallbackFailed("the progress callback threw an exception");
  const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
  if (!plan.backend_note.empty()) log(d.log, BERTH_LOG_WARNING, plan.backend_note.c_str());
  if (d.log.callback != nullptr && d.log.level >= BERTH_LOG_INFO) log(d.log, BERTH_LOG_INFO, summary(plan, ns).c_str());
  count(d.stats, plan, ns);
  if (copy) std::swap(policy_state, *copy);
}

}  // namespace
}  // namespace berth::c

berth_status berth_engine_create(berth_engine** out, berth_error* error) {
  return guarded(error, [&] { berth::c::give(out, [] { return new berth_engine(); }); });
}

berth_status berth_engine_destroy(berth_engine** engine, berth_error* error) {
  return guarded(error, [&] { berth::c::destroy(engine, "engine"); });
}

berth_status berth_engine_set_log(berth_engine* engine, int32_t level, berth_log_callback callback, void* user_data, berth_error* error) {
  return guarded(error, [&] {
    Use d(engine, "engine");
    if (callback != nullptr && (level < BERTH_LOG_ERROR || level > BERTH_LOG_INFO))
      throw berth::InvalidArgument("level is " + std::to_string(level) + ": no such level");
    d->log = {level, callback, user_data};
  });
}

berth_status berth_decide(berth_engine* engine, berth_state* state, berth_policy_state* policy_state, const berth_request* request,
                          berth_plan* plan, berth_error* error) {
  return guarded(error, [&] {
    Use d(engine, "engine");
    Use s(state, "state");
    Use p(plan, "plan");
    std::optional<Use<berth_policy_state>> m;
    if (policy_state != nullptr) m.emplace(policy_state, "policy_state");
    berth::PolicyState nothing;
    p->of.reset();
    try {
      berth::c::decide(*d, s->whole(), m ? (**m).state : nothing, p->plan, request);
    } catch (const std::exception& e) {
      d->stats.failures.fetch_add(1, std::memory_order_relaxed);
      berth::c::log(d->log, BERTH_LOG_ERROR, e.what());
      throw;
    }
    p->of = s->identity;
    p->read = false;
  });
}

berth_status berth_cancel(berth_engine* engine) {
  return guarded(nullptr, [&] {
    berth_engine& d = berth::c::checked(engine, "engine");
    d.visit();
    const bool alive = d.is(berth_engine::kKind);
    if (alive) d.content().engine.cancel();
    d.end_visit();
    if (!alive) throw berth::c::InvalidHandle("engine was destroyed");
  });
}

berth_status berth_engine_get_stats(berth_engine* engine, berth_engine_stats* stats, berth_error* error) {
  return guarded(error, [&] {
    berth_engine& d = berth::c::checked(engine, "engine");
    berth_engine_stats now{};
    d.visit();
    const bool alive = d.is(berth_engine::kKind);
    if (alive) {
      const berth::c::Stats& s = d.content().stats;
      now.decisions = s.decisions.load();
      now.failures = s.failures.load();
      now.stopped_by_iterations = s.by_iterations.load();
      now.stopped_by_budget = s.by_budget.load();
      now.stopped_by_cancel = s.by_cancel.load();
      now.jobs_visited = s.jobs_visited.load();
      now.decide_ns_total = s.ns_total.load();
      now.decide_ns_last = s.ns_last.load();
      now.decide_ns_max = s.ns_max.load();
    }
    d.end_visit();
    if (!alive) throw berth::c::InvalidHandle("engine was destroyed");
    berth::c::fill_struct(stats, now, "stats");
  });
}
