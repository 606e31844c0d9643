#include "host/core/engine/plan_builder.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/reasons/render_reason.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

bool waits(Outcome outcome) { return outcome == Outcome::kWaits || outcome == Outcome::kGaveUp || outcome == Outcome::kQuota; }

void append(Plan& plan, Decision& d, std::span<const PlanEntry> entries) {
  d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
  for (const PlanEntry& entry : entries) plan.entries.push_back(entry);  // most have one entry: insert would cost more
  d.entry_end = static_cast<std::int32_t>(plan.entries.size());
}

}  // namespace

// The GPUs that the job holds, in which it goes on.
void keep(const StateImpl& s, TimeUs remaining, Decision& d, Plan& plan) {
  d.action = Action::kKeep;
  d.shape = s.job.shape[to_index(d.job)];
  append(plan, d, s.held_entries(d.job));
  d.local_batch = s.job.local_batch[to_index(d.job)];
  d.learning_rate_pico = s.job.learning_rate_pico[to_index(d.job)];
  d.rate = s.job.rate[to_index(d.job)];
  const TimeUs left = s.or_limit(d.job, remaining);
  if (left != kNever && left <= kNever - 1 - s.now) d.finish_us = s.now + left;
}

void PlanBuilder::predict(const StateImpl& s, Decision& d, const Plan& plan, std::int64_t rate, TimeUs start) const {
  const Job& job = *s.jobs[to_index(d.job)].job;
  // The place of an opaque job does not change its rate; the remaining members of a repaired gang do.
  if (job.profile.kind != ProfileKind::kOpaque || d.action == Action::kReplace) {
    const std::int64_t placed =
        placed_rate(s, job, d.shape, std::span(plan.entries).subspan(to_index(d.entry_begin), to_index(d.entry_end - d.entry_begin)));
    if (placed > 0) rate = placed;
  }
  d.rate = rate;
  d.local_batch = job.shapes[to_index(d.shape)].local_batch;
  d.learning_rate_pico = job.shapes[to_index(d.shape)].learning_rate_pico;
  d.start_us = start;
  const TimeUs run = s.run_or_limit(d.job, rate);
  if (run != kNever && run <= kNever - 1 - start) d.finish_us = start + run;
}

// The job goes on with the members that a repair left it, some of them elsewhere.
void PlanBuilder::repair(const StateImpl& s, std::span<const PlanEntry> gang, Decision& d, Plan& plan) const {
  d.action = Action::kReplace;
  d.shape = s.job.shape[to_index(d.job)];
  append(plan, d, gang);
  d.cost_us = restart_cost(s.jobs[to_index(d.job)].job->costs);
  predict(s, d, plan, s.job.rate[to_index(d.job)], s.now);
}

// The running job goes on in the shape and with the entries of the decision.
void PlanBuilder::move(const StateImpl& s, Decision& d) {
  const Costs& costs = s.jobs[to_index(d.job)].job->costs;
  d.action = d.shape == s.job.shape[to_index(d.job)] ? Action::kMigrate : Action::kResize;
  d.cost_us = d.action == Action::kMigrate ? migrate_cost(costs) : resize_cost(costs);
}

bool PlanBuilder::reject_job(const StateImpl& s, Decision& d) {
  d.action = Action::kReject;
  if (rejected_[to_index(d.job)] == kCannotRun) {
    d.reason = reasons_.never(d.job);
    return false;
  }
  if (rejected_[to_index(d.job)] == kTooLate) {
    d.reason.code = ReasonCode::kDeadlineImpossible;
    d.reason.until_us = s.too_late(d.job);
    return true;
  }
  const auto refusal =
      std::lower_bound(refusals_.begin(), refusals_.end(), d.job, [](const Refusal& one, std::int32_t job) { return one.job < job; });
  d.reason.until_us = refusal->earliest;
  d.reason.code = refusal->rejected ? ReasonCode::kNotAdmitted : ReasonCode::kPromised;
  if (!refusal->rejected) d.action = Action::kWait;
  return true;
}

void PlanBuilder::place_entries(const StateImpl& s, const PassOutput& pass, std::int32_t i, Decision& d, Plan& plan) const {
  const kernel::ProblemView& p = *pass.problem;
  assert(pass.result->option[i] >= 0 && pass.result->option[i] < p.option_end[d.job] - p.option_begin[d.job]);
  assert(pass.result->entry_begin[i] >= 0 && pass.result->entry_begin[i] <= pass.result->entry_end[i] &&
         pass.result->entry_end[i] <= pass.result->max_entries);
  const kernel::OptionRow& option = p.options[p.option_begin[d.job] + pass.result->option[i]];
  const kernel::DemandRow& demand = p.demands[option.demand];
  const Shape& shape = s.jobs[to_index(d.job)].job->shapes[to_index(option.shape)];
  d.shape = option.shape;
  d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
  append_placed(s, demand, shape, {pass.result->entries + pass.result->entry_begin[i], pass.result->entries + pass.result->entry_end[i]},
                plan.entries);
  d.entry_end = static_cast<std::int32_t>(plan.entries.size());
}

// Whether a job that left its GPUs in the pass found the same ones again, in the same shape.
bool PlanBuilder::returns(const StateImpl& s, const PassOutput& pass, std::int32_t i, std::int32_t job) {
  const kernel::PlaceResult& result = *pass.result;
  const Outcome outcome = result.outcome[i];
  if (s.job.running[to_index(job)] == 0 || (*pass.lost)[to_index(job)] != 0) return false;
  if (outcome != Outcome::kPlaced && outcome != Outcome::kMoved) return false;
  const std::int32_t shape = pass.problem->options[pass.problem->option_begin[job] + result.option[i]].shape;
  return shape == s.job.shape[to_index(job)] &&
         same_gpus({result.entries + result.entry_begin[i], result.entries + result.entry_end[i]}, s.held_entries(job));
}

// Only drained nodes matter: no job starts on them, so their GPUs are those of jobs that stay, and of what repaired gangs keep.
void PlanBuilder::set_held_after(const StateImpl& s, const PassOutput& pass) {
  held_after_ = s.node.held;
  if (std::all_of(s.node.drained.begin(), s.node.drained.end(), [](std::uint64_t gpus) { return gpus == 0; })) return;
  for (const std::int32_t job : s.job_order) {
    const std::int32_t i = position_[to_index(job)];
    const bool stays =
        (i < 0 || pass.result->outcome[i] == Outcome::kKept) && (*pass.lost)[to_index(job)] == 0 && (*pass.repaired)[to_index(job)] < 0;
    if (stays || s.job.running[to_index(job)] == 0) continue;
    for (const PlanEntry& held : s.held_entries(job)) {
      if (held.share_ppm == kWholeGpu) held_after_[to_index(held.node)] &= ~held.gpus;
    }
  }
  for (const std::vector<PlanEntry>& gang : *pass.repairs) {
    for (const PlanEntry& kept : gang) held_after_[to_index(kept.node)] |= kept.gpus;
  }
}

// What all waiting jobs of its class lack; null: the job has none.
const Reason* PlanBuilder::class_reason(const PassOutput& pass, const JobPass& job) {
  if (pass.class_of == nullptr || to_index(job.job) >= pass.class_of->size()) return nullptr;
  const std::int32_t of = (*pass.class_of)[to_index(job.job)];
  if (of < 0) return nullptr;
  if (class_reasons_.size() <= to_index(of)) class_reasons_.resize(to_index(of) + 1);
  ClassReason& known = class_reasons_[to_index(of)];
  const bool behind = job.outcome == Outcome::kBehind;
  if (known.plan != plans_ || known.behind != behind) known = {plans_, behind, reasons_.explain(job)};
  return &known.reason;
}

std::span<const std::int32_t> PlanBuilder::jobs_of(const StateImpl& s, const PassOutput& pass) {
  if (pass.others == nullptr) return s.job_order;
  jobs_.assign(pass.request->order, pass.request->order + pass.request->n);
  jobs_.insert(jobs_.end(), rejected_jobs_.begin(), rejected_jobs_.end());
  std::sort(jobs_.begin(), jobs_.end(),
            [&](std::int32_t a, std::int32_t b) { return s.job_label[to_index(a)] < s.job_label[to_index(b)]; });
  return jobs_;
}

void PlanBuilder::build(const StateImpl& s, const PassOutput& pass, Plan& plan) {
  const kernel::PlaceRequest& request = *pass.request;
  const kernel::PlaceResult& result = *pass.result;
  const kernel::ProblemView& p = *pass.problem;
  ++plans_;
  plan.decisions.clear();
  plan.entries.clear();
  plan.totals = {};
  plan.objective.clear();
  position_.assign(s.jobs.size(), -1);
  for (std::int32_t i = 0; i < request.n; ++i) {
    assert(position_[to_index(request.order[i])] < 0);  // once in the order
    position_[to_index(request.order[i])] = i;
  }

  // Free GPUs after the plan is applied. All leaving jobs are released first, because earlier jobs of the pass took
  // part of what they held.
  after_.begin(p);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if ((*pass.lost)[to_index(job)] != 0 || (pass.left != nullptr && (*pass.left)[to_index(job)] != 0))
      continue;  // not in the problem any more
    // A displaced job that will start again later holds nothing until then.
    const bool later = result.outcome[i] == Outcome::kReserved && s.job.running[to_index(job)] != 0;
    if (later || result.outcome[i] == Outcome::kPreempted || result.outcome[i] == Outcome::kMoved) after_.release(job);
  }
  std::int32_t blocked = -1;
  std::int32_t reserved = -1;
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    const Outcome outcome = result.outcome[i];
    if (outcome == Outcome::kPlaced || outcome == Outcome::kMoved) {
      const kernel::DemandRow& demand = p.demands[p.options[p.option_begin[job] + result.option[i]].demand];
      for (std::int32_t e = result.entry_begin[i]; e < result.entry_end[i]; ++e) after_.take(demand, result.entries[e]);
      after_.charge_queue(job, demand.gpu_type, demand.quota);
    }
    if (blocked < 0 && (waits(outcome) || outcome == Outcome::kPreempted)) blocked = job;
    if (outcome == Outcome::kReserved && reserved < 0) reserved = i;  // the first
  }
  set_held_after(s, pass);
  ReasonInput input = reason_input(s, p);
  input.held = held_after_.data();
  input.option_run = request.option_run;
  input.left_out = pass.left_out;
  reasons_.begin(input);

  bool unproved = false;
  bool predicted = false;  // some job is rejected because of predictions, which no certificate covers
  std::int64_t used = 0;
  const bool all = pass.others == nullptr;
  if (all) {
    plan.decisions.reserve(s.job_order.size());
  } else {
    used = pass.others->gpus;
    plan.totals.keeps = pass.others->run;
    plan.totals.waits = pass.others->wait;
  }
  const Decision blank;  // copied: a constructor call would clear it byte by byte first
  for (const std::int32_t job_index : jobs_of(s, pass)) {
    assert(!all || s.job_rank()[to_index(job_index)] == static_cast<std::int32_t>(plan.decisions.size()));
    // Descriptions are spread over memory: kept and waiting jobs, the majority, are recognised by columns alone.
    plan.decisions.push_back(blank);
    Decision& d = plan.decisions.back();
    d.job = job_index;
    const std::int32_t i = position_[to_index(job_index)];
    const bool is_lost = (*pass.lost)[to_index(job_index)] != 0;
    const std::int32_t repaired = (*pass.repaired)[to_index(job_index)];
    const Outcome outcome = i < 0 ? Outcome::kKept : result.outcome[i];
    const bool running = s.job.running[to_index(job_index)] != 0;
    if (repaired >= 0) {
      repair(s, (*pass.repairs)[to_index(repaired)], d, plan);
    } else if (rejected_[to_index(job_index)] != 0) {
      predicted = reject_job(s, d) || predicted;
    } else if (outcome == Outcome::kKept) {
      assert(running);
      keep(s, (*pass.remaining)[to_index(job_index)], d, plan);
    } else if (returns(s, pass, i, job_index)) {
      keep(s, (*pass.remaining)[to_index(job_index)], d, plan);
    } else if (outcome == Outcome::kPlaced || outcome == Outcome::kMoved || outcome == Outcome::kReserved) {
      place_entries(s, pass, i, d, plan);
      const std::int64_t rate = s.jobs[to_index(job_index)].option_rate[to_index(result.option[i])];
      predict(s, d, plan, rate, outcome == Outcome::kReserved ? result.reserve_at[i] : s.now);
      d.action = Action::kStart;
      if (outcome == Outcome::kReserved) {
        d.action = Action::kReserve;
      } else if (running) {
        move(s, d);
      }
    } else {
      d.action = running ? Action::kPreempt : Action::kWait;
      if (running) d.cost_us = displace_cost(s.jobs[to_index(job_index)].job->costs);
    }
    if (d.action == Action::kReserve && running) {
      // A displaced job holds nothing now; the reason states that it will start again.
      d.action = Action::kPreempt;
      plan.entries.resize(to_index(d.entry_begin));
      d.entry_end = d.entry_begin = 0;
      d.shape = -1;
      d.start_us = d.finish_us = kNever;
      d.rate = 0;
      d.local_batch = 0;
      d.learning_rate_pico = 0;
      d.cost_us = displace_cost(s.jobs[to_index(job_index)].job->costs);
    }
    // A plan of changes does not list the jobs that wait. Their reasons count where they say that work ran out: `proof`.
    const bool unlisted = plan.changes_only && d.action == Action::kWait && outcome != Outcome::kBudget && outcome != Outcome::kGaveUp;
    if (!unlisted && rejected_[to_index(job_index)] == 0 &&
        (d.action == Action::kWait || d.action == Action::kPreempt || d.action == Action::kReserve)) {
      JobPass one;
      one.job = job_index;
      one.outcome = d.action == Action::kPreempt ? Outcome::kPreempted : outcome;
      one.may_run = !running;
      one.lost_gpus = is_lost;
      one.gave_up = outcome == Outcome::kGaveUp;
      if (i >= 0) one.reserve_at = result.reserve_at[i];
      if (one.outcome == Outcome::kPreempted && result.displaced_by[i] >= 0) one.other = request.order[result.displaced_by[i]];
      if (outcome == Outcome::kBehind) one.other = blocked;
      if ((waits(outcome) || outcome == Outcome::kReserved) && reserved >= 0 && reserved < i && one.outcome != Outcome::kPreempted) {
        one.other = request.order[reserved];
        one.other_at = result.reserve_at[reserved];
      }
      const Reason* const known = d.action == Action::kWait ? class_reason(pass, one) : nullptr;
      if (pass.choice != nullptr && !is_lost && one.other < 0) d.reason = pass.choice->outbid(job_index);
      if (known != nullptr) {
        d.reason = *known;
      } else if (d.reason.code == ReasonCode::kNone) {
        d.reason = reasons_.explain(one);
      } else {
        reasons_.add_unavailable(job_index, d.reason);
      }
      if (pass.quotas != nullptr) pass.quotas->say_why(s, job_index, d.reason);
      // Beside a reservation not all that victims hold would help.
      const bool tries_all = pass.as_stated && outcome == Outcome::kWaits && d.action == Action::kWait && (reserved < 0 || reserved > i);
      if (tries_all && pass.quotas != nullptr && pass.quotas->is_entitled(job_index) && lacks_room(d.reason.code) &&
          is_flat_gang(p, job_index))
        d.reason.queue = s.job.queue[to_index(job_index)];
      unproved = unproved || d.reason.code == ReasonCode::kBudget;
    }
    count(plan.totals, d.action);
    if (d.action == Action::kReserve) continue;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[to_index(e)];
      if (entry.share_ppm == kWholeGpu) used += std::popcount(entry.gpus);
    }
    if (!all && (d.action == Action::kWait || d.action == Action::kKeep)) {
      plan.entries.resize(to_index(d.entry_begin == d.entry_end ? static_cast<std::int32_t>(plan.entries.size()) : d.entry_begin));
      plan.decisions.pop_back();
    }
  }
  const bool all_rejected = !predicted && plan.totals.rejects > 0 && plan.totals.rejects == std::ssize(s.job_order);
  plan.proof = unproved ? Proof::kBudgetExhausted : all_rejected ? Proof::kInfeasibleCertified : Proof::kPlacedValidated;
  std::int64_t free = 0;
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    plan.totals.gpus += std::popcount(s.node.usable[n]);
    free += std::popcount(after_.free()[n]);
  }
  plan.totals.gpus_used = used;
  plan.objective.emplace_back("gpus_used", used);
  plan.objective.emplace_back("gpus_free", free);
}

}  // namespace berth::core
