// Plans that list only what changes.
#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/names.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/kept/kept_queue.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/placement/failures.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

void leave_out_unchanged(Plan& plan) {
  std::vector<PlanEntry> entries;
  std::erase_if(plan.decisions, [](const Decision& d) { return d.action == Action::kKeep || d.action == Action::kWait; });
  for (Decision& d : plan.decisions) {
    const auto begin = static_cast<std::int32_t>(entries.size());
    entries.insert(entries.end(), plan.entries.begin() + d.entry_begin, plan.entries.begin() + d.entry_end);
    d.entry_begin = begin;
    d.entry_end = static_cast<std::int32_t>(entries.size());
  }
  plan.entries = std::move(entries);
}

namespace {

// Jobs whose reservation was dropped are of the state, by job rank, and no decision says what becomes of them.
void check_dropped(const StateImpl& s, const Plan& changes, Violations& found) {
  if (changes.reservations_since > changes.revision)
    found.add("the plan of revision {} lists reservations since revision {}", changes.revision, changes.reservations_since);
  if (changes.reservations_since == 0 && !changes.reservations_dropped.empty())
    found.add("the plan lists all reservations, and {} that were dropped", changes.reservations_dropped.size());
  std::int64_t last = -1;
  auto listed = changes.decisions.begin();
  for (const std::int32_t job : changes.reservations_dropped) {
    if (job < 0 || to_index(job) >= s.job_label.size() || s.job_label[to_index(job)] < 0) {
      found.add("the plan drops the reservation of the unused job index {}", job);
      return;
    }
    const std::int64_t label = s.job_label[to_index(job)];
    const Job& described = *s.jobs[to_index(job)].job;
    if (label <= last) found.of(described, "has a dropped reservation that is not in its place by job rank");
    last = label;
    while (listed != changes.decisions.end() && s.job_label[to_index(listed->job)] < label) ++listed;
    if (listed != changes.decisions.end() && listed->job == job)
      found.of(described, "has a dropped reservation and the action {}", name(listed->action));
  }
}

}  // namespace

bool complete(const StateImpl& s, const Plan& changes, Plan& whole, Violations& found) {
  whole = changes;
  whole.decisions.clear();
  std::size_t at = 0;
  for (const std::int32_t job : s.job_order) {
    if (at < changes.decisions.size() && changes.decisions[at].job == job) {
      whole.decisions.push_back(changes.decisions[at++]);
      continue;
    }
    Decision& d = whole.decisions.emplace_back();
    d.job = job;
    if (s.job.running[to_index(job)] != 0) keep(s, s.remaining(job), d, whole);
  }
  if (at < changes.decisions.size()) {
    found.add("decision {} of the plan of changes is about job index {}, which is none of the state's or not in its place by job rank", at,
              changes.decisions[at].job);
    return false;
  }
  check_dropped(s, changes, found);
  // Jobs whose reservations stand are not listed. The numbers of jobs that wait and of those with reservations add up.
  const std::int64_t listed =
      std::count_if(changes.decisions.begin(), changes.decisions.end(), [](const Decision& d) { return d.action == Action::kReserve; });
  const std::int64_t standing = changes.totals.reserves - listed;
  if (changes.reservations_since > 0 && standing > 0 && changes.totals.waits >= 0) {
    whole.totals.reserves -= standing;
    whole.totals.waits += standing;
  }
  return true;
}

std::int64_t whole_gpus(std::span<const PlanEntry> entries) {
  std::int64_t gpus = 0;
  for (const PlanEntry& entry : entries) gpus += entry.share_ppm == kWholeGpu ? std::popcount(entry.gpus) : 0;
  return gpus;
}

// A job that starts, moves, stays after all, or is displaced. One that lost GPUs moves or has to wait.
void PlanBuilder::change(const StateImpl& s, const KeptPass& pass, const PassChange& change, bool lost, Decision& d, Plan& plan) {
  if (change.option < 0) {
    d.action = Action::kPreempt;
    d.cost_us = displace_cost(s.jobs[to_index(d.job)].job->costs);
    if (lost) {
      JobPass one;
      one.job = d.job;
      one.outcome = change.outcome;
      one.lost_gpus = true;
      d.reason = reasons_.explain(one);
      return;
    }
    d.reason.code = ReasonCode::kLostPriority;
    d.reason.other_job = change.displaced_by;
    return;
  }
  const std::span rows = pass.entries().subspan(to_index(change.entry_begin), to_index(change.entry_end - change.entry_begin));
  const kernel::OptionRow& option = s.jobs[to_index(d.job)].options[to_index(change.option)];
  const bool running = s.job.running[to_index(d.job)] != 0;
  if (running && !lost && option.shape == s.job.shape[to_index(d.job)] && same_gpus(rows, s.held_entries(d.job))) {
    d.action = Action::kKeep;
    return;
  }
  d.shape = option.shape;
  d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
  append_placed(s, s.demands.rows()[to_index(option.demand)], s.jobs[to_index(d.job)].job->shapes[to_index(option.shape)], rows,
                plan.entries);
  d.entry_end = static_cast<std::int32_t>(plan.entries.size());
  d.action = Action::kStart;
  predict(s, d, plan, s.jobs[to_index(d.job)].option_rate[to_index(change.option)], s.now);
  if (running) move(s, d);
}

void PlanBuilder::build_changes(const StateImpl& s, KeptQueue& kept, const Failures& failures, bool preemptive, Plan& plan) {
  const KeptPass& pass = kept.pass();
  plan.decisions.clear();
  plan.entries.clear();
  plan.objective.clear();
  plan.history.clear();
  plan.bound = {};
  Totals& totals = plan.totals;
  totals = {};
  const Decision blank;
  for (const PassChange& change : pass.changes()) {
    plan.decisions.push_back(blank);
    plan.decisions.back().job = change.job;
  }
  for (const std::int32_t job : rejected_jobs_) {
    plan.decisions.push_back(blank);
    plan.decisions.back().job = job;
  }
  std::int64_t tried = 0;  // of those that lost GPUs
  for (const std::int32_t job : failures.jobs()) {
    if (failures.lost()[to_index(job)] != 0) {
      ++tried;  // the pass has a change of it
      continue;
    }
    plan.decisions.push_back(blank);
    plan.decisions.back().job = job;
  }
  std::sort(plan.decisions.begin(), plan.decisions.end(),
            [&](const Decision& a, const Decision& b) { return s.job_label[to_index(a.job)] < s.job_label[to_index(b.job)]; });
  bool predicted = false;  // some job is rejected because of predictions, which no certificate covers
  std::int64_t used = pass.sums().held;
  for (Decision& d : plan.decisions) {
    if (rejected_[to_index(d.job)] != 0) {
      predicted = reject_job(s, d) || predicted;
    } else {
      const std::int32_t repaired = failures.repaired()[to_index(d.job)];
      if (repaired >= 0) {
        repair(s, failures.repairs()[to_index(repaired)], d, plan);
      } else {
        change(s, pass, *pass.change_of(d.job), failures.lost()[to_index(d.job)] != 0, d, plan);
        kept.say_why(d.job, d.reason);
      }
      if (d.action != Action::kKeep && s.job.running[to_index(d.job)] != 0) used -= whole_gpus(s.held_entries(d.job));
      used += whole_gpus(std::span(plan.entries).subspan(to_index(d.entry_begin), to_index(d.entry_end - d.entry_begin)));
    }
    count(totals, d.action);
  }
  std::erase_if(plan.decisions, [](const Decision& d) { return d.action == Action::kKeep; });
  const auto jobs = static_cast<std::int64_t>(s.job_order.size());
  const std::int64_t waiting = kept.waiting_jobs(), running = jobs - waiting - totals.rejects;
  totals.waits = waiting - totals.starts;
  totals.keeps = running - totals.moves - totals.preempts - totals.replaces;
  totals.gpus = pass.sums().usable;
  totals.gpus_used = used;
  plan.iterations = waiting + (preemptive ? running : tried);
  plan.proof = !predicted && totals.rejects > 0 && totals.rejects == jobs ? Proof::kInfeasibleCertified : Proof::kPlacedValidated;
  plan.objective.emplace_back("gpus_used", used);
  plan.objective.emplace_back("gpus_free", pass.free_after());
}

}  // namespace berth::core
