#include "host/core/engine/waiting_heads.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

// What a job asks for and the order of the jobs decide alone whether it starts: no queue, class, end of a node or deadline tells jobs
// apart that ask for the same, and free GPUs only decrease in a pass until a job is displaced.
bool WaitingHeads::stand_for_all(const StateImpl& s, const ChosenPolicy& chosen, const PassProblem& problem) {
  const PassRules& rules = chosen.rules;
  if (chosen.policy == nullptr || !chosen.policy->waiting_order_rests() || !rules.delays) return false;
  if (rules.discipline != kernel::Discipline::kGreedy || rules.packing == Packing::kConsolidate || rules.packing == Packing::kContention ||
      rules.consolidation || rules.admits_by_count || chosen.entry->class_rule || QuotaOrder::applies(s, rules.quotas))
    return false;
  if (!s.queues.empty() || !s.reservations.empty() || s.any_several_shapes() || s.any_longest_wait()) return false;
  return s.node.sharing_nodes == 0 && problem.view().has_until == 0 && !problem.failures().any();
}

void WaitingHeads::look(const StateImpl& s, const ChosenPolicy& chosen, PassProblem& problem, const kernel::PlaceRequest& request,
                        const Plan& plan) {
  known_ = false;
  if (!plan.changes_only || !plan.decisions.empty() || plan.totals.reserves > 0 || plan.stopped_by != "done") return;
  if (plan.proof != Proof::kPlacedValidated || !stand_for_all(s, chosen, problem)) return;
  const kernel::ProblemView& p = problem.view();
  jobs_.clear();
  for (const std::int32_t job : s.job_order) {
    if (s.job.hard_deadline[to_index(job)] != kNever) return;
    if (s.job.running[to_index(job)] != 0) jobs_.push_back(job);
  }
  seen_.assign(to_index(p.n_demands), 0);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (s.job.running[to_index(job)] != 0) continue;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      if (p.demands[p.options[o].demand].exact == 0) return;
    }
    if (p.option_end[job] - p.option_begin[job] == 1) {
      std::uint8_t& seen = seen_[to_index(p.options[p.option_begin[job]].demand)];
      if (seen != 0) continue;
      seen = 1;
    }
    jobs_.push_back(job);
  }
  if (policy_ == nullptr || policy_version_ != chosen.version) policy_ = chosen.entry->make(chosen.params);
  policy_version_ = chosen.version;
  changed_jobs_.clear();
  changed_nodes_.clear();
  s.log().read(cursor_, changed_jobs_, changed_nodes_);
  options_version_ = s.options_version();
  now_ = s.now;
  until_ = problem.timers().until();
  totals_ = plan.totals;
  objective_ = plan.objective;
  iterations_ = plan.iterations;
  known_ = true;
}

bool WaitingHeads::hold(const StateImpl& s, const ChosenPolicy& chosen) {
  if (!known_) return false;
  changed_jobs_.clear();
  changed_nodes_.clear();
  known_ = s.log().read(cursor_, changed_jobs_, changed_nodes_) && changed_jobs_.empty() && changed_nodes_.empty() &&
           options_version_ == s.options_version() && policy_version_ == chosen.version && s.now >= now_ && s.now < until_;
  now_ = s.now;
  return known_;
}

bool WaitingHeads::all_stay(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                            const kernel::PlaceResult& placed) {
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    const bool runs = s.job.running[to_index(job)] != 0;
    const kernel::Outcome outcome = placed.outcome[i];
    if (runs ? outcome == kernel::Outcome::kKept : outcome == kernel::Outcome::kWaits) continue;
    if (!runs || outcome != kernel::Outcome::kPlaced) return false;
    // It gave its GPUs up, and found the same ones.
    const std::int32_t shape = p.options[p.option_begin[job] + placed.option[i]].shape;
    const std::span<const kernel::PlacedRow> rows(placed.entries + placed.entry_begin[i], placed.entries + placed.entry_end[i]);
    if (shape != s.job.shape[to_index(job)] || !same_gpus(rows, s.held_entries(job))) return false;
  }
  return true;
}

void WaitingHeads::say_all_stay(Plan& plan) const {
  plan.decisions.clear();
  plan.entries.clear();
  plan.totals = totals_;
  plan.objective = objective_;
  plan.iterations = iterations_;
  plan.proof = Proof::kPlacedValidated;
  plan.stopped_by = "done";
}

}  // namespace berth::core
