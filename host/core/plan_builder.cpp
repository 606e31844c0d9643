#include "host/core/plan_builder.hpp"

#include <algorithm>
#include <bit>

#include "host/core/at.hpp"
#include "host/core/costs.hpp"
#include "host/core/job_rates.hpp"
#include "host/core/plan_rows.hpp"
#include "host/core/shape_choice.hpp"
#include "host/core/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

bool waits(Outcome outcome) { return outcome == Outcome::kWaits || outcome == Outcome::kGaveUp || outcome == Outcome::kQuota; }

void append(Plan& plan, Decision& d, std::span<const PlanEntry> entries) {
  d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
  for (const PlanEntry& entry : entries) plan.entries.push_back(entry);  // most are single: insert would cost more
  d.entry_end = static_cast<std::int32_t>(plan.entries.size());
}

enum : std::uint8_t { kCannotRun = 1, kTooLate = 2 };  // of declined_

}  // namespace

void PlanBuilder::predict(const StateImpl& s, Decision& d, const Plan& plan, std::int64_t rate, TimeUs start) const {
  const Job& job = *s.jobs[at(d.job)].job;
  // Where an opaque job lies does not change its rate; how many members a mended one has left does.
  if (job.profile.kind != ProfileKind::kOpaque || d.action == Action::kReplace) {
    const std::int64_t placed =
        placed_rate(s, job, d.shape, std::span(plan.entries).subspan(at(d.entry_begin), at(d.entry_end - d.entry_begin)));
    if (placed > 0) rate = placed;
  }
  d.rate = rate;
  d.local_batch = job.shapes[at(d.shape)].local_batch;
  d.learning_rate_pico = job.shapes[at(d.shape)].learning_rate_pico;
  d.start_us = start;
  const TimeUs run = s.run_or_limit(d.job, rate);
  if (run != kNever && run <= kNever - 1 - start) d.finish_us = start + run;
}

void PlanBuilder::place_entries(const StateImpl& s, const WalkOutput& walk, std::int32_t i, Decision& d, Plan& plan) const {
  const kernel::ProblemView& p = *walk.problem;
  const kernel::OptionRow& option = p.options[p.option_begin[d.job] + walk.result->option[i]];
  const kernel::DemandRow& demand = p.demands[option.demand];
  const Shape& shape = s.jobs[at(d.job)].job->shapes[at(option.shape)];
  d.shape = option.shape;
  d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
  append_placed(s, demand, shape, {walk.result->entries + walk.result->entry_begin[i], walk.result->entries + walk.result->entry_end[i]},
                plan.entries);
  d.entry_end = static_cast<std::int32_t>(plan.entries.size());
}

ReasonInput PlanBuilder::reason_input(const StateImpl& s, const kernel::ProblemView& p) const {
  ReasonInput input;
  input.problem = &p;
  input.asked = s.problem().options;
  input.free = after_.supply();
  input.queue_used = after_.queue_used().data();
  input.total = s.total_supply();
  input.now = s.now;
  input.lasting_filters = s.filters.lasting();
  input.cluster_version = s.structure_version();
  return input;
}

const std::vector<std::uint8_t>& PlanBuilder::decline(const StateImpl& s, const kernel::ProblemView& p, CertificateMemory& certificates) {
  after_.begin(p);
  reasons_.begin(reason_input(s, p));
  declined_.assign(s.jobs.size(), 0);
  for (const std::int32_t slot : s.job_order) {
    if (s.job.running[at(slot)] != 0) continue;
    const Reason never = reasons_.never(slot);
    // Where the independent checker does not find the same evidence, nothing is concluded: the job waits.
    if (never.certified && certificates.holds(s.facts(), slot, never)) {
      declined_[at(slot)] = kCannotRun;
    } else if (s.too_late(slot) != kNever) {
      declined_[at(slot)] = kTooLate;
    }
  }
  return declined_;
}

const std::vector<std::uint8_t>& PlanBuilder::impossible(const StateImpl& s, const kernel::ProblemView& p) {
  const std::pair versions(s.structure_version(), s.options_version());
  if (impossible_versions_ == versions) return impossible_;
  impossible_versions_ = versions;
  impossible_.assign(at(p.option_begin[p.n_jobs]), 0);
  for (const std::int32_t slot : s.job_order) {
    for (std::int32_t o = p.option_begin[slot]; o < p.option_begin[slot + 1]; ++o) impossible_[at(o)] = reasons_.never_in(slot, o) ? 1 : 0;
  }
  return impossible_;
}

void PlanBuilder::build(const StateImpl& s, const WalkOutput& walk, Plan& plan) {
  const kernel::PlaceRequest& request = *walk.request;
  const kernel::PlaceResult& result = *walk.result;
  const kernel::ProblemView& p = *walk.problem;
  plan.decisions.clear();
  plan.entries.clear();
  plan.totals = {};
  plan.objective.clear();
  position_.assign(s.jobs.size(), -1);
  for (std::int32_t i = 0; i < request.n; ++i) position_[at(request.order[i])] = i;

  // What is free after the plan is carried out. All who leave go first: jobs walked before them took part of what they held.
  after_.begin(p);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if ((*walk.lost)[at(job)] != 0 || (walk.left != nullptr && (*walk.left)[at(job)] != 0)) continue;  // gone from the problem already
    // A displaced job that will start again later holds nothing until then.
    const bool later = result.outcome[i] == Outcome::kReserved && s.job.running[at(job)] != 0;
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
    if (outcome == Outcome::kReserved) reserved = i;
  }
  ReasonInput input = reason_input(s, p);
  input.option_run = request.option_run;
  reasons_.begin(input);

  bool unproved = false;
  bool predicted = false;  // some job is declined for what is predicted, which no certificate covers
  std::int64_t used = 0;
  plan.decisions.reserve(s.job_order.size());
  const Decision blank;  // copied: a call of the constructor clears byte by byte first
  for (const std::int32_t slot : s.job_order) {
    // Descriptions lie far apart in memory: kept and waiting jobs, the most, are told from columns alone.
    plan.decisions.push_back(blank);
    Decision& d = plan.decisions.back();
    d.job = slot;
    const std::int32_t i = position_[at(slot)];
    const bool is_lost = (*walk.lost)[at(slot)] != 0;
    const std::int32_t mended = (*walk.mended)[at(slot)];
    const Outcome outcome = i < 0 ? Outcome::kKept : result.outcome[i];
    const bool running = s.job.running[at(slot)] != 0;
    if (mended >= 0) {
      d.action = Action::kReplace;
      d.shape = s.job.shape[at(slot)];
      append(plan, d, (*walk.mends)[at(mended)]);
      d.cost_us = restart_cost(s.jobs[at(slot)].job->costs);
      predict(s, d, plan, s.job.rate[at(slot)], s.now);
    } else if (declined_[at(slot)] != 0) {
      d.action = Action::kDecline;
      if (declined_[at(slot)] == kCannotRun) {
        d.reason = reasons_.never(slot);
      } else {
        d.reason.code = ReasonCode::kDeadlineImpossible;
        d.reason.until_us = s.too_late(slot);
        predicted = true;
      }
    } else if (outcome == Outcome::kKept) {
      d.action = Action::kKeep;
      d.shape = s.job.shape[at(slot)];
      append(plan, d, s.held_entries(slot));
      d.local_batch = s.job.local_batch[at(slot)];
      d.learning_rate_pico = s.job.learning_rate_pico[at(slot)];
      d.rate = s.job.rate[at(slot)];
      const TimeUs left = s.or_limit(slot, (*walk.remaining)[at(slot)]);
      if (left != kNever && left <= kNever - 1 - s.now) d.finish_us = s.now + left;
    } else if (outcome == Outcome::kPlaced || outcome == Outcome::kMoved || outcome == Outcome::kReserved) {
      place_entries(s, walk, i, d, plan);
      const std::int64_t rate = s.jobs[at(slot)].option_rate[at(result.option[i])];
      predict(s, d, plan, rate, outcome == Outcome::kReserved ? *result.reserve_at : s.now);
      d.action = Action::kStart;
      if (outcome == Outcome::kReserved) {
        d.action = Action::kReserve;
      } else if (running) {
        d.action = d.shape == s.job.shape[at(slot)] ? Action::kMigrate : Action::kResize;
        const Costs& costs = s.jobs[at(slot)].job->costs;
        d.cost_us = d.action == Action::kMigrate ? migrate_cost(costs) : resize_cost(costs);
      }
    } else {
      d.action = running ? Action::kPreempt : Action::kWait;
      if (running) d.cost_us = displace_cost(s.jobs[at(slot)].job->costs);
    }
    if (d.action == Action::kReserve && running) {
      // A displaced job holds nothing now; that it will start again is said by the reason.
      d.action = Action::kPreempt;
      plan.entries.resize(at(d.entry_begin));
      d.entry_end = d.entry_begin = 0;
      d.shape = -1;
      d.start_us = d.finish_us = kNever;
      d.rate = 0;
      d.local_batch = 0;
      d.learning_rate_pico = 0;
      d.cost_us = displace_cost(s.jobs[at(slot)].job->costs);
    }
    if (d.action == Action::kWait || d.action == Action::kPreempt || d.action == Action::kReserve) {
      JobWalk one;
      one.slot = slot;
      one.outcome = d.action == Action::kPreempt ? Outcome::kPreempted : outcome;
      one.may_run = !running;
      one.lost_gpus = is_lost;
      one.gave_up = outcome == Outcome::kGaveUp;
      one.reserve_at = *result.reserve_at;
      if (one.outcome == Outcome::kPreempted && result.displaced_by[i] >= 0) one.other = request.order[result.displaced_by[i]];
      if (outcome == Outcome::kBehind) one.other = blocked;
      if (waits(outcome) && reserved >= 0 && reserved < i) one.other = request.order[reserved];
      if (walk.choice != nullptr && !is_lost) d.reason = walk.choice->outbid(slot);
      if (d.reason.code == ReasonCode::kNone) d.reason = reasons_.explain(one);
      unproved = unproved || d.reason.code == ReasonCode::kBudget;
    }
    count(plan.totals, d.action);
    if (d.action == Action::kReserve) continue;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[at(e)];
      if (entry.share_ppm == kWholeGpu) used += std::popcount(entry.gpus);
    }
  }
  const bool all_declined =
      !predicted && plan.totals.declines > 0 && plan.totals.declines == static_cast<std::int64_t>(plan.decisions.size());
  plan.proof = unproved ? Proof::kBudgetExhausted : all_declined ? Proof::kInfeasibleCertified : Proof::kPlacedValidated;
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
