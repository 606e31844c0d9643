#include <algorithm>
#include <iterator>
#include <span>
#include <string>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/engine/commit_deltas.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/reasons/certificate.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_names.hpp"
#include "host/core/validator/check_displaced.hpp"
#include "host/core/validator/check_entitled.hpp"
#include "host/core/validator/plan_validator.hpp"
#include "host/core/validator/stated_figures.hpp"

namespace berth {

bool same_plan(const Plan& a, const Plan& b) {
  const bool header = a.changes_only == b.changes_only && a.now_us == b.now_us && a.policy == b.policy && a.params == b.params &&
                      a.seed == b.seed && a.iterations == b.iterations && a.proof == b.proof && a.tables == b.tables &&
                      a.order_until_us == b.order_until_us && a.objective == b.objective && a.bound == b.bound && a.history == b.history &&
                      a.totals == b.totals && (a.reservations_since == 0) == (b.reservations_since == 0) &&
                      a.reservations_dropped == b.reservations_dropped;
  if (!header || a.decisions.size() != b.decisions.size()) return false;
  // The position of rows in `entries` does not matter; their content does.
  const auto rows = [](const Plan& plan, const Decision& d) {
    return std::span(plan.entries).subspan(static_cast<std::size_t>(d.entry_begin), static_cast<std::size_t>(d.entry_end - d.entry_begin));
  };
  for (std::size_t i = 0; i < a.decisions.size(); ++i) {
    const auto mine = rows(a, a.decisions[i]);
    const auto yours = rows(b, b.decisions[i]);
    if (!std::equal(mine.begin(), mine.end(), yours.begin(), yours.end())) return false;
    Decision d = b.decisions[i];
    d.entry_begin = a.decisions[i].entry_begin;
    d.entry_end = a.decisions[i].entry_end;
    if (!(d == a.decisions[i])) return false;
  }
  return true;
}

namespace {

std::vector<std::string> check_whole(const ClusterState& state, const Plan& plan, std::size_t most) {
  core::PlanValidator validator;
  core::ValidateOptions options;
  options.most = most;
  std::vector<std::string> all = validator.check(state.impl().facts(), plan, options);
  core::Violations found(all, most);
  core::check_header(state.impl(), plan, found);
  core::check_predictions(state.impl(), plan, found);
  core::check_evidence(state.impl(), plan, found);
  if (all.empty()) core::check_displaced(state.impl(), plan, found);  // of a plan without other errors
  if (all.empty()) core::check_entitled(state.impl(), plan, found);   // of a plan without other errors
  if (all.empty()) core::check_bound(state.impl(), plan, found);      // of a plan without other errors
  return all;
}

}  // namespace

std::vector<std::string> validate_plan(const ClusterState& state, const Plan& plan, std::size_t most) {
  if (plan.changes_only) {
    Plan whole;
    std::vector<std::string> all;
    core::Violations found(all, most);
    if (!core::complete(state.impl(), plan, whole, found) || !all.empty()) return all;
    return check_whole(state, whole, most);
  }
  if (plan.reservations_since > 0 || !plan.reservations_dropped.empty())
    return {"the plan lists every job, and yet differences between reservations"};
  return check_whole(state, plan, most);
}

std::string render_reason(const ClusterState& state, const Reason& reason, std::int32_t job) {
  return core::render_reason(core::StateNames(state.impl()), reason, job);
}

std::string render_would_start_if(const ClusterState& state, const Reason& reason, std::int32_t job) {
  return core::render_would_start_if(core::StateNames(state.impl()), reason, job);
}

std::string render_where(const ClusterState& state, const Reason& reason) {
  return core::render_where(core::StateNames(state.impl()), reason);
}

bool check_certificate(const ClusterState& state, const Reason& reason, std::int32_t job) {
  const Job* description = job < 0 || job >= state.job_index_end() ? nullptr : state.job(job);
  return description != nullptr && core::certificate_holds(state.impl().facts(), *description, reason);
}

std::vector<Delta> core::commit_deltas(const ClusterState& state, const Plan& plan) {
  if (plan.revision != state.revision()) {
    throw StalePlan("the plan is of revision " + std::to_string(plan.revision) + ", the state of " + std::to_string(state.revision()));
  }
  // Everything that jobs give back is free before anything starts: others may take it. A repaired gang may give GPUs back, too.
  std::vector<Delta> stops;
  std::vector<Delta> starts;
  // Most decisions change nothing. Their jobs are looked up in a dense column: descriptions are far apart in memory.
  const std::vector<std::int64_t>& labels = state.impl().job_label;
  Totals listed;
  for (const Decision& d : plan.decisions) {
    core::count(listed, d.action);
    if (d.job < 0 || to_index(d.job) >= labels.size() || labels[to_index(d.job)] < 0) {
      throw InvalidArgument("the plan names the unused job index " + std::to_string(d.job));
    }
    const bool moves = d.action == Action::kMigrate || d.action == Action::kResize || d.action == Action::kReplace;
    if (!moves && d.action != Action::kPreempt && d.action != Action::kStart) continue;
    const Job* job = state.job(d.job);
    if (d.action != Action::kStart) stops.push_back(delta::StopJob{job->id});
    if (d.action == Action::kPreempt) continue;
    if (d.shape < 0 || static_cast<std::size_t>(d.shape) >= job->shapes.size()) {
      throw InvalidArgument("the plan lets job '" + job->id + "' run in no shape of it");
    }
    const Shape& shape = job->shapes[static_cast<std::size_t>(d.shape)];
    Allocation allocation;
    allocation.shape = shape.id;
    if (d.entry_begin < 0 || d.entry_end > std::ssize(plan.entries)) {
      throw InvalidArgument("the plan has not all entries of job '" + job->id + "'");
    }
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[to_index(e)];
      if (entry.node < 0 || entry.node >= state.node_count()) {
        throw InvalidArgument("the plan lets job '" + job->id + "' run on node rank " + std::to_string(entry.node) + ", which no node has");
      }
      if (!shape.groups.empty() && (entry.group < 0 || entry.group >= std::ssize(shape.groups))) {
        throw InvalidArgument("the plan lets job '" + job->id + "' run in no group of its shape");
      }
      AllocationEntry row;
      if (!shape.groups.empty()) row.group = shape.groups[to_index(entry.group)].name;
      row.member = entry.member;
      row.node = state.node(entry.node).id;
      row.share_ppm = entry.share_ppm;
      row.time_shared = entry.time_shared;
      for (std::int32_t g = 0; g < kMaxGpusPerNode; ++g) {
        if ((entry.gpus >> g & 1) != 0) row.gpus.push_back(g);
      }
      allocation.entries.push_back(std::move(row));
    }
    starts.push_back(delta::StartJob{job->id, std::move(allocation)});
  }
  const auto require_all = [](const char* action, std::int64_t has, std::int64_t says) {
    if (has == says) return;
    throw InvalidArgument("the plan lists " + std::to_string(has) + " jobs with the action " + action + ", and its totals say " +
                          std::to_string(says));
  };
  require_all("start", listed.starts, plan.totals.starts);
  require_all("migrate or resize", listed.moves, plan.totals.moves);
  require_all("preempt", listed.preempts, plan.totals.preempts);
  require_all("replace", listed.replaces, plan.totals.replaces);
  stops.insert(stops.end(), std::make_move_iterator(starts.begin()), std::make_move_iterator(starts.end()));
  return stops;
}

std::uint64_t commit(ClusterState& state, const Plan& plan) { return state.apply(core::commit_deltas(state, plan)); }

}  // namespace berth
