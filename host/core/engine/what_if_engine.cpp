#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "berth/error.hpp"
#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "berth/what_if.hpp"
#include "host/core/engine/commit_deltas.hpp"
#include "host/core/engine/edit_answers.hpp"
#include "host/core/engine/make_room.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/suppose.hpp"

namespace berth {
namespace {

/// A job that the edit names, as it was.
struct NamedJob {
  std::int32_t base = -1;  ///< index; -1: there was none
  std::int32_t queue = -1;
  bool described = false;
};

/// Which jobs and other objects an edit is about.
struct EditScope {
  std::map<std::string, NamedJob> jobs;
  bool nodes = false;   ///< come, go, or are described again: their ranks differ
  bool queues = false;  ///< their indices differ

  void add(const std::string& job, bool described) {
    NamedJob& named = jobs[job];
    named.described = named.described || described;
  }
  void operator()(const delta::PutJob& d) { add(d.job.id, true); }
  void operator()(const delta::RemoveJob& d) { add(d.job, false); }
  void operator()(const delta::StartJob& d) { add(d.job, false); }
  void operator()(const delta::StopJob& d) { add(d.job, false); }
  void operator()(const delta::SetProgress& d) { add(d.job, false); }
  void operator()(const delta::PutNode&) { nodes = true; }
  void operator()(const delta::RemoveNode&) { nodes = true; }
  void operator()(const delta::PutQueue&) { queues = true; }
  void operator()(const delta::Load&) { throw InvalidArgument("an edit changes a state and cannot load another one"); }
  template <class Other>
  void operator()(const Other&) {}
};

bool rests(Action action) { return action == Action::kKeep || action == Action::kWait; }

/// The text of an error without the place, which the caller names again.
std::string problem_of(const InputError& error) {
  const std::string text = error.what();
  const std::size_t place = error.file().size() + 2 + (error.pointer().empty() ? 0 : error.pointer().size() + 2);
  return text.substr(std::min(place, text.size()));
}

std::string names_edit(const Edit& edit) { return edit.name.empty() ? "edit" : "edit '" + edit.name + "'"; }

}  // namespace

class WhatIfEngineImpl {
 public:
  WhatIfEngineImpl(ClusterState state, WhatIfRequest base) : state_(std::move(state)), asked_(std::move(base)) {
    asked_.request.changes_only = false;
    decide_base();
  }

  EditOutcome answer(const Edit& edit);

  void follow(std::span<const Delta> deltas) {
    state_.apply(deltas);
    decide_base();
  }
  void commit_base() {
    commit(state_, base_);
    asked_.policy_state = kept_;
    decide_base();
  }

  RoomAnswer make_room(const std::string& job);

  const ClusterState& state() const { return state_; }
  const Plan& base() const { return base_; }

 private:
  /// A job whose answer may differ. The answer before is made when the edit is taken back.
  struct Pending {
    std::string job;
    std::int32_t base = -1;
    bool described = false;
    std::optional<JobAnswer> after;
  };

  void decide_base();
  void decide_edited(const Edit& edit, bool changes_only);
  void compare(const EditScope& scope);
  void look(const EditScope& scope, const std::unordered_map<std::int32_t, const NamedJob*>& named_at, const Decision& d);
  bool is_alike(const Decision& before, const Decision& after, bool same_ranks) const;
  void sum_queues(const EditScope& scope);
  void finish(EditOutcome& outcome) const;
  const StateImpl& s() const { return state_.impl(); }
  const Decision& base_of(std::int32_t job) const { return base_.decisions[to_index(base_row_[to_index(job)])]; }

  ClusterState state_;
  WhatIfRequest asked_;
  Engine engine_, other_;  // of the base's policy, and of edits that have their own
  PolicyState kept_;       // of the base plan
  Plan base_, edited_;
  std::vector<std::int32_t> base_row_;  // [jobs] of a decision; -1: none
  std::vector<std::int32_t> changing_;  // jobs that the base plan does more with than to let them run on or wait
  std::vector<std::int64_t> base_ppm_;  // [jobs] GPUs from now on
  core::QueueSums base_sums_;
  std::map<std::string, std::int64_t> base_queue_;  // by id: the same, as indices differ after an edit of queues
  core::ChosenPolicy chosen_;
  // Of one edit.
  std::vector<std::uint8_t> listed_;  // [jobs]
  std::vector<std::int64_t> after_ppm_;
  std::vector<Pending> pending_;
  std::vector<QueueUse> uses_;
  core::QueueSums sums_;
  bool needs_reasons_ = false, with_reasons_ = false;
};

void WhatIfEngineImpl::decide_base() {
  kept_ = asked_.policy_state;
  engine_.decide(state_, kept_, asked_.request, base_);
  const StateImpl& state = s();
  base_row_.assign(state.jobs.size(), -1);
  base_ppm_.assign(state.jobs.size(), 0);
  changing_.clear();
  base_sums_.clear();
  for (std::size_t i = 0; i < base_.decisions.size(); ++i) {
    const Decision& d = base_.decisions[i];
    base_row_[to_index(d.job)] = static_cast<std::int32_t>(i);
    if (!rests(d.action)) changing_.push_back(d.job);
    base_ppm_[to_index(d.job)] = core::gpus_ppm_of(state, base_, d);
    base_sums_.add(state, state.job.queue[to_index(d.job)], base_ppm_[to_index(d.job)]);
  }
  base_queue_.clear();
  for (std::size_t q = 0; q < state.queues.size(); ++q) base_queue_[state.queues[q].id] = base_sums_.of(static_cast<std::int32_t>(q));
}

void WhatIfEngineImpl::decide_edited(const Edit& edit, bool changes_only) {
  Request request = asked_.request;
  if (edit.policy) request.params.clear();
  if (edit.policy) request.policy = *edit.policy;
  if (edit.params) request.params = *edit.params;
  chosen_.choose(request.policy, request.params);
  // A plan of changes says how reservations differ from those of the engine's last plan, and that is of another edit.
  request.changes_only = changes_only && !kernel::plans_ahead(chosen_.rules.discipline);
  PolicyState policy_state;
  if (!edit.policy || *edit.policy == asked_.request.policy) policy_state = asked_.policy_state;
  Engine& engine = request.policy == asked_.request.policy && request.params == asked_.request.params ? engine_ : other_;
  engine.decide(state_, policy_state, request, edited_);
  if (edited_.reservations_since == 0 && edited_.reservations_dropped.empty()) return;
  request.changes_only = false;
  policy_state = !edit.policy || *edit.policy == asked_.request.policy ? asked_.policy_state : PolicyState();
  engine.decide(state_, policy_state, request, edited_);
}

// Of jobs that the edit does not name.
bool WhatIfEngineImpl::is_alike(const Decision& before, const Decision& after, bool same_ranks) const {
  if (before.action != after.action) return false;
  if (rests(after.action) || after.action == Action::kReject || after.action == Action::kPreempt) return true;
  if (before.shape != after.shape || before.start_us != after.start_us || !same_ranks) return false;
  return std::equal(base_.entries.begin() + before.entry_begin, base_.entries.begin() + before.entry_end,
                    edited_.entries.begin() + after.entry_begin, edited_.entries.begin() + after.entry_end);
}

void WhatIfEngineImpl::look(const EditScope& scope, const std::unordered_map<std::int32_t, const NamedJob*>& named_at, const Decision& d) {
  const auto named = named_at.empty() ? named_at.end() : named_at.find(d.job);
  const bool is_named = named != named_at.end();
  const std::int32_t base = is_named ? named->second->base : d.job;
  if (scope.queues && !rests(d.action)) after_ppm_[to_index(d.job)] = core::gpus_ppm_of(s(), edited_, d);
  if (!is_named && is_alike(base_of(base), d, !scope.nodes)) return;
  if (!scope.queues) {
    const std::int64_t after = core::gpus_ppm_of(s(), edited_, d);
    const std::int32_t queue = s().job.queue[to_index(d.job)];
    sums_.add(s(), queue, after);
    if (base >= 0) sums_.add(s(), is_named ? named->second->queue : queue, -base_ppm_[to_index(base)]);
  } else {
    after_ppm_[to_index(d.job)] = core::gpus_ppm_of(s(), edited_, d);
  }
  Pending& row = pending_.emplace_back();
  row.job = s().jobs[to_index(d.job)].job->id;
  row.base = base;
  row.described = is_named && named->second->described;
  row.after = core::answer_of(s(), edited_, d, with_reasons_);
  needs_reasons_ = needs_reasons_ || d.action == Action::kWait || d.action == Action::kReserve;
}

// The edited plan with the base plan. Jobs that it does not list run on or wait.
void WhatIfEngineImpl::compare(const EditScope& scope) {
  const StateImpl& state = s();
  pending_.clear();
  uses_.clear();
  sums_.clear();
  needs_reasons_ = false;
  if (scope.queues) {
    after_ppm_ = base_ppm_;
    after_ppm_.resize(std::max(after_ppm_.size(), state.jobs.size()));
  }
  std::unordered_map<std::int32_t, const NamedJob*> named_at;  // by index after the edit
  std::set<std::int32_t> named_before;                         // indices before it
  for (const auto& [id, named] : scope.jobs) {
    if (named.base >= 0) {
      named_before.insert(named.base);
      if (scope.queues) after_ppm_[to_index(named.base)] = 0;
    }
  }
  for (const auto& [id, named] : scope.jobs) {
    const auto found = state.index_of_job.find(id);
    if (found != state.index_of_job.end()) {
      named_at.emplace(found->second, &named);
      continue;
    }
    if (named.base < 0) continue;  // it came and went
    Pending& gone = pending_.emplace_back();
    gone.job = id;
    gone.base = named.base;
    if (!scope.queues) sums_.add(state, named.queue, -base_ppm_[to_index(named.base)]);
  }
  listed_.assign(state.jobs.size(), 0);
  for (const Decision& d : edited_.decisions) {
    listed_[to_index(d.job)] = 1;
    look(scope, named_at, d);
  }
  const auto look_unlisted = [&](std::int32_t job) {
    if (listed_[to_index(job)] != 0) return;
    listed_[to_index(job)] = 1;
    Decision d;
    d.job = job;
    d.action = state.job.running[to_index(job)] != 0 ? Action::kKeep : Action::kWait;
    look(scope, named_at, d);
  };
  for (const std::int32_t job : changing_) {
    if (named_before.count(job) == 0) look_unlisted(job);
  }
  for (const auto& [job, named] : named_at) look_unlisted(job);
  sum_queues(scope);
}

void WhatIfEngineImpl::sum_queues(const EditScope& scope) {
  const StateImpl& state = s();
  if (scope.queues) {
    for (const std::int32_t job : state.job_order) sums_.add(state, state.job.queue[to_index(job)], after_ppm_[to_index(job)]);
  }
  for (std::size_t q = 0; q < state.queues.size(); ++q) {
    const std::int64_t sum = sums_.of(static_cast<std::int32_t>(q));
    if (!scope.queues && sum == 0) continue;
    const auto found = base_queue_.find(state.queues[q].id);
    const std::int64_t before = found == base_queue_.end() ? 0 : found->second;
    const std::int64_t after = scope.queues ? sum : before + sum;
    if (before != after) uses_.push_back({state.queues[q].id, before, after});
  }
}

// The state is without the edit again.
void WhatIfEngineImpl::finish(EditOutcome& outcome) const {
  outcome.before = base_.totals;
  outcome.after = edited_.totals;
  outcome.policy = edited_.policy;
  outcome.params = edited_.params;
  outcome.queues = uses_;
  std::sort(outcome.queues.begin(), outcome.queues.end(), [](const QueueUse& a, const QueueUse& b) { return a.queue < b.queue; });
  for (const Pending& row : pending_) {
    JobChange change;
    change.job = row.job;
    change.after = row.after;
    if (row.base >= 0) change.before = core::answer_of(s(), base_, base_of(row.base), asked_.reasons);
    if (!change.before) {
      change.effect = EditEffect::kNew;
    } else if (!change.after) {
      change.effect = EditEffect::kGone;
    } else if (const auto effect = core::effect_of(*change.before, *change.after)) {
      change.effect = *effect;
    } else if (!row.described) {
      continue;
    }
    outcome.jobs.push_back(std::move(change));
  }
  std::sort(outcome.jobs.begin(), outcome.jobs.end(),
            [](const JobChange& a, const JobChange& b) { return a.effect != b.effect ? a.effect < b.effect : a.job < b.job; });
}

EditOutcome WhatIfEngineImpl::answer(const Edit& edit) {
  EditOutcome outcome;
  outcome.name = edit.name;
  outcome.revision = state_.revision();
  EditScope scope;
  try {
    for (const Delta& one : edit.deltas) std::visit(scope, one);
    for (auto& [id, named] : scope.jobs) {
      named.base = state_.find_job(id);
      if (named.base >= 0) named.queue = s().job.queue[to_index(named.base)];
    }
    with_reasons_ = false;
    core::suppose(state_.impl(), edit.deltas, [&] {
      decide_edited(edit, true);
      with_reasons_ = asked_.reasons && !edited_.changes_only;
      compare(scope);
      if (!asked_.reasons || with_reasons_ || !needs_reasons_) return;
      // Plans of changes have no reasons of jobs that wait.
      decide_edited(edit, false);
      with_reasons_ = true;
      compare(scope);
    });
  } catch (const InputError& error) {
    throw InputError(names_edit(edit), error.pointer(), error.line(), problem_of(error));
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(names_edit(edit) + ": " + error.what());
  }
  finish(outcome);
  return outcome;
}

RoomAnswer WhatIfEngineImpl::make_room(const std::string& job) {
  const std::int32_t index = state_.find_job(job);
  if (index < 0) throw InvalidArgument("no job '" + job + "'");
  if (s().job.running[to_index(index)] != 0) throw InvalidArgument("job '" + job + "' runs: there is no room to be made for it");
  RoomAnswer answer;
  answer.job = job;
  answer.base = core::answer_of(s(), base_, base_of(index), true);
  if (answer.base.action == Action::kStart) {
    answer.found = true;
    answer.allocation = answer.base.allocation;
    return answer;
  }
  if (answer.base.action == Action::kReject) {
    answer.note = "the job is rejected, which no move changes";
    return answer;
  }
  std::vector<std::uint8_t> runs(s().jobs.size(), 0);
  for (const Decision& d : base_.decisions) runs[to_index(d.job)] = d.action == Action::kKeep;
  core::RoomFinder finder(asked_.request);
  core::suppose(state_.impl(), core::commit_deltas(state_, base_), [&] { finder.find(state_, index, runs, answer); });
  return answer;
}

WhatIfEngine::WhatIfEngine(ClusterState state, WhatIfRequest base)
    : impl_(std::make_unique<WhatIfEngineImpl>(std::move(state), std::move(base))) {}
WhatIfEngine::~WhatIfEngine() = default;
WhatIfEngine::WhatIfEngine(WhatIfEngine&&) noexcept = default;
WhatIfEngine& WhatIfEngine::operator=(WhatIfEngine&&) noexcept = default;

EditOutcome WhatIfEngine::answer(const Edit& edit) { return impl_->answer(edit); }

std::vector<EditOutcome> WhatIfEngine::answer(std::span<const Edit> edits) {
  std::vector<EditOutcome> outcomes;
  outcomes.reserve(edits.size());
  for (const Edit& edit : edits) outcomes.push_back(impl_->answer(edit));
  return outcomes;
}

RoomAnswer WhatIfEngine::make_room(const std::string& job) { return impl_->make_room(job); }

void WhatIfEngine::follow(std::span<const Delta> deltas) { impl_->follow(deltas); }
void WhatIfEngine::commit_base() { impl_->commit_base(); }
const ClusterState& WhatIfEngine::state() const { return impl_->state(); }
const Plan& WhatIfEngine::base() const { return impl_->base(); }

}  // namespace berth
