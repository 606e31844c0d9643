#include "host/core/engine/waiting_heads.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <functional>
#include <iterator>
#include <string>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/quota/lowered_limits.hpp"
#include "host/core/quota/quota_order.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

// What a job asks for, its queue and the order of the jobs decide alone whether it starts. No class of preemption and no end of a node
// tells jobs apart that ask for the same. What a place of a pass can reach, its victims behind it included, only decreases.
bool WaitingHeads::stand_for_all(const StateImpl& s, const ChosenPolicy& chosen, const PassProblem& problem) {
  const PassRules& rules = chosen.rules;
  if (chosen.policy == nullptr || !chosen.policy->waiting_order_rests() || !rules.delays || !chosen.entry->preemptive) return false;
  if (rules.discipline != kernel::Discipline::kGreedy || rules.packing == Packing::kConsolidate || rules.packing == Packing::kContention ||
      rules.consolidation || rules.admits_by_count || chosen.entry->class_rule || QuotaOrder::applies(s, rules.quotas))
    return false;
  if (!rules.displaces_over_limit && exceeds_limits(s.problem())) return false;
  if (!s.reservations.empty() || s.any_several_shapes() || s.any_longest_wait()) return false;
  return s.node.sharing_nodes == 0 && problem.view().has_until == 0 && !problem.failures().any();
}

// What is not exact may find room where the same did not before. A timer puts one flat group into one more domain at the most, of which
// a pass tries all, or says that it gave up.
WaitingHeads::Waiting WaitingHeads::waiting(const StateImpl& s, std::int32_t job) {
  const TimeUs waits = s.job.waiting_since[to_index(job)];
  Waiting one{job, -1, waits == kNever ? s.job.submit[to_index(job)] : waits, s.last_start(job)};
  description_.assign(1, s.job.queue[to_index(job)]);
  for (const kernel::OptionRow& option : s.jobs[to_index(job)].options) {
    if (s.demands.rows()[to_index(option.demand)].exact == 0) return one;
    description_.push_back(option.demand);
  }
  const auto [found, fresh] = kind_of_.try_emplace(description_, static_cast<std::int32_t>(described_.size()));
  if (fresh) described_.push_back(&found->first);
  one.kind = found->second;
  return one;
}

void WaitingHeads::read_changes(const StateImpl& s, DelayTimers& timers, std::size_t kind) {
  std::vector<TimeUs>& changes = kinds_[kind].changes;
  changes.clear();
  for (TimeUs waited = 0; waited != kNever;) {
    TimeUs change = kNever;
    for (const std::int32_t demand : std::span(*described_[kind]).subspan(1))
      change = std::min(change, timers.next_change(s, demand, waited));
    if (change != kNever) changes.push_back(change);
    waited = change;
  }
}

void WaitingHeads::read_kinds(const StateImpl& s, DelayTimers& timers) {
  if (timers_version_ != timers.version()) {
    const std::vector<std::int64_t>* const gpus = timers.changed_since(timers_version_);
    const auto is_other = [&](std::int32_t demand) {
      return std::find(gpus->begin(), gpus->end(), s.demands.rows()[to_index(demand)].gpus) != gpus->end();
    };
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      const std::span demands = std::span(*described_[kind]).subspan(1);
      if (gpus == nullptr || std::any_of(demands.begin(), demands.end(), is_other)) read_changes(s, timers, kind);
    }
  }
  timers_version_ = timers.version();
  while (kinds_.size() < described_.size()) {
    kinds_.emplace_back();
    read_changes(s, timers, kinds_.size() - 1);
  }
  std::size_t next = 0;
  for (Kind& kind : kinds_) {
    kind.first = next;
    next += kind.changes.size() + 1;
  }
  classes_.assign(next, {});
}

std::size_t WaitingHeads::class_of(TimeUs now, const Waiting& one) const {
  const Kind& kind = kinds_[to_index(one.kind)];
  const TimeUs waited = now - std::min(now, one.since);
  std::size_t of = 0;
  while (of < kind.changes.size() && waited >= kind.changes[of]) ++of;
  return kind.first + of;
}

void WaitingHeads::set_rejected(std::span<const std::int32_t> jobs) {
  rejected_.assign(jobs.begin(), jobs.end());
  std::sort(rejected_.begin(), rejected_.end());
}

namespace {

// Two words tell short texts apart.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t first = 0, last = 0;
  const std::size_t n = std::min(text.size(), sizeof first);
  std::memcpy(&first, text.data(), n);
  std::memcpy(&last, text.data() + text.size() - n, n);
  const std::uint64_t rest = text.size() > 2 * sizeof first ? std::hash<std::string>()(text) : text.size();
  return (first * 0x9E3779B97F4A7C15U ^ (last + rest)) * 0xC2B2AE3D27D4EB4FU;
}

}  // namespace

// The caller may have changed it. DelayTimers compares the columns that it reads.
std::uint64_t WaitingHeads::fingerprint(const PolicyState& policy_state) {
  std::uint64_t sum = 0;
  for (const auto& [name, rows] : policy_state.columns) {
    if (DelayWindows::is_column(name)) continue;
    const std::uint64_t column = hash_of(name);
    for (const auto& [row, value] : rows) {
      std::uint64_t mixed = (hash_of(row) ^ column) + static_cast<std::uint64_t>(value) * 0x9E3779B97F4A7C15U;
      mixed = (mixed ^ (mixed >> 31)) * 0xBF58476D1CE4E5B9U;
      sum += mixed ^ (mixed >> 29);
    }
  }
  return sum;
}

// A running job that stays has the lease that the pass says, unless leases did not matter there. Others are asked again, should they
// still run.
void WaitingHeads::read_leases(const StateImpl& s, const PassInput& in, const kernel::PlaceRequest& request,
                               const kernel::PlaceResult& placed) {
  ends_.resize(s.jobs.size(), kUnknown);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::size_t job = to_index(request.order[i]);
    const kernel::Outcome outcome = placed.outcome[i];
    if (s.job.running[job] == 0) continue;
    const bool stays = outcome == kernel::Outcome::kKept || outcome == kernel::Outcome::kPlaced;
    const TimeUs end = stays ? in.changes()[to_index(i)] : kNever;
    ends_[job] = end == kNever ? kUnknown : end;
  }
}

void WaitingHeads::look(const StateImpl& s, const ChosenPolicy& chosen, const PassProblem& problem, const PassInput& in,
                        const kernel::PlaceRequest& request, const kernel::PlaceResult& placed, std::span<const std::int32_t> rejected,
                        const Plan& plan, const PolicyState& policy_state) {
  known_ = false;
  if (!plan.changes_only || plan.totals.reserves > 0 || plan.stopped_by != "done" || plan.proof != Proof::kPlacedValidated) return;
  if (!stand_for_all(s, chosen, problem)) return;
  kind_of_.clear();
  described_.clear();
  kinds_.clear();
  waiting_.clear();
  running_.clear();
  read_leases(s, in, request, placed);
  for (std::int32_t i = 0; i < request.n; ++i) {
    const std::int32_t job = request.order[i];
    if (s.job.running[to_index(job)] == 0) {
      waiting_.push_back(waiting(s, job));
    } else {
      running_.push_back({job, ends_[to_index(job)], whole_gpus(s.held_entries(job))});
    }
  }
  set_rejected(rejected);
  if (policy_ == nullptr || policy_version_ != chosen.version) {
    policy_ = chosen.entry->make(chosen.params);
    compared_ = chosen.entry->make(chosen.params);
  }
  policy_version_ = chosen.version;
  cluster_version_ = s.cluster_version();
  s.log().read(cursor_, changed_jobs_, changed_nodes_);
  changed_jobs_.clear();
  changed_nodes_.clear();
  now_ = s.now;
  policy_state_ = fingerprint(policy_state);
  known_ = true;
}

void WaitingHeads::settle(const StateImpl& s, const PassInput& in, const kernel::PlaceRequest& request, const kernel::PlaceResult& placed,
                          const PolicyState& policy_state) {
  read_leases(s, in, request, placed);
  for (Running& one : running_) {
    if (one.end <= s.now) one.end = ends_[to_index(one.job)];
  }
  policy_state_ = fingerprint(policy_state);
}

bool WaitingHeads::read(const StateImpl& s, const ChosenPolicy& chosen, const PolicyState& policy_state) {
  if (!known_) return false;
  known_ = s.log().read(cursor_, changed_jobs_, changed_nodes_) && policy_version_ == chosen.version &&
           cluster_version_ == s.cluster_version() && s.now >= now_ && policy_state_ == fingerprint(policy_state);
  now_ = s.now;
  return known_;
}

// Jobs that changed leave their places. Those that wait now find theirs by comparisons: the others keep their order.
bool WaitingHeads::follow(const StateImpl& s, const ChosenPolicy& chosen, const PassInput::Marks& marks,
                          std::span<const std::int32_t> rejected, const TriedOptions& tried, const PolicyState& policy_state) {
  was_rejected_.swap(rejected_);
  set_rejected(rejected);
  std::set_symmetric_difference(was_rejected_.begin(), was_rejected_.end(), rejected_.begin(), rejected_.end(),
                                std::back_inserter(changed_jobs_));
  std::sort(changed_jobs_.begin(), changed_jobs_.end());
  changed_jobs_.erase(std::unique(changed_jobs_.begin(), changed_jobs_.end()), changed_jobs_.end());
  if (changed_jobs_.size() > kMostChanges || described_.size() > 64 + 2 * s.job_order.size()) return false;
  changed_.resize(s.jobs.size(), 0);
  for (const std::int32_t job : changed_jobs_) changed_[to_index(job)] = 1;
  const auto has_changed = [&](const auto& one) { return changed_[to_index(one.job)] != 0; };
  std::erase_if(waiting_, has_changed);
  std::erase_if(running_, has_changed);
  const auto comes_first = [&](const Waiting& a, const Waiting& b) {
    comparison_.order(s, *chosen.entry, *compared_, policy_state, marks, tried, chosen.rules, std::array{a.job, b.job});
    return comparison_.ordered().front() == a.job;
  };
  for (const std::int32_t job : changed_jobs_) {
    changed_[to_index(job)] = 0;
    if (s.jobs[to_index(job)].job == nullptr || marks.rejected[to_index(job)] != 0) continue;
    if (s.job.running[to_index(job)] != 0) {
      running_.push_back({job, kUnknown, whole_gpus(s.held_entries(job))});
    } else {
      const Waiting one = waiting(s, job);
      waiting_.insert(std::lower_bound(waiting_.begin(), waiting_.end(), one, comes_first), one);
    }
  }
  changed_jobs_.clear();
  changed_nodes_.clear();
  return true;
}

bool WaitingHeads::choose(const StateImpl& s, const ChosenPolicy& chosen, PassProblem& problem, const PassInput::Marks& marks,
                          std::span<const std::int32_t> rejected, const TriedOptions& tried, const PolicyState& policy_state) {
  known_ = known_ && stand_for_all(s, chosen, problem) && follow(s, chosen, marks, rejected, tried, policy_state);
  if (!known_ || waiting_.empty()) return false;
  read_kinds(s, problem.timers());
  pick(s);
  assert(!jobs_.empty());
  problem.narrow(s, jobs_);
  return true;
}

void WaitingHeads::pick(const StateImpl& s) {
  jobs_.clear();
  picked_.clear();
  others_ = {};
  others_change_ = others_timer_ = kNever;
  for (const Running& one : running_) {
    if (one.end <= s.now) {
      jobs_.push_back(one.job);
      continue;
    }
    ++others_.run;
    others_.gpus += one.gpus;
    others_change_ = std::min(others_change_, one.end);
  }
  for (const Waiting& one : waiting_) {
    if (one.kind >= 0) {
      const std::size_t at = class_of(s.now, one);
      Class& of = classes_[at];
      if (of.had == of.most) {
        ++others_.wait;
        if (one.last_start != kNever && one.last_start >= s.now) others_change_ = std::min(others_change_, one.last_start + 1);
        const Kind& kind = kinds_[to_index(one.kind)];
        const std::size_t change = at - kind.first;
        if (change < kind.changes.size())
          others_timer_ = std::min(others_timer_, DelayTimers::end_of(std::min(s.now, one.since), kind.changes[change]));
        continue;
      }
      ++of.had;
    }
    jobs_.push_back(one.job);
    picked_.push_back(one);
  }
}

// Whether the nodes have room for the members of a flat gang, wherever they are.
bool WaitingHeads::may_fit(const kernel::ProblemView& p, const kernel::OptionRow& option) const {
  const kernel::DemandRow& demand = p.demands[option.demand];
  const kernel::GroupRow& row = p.groups[demand.group_begin];
  std::int64_t room = 0;
  for (const Capacity::Row& node : capacity_.rows()) {
    if (capacity_.allowed(demand.filter, node.node)) room += capacity_.members(node, row, Stage::kUntil, kNever);
    if (room >= row.members) return true;
  }
  return false;
}

// A class that started all of the jobs that the pass had gets twice as many, unless no room is left behind the last of them.
// @param some_wait  of the jobs of the pass; else a class gets more in any case, so that the next pass has one that waits
// @returns whether a class has more jobs now
bool WaitingHeads::count_starts(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                                const kernel::PlaceResult& placed, bool some_wait) {
  std::int32_t last_victim = -1;
  bool some_left = false;  // others have their GPUs then
  position_.resize(s.jobs.size());
  for (std::int32_t i = 0; i < request.n; ++i) {
    position_[to_index(request.order[i])] = i;
    if (request.running[i] != 0 && request.victim_ok[i] != 0) last_victim = i;
    some_left = some_left || (request.running[i] != 0 && placed.outcome[i] != kernel::Outcome::kKept);
  }
  after_.begin(p);
  // `picked_` is in order, so positions ascend.
  std::int32_t at = 0;
  bool more = false;
  for (const Waiting& one : picked_) {
    const std::int32_t i = position_[to_index(one.job)];
    if (one.kind < 0 || placed.outcome[i] != kernel::Outcome::kPlaced) continue;
    for (; at <= i; ++at) {
      if (placed.outcome[at] != kernel::Outcome::kPlaced && placed.outcome[at] != kernel::Outcome::kMoved) continue;
      const kernel::DemandRow& demand = p.demands[p.options[p.option_begin[request.order[at]] + placed.option[at]].demand];
      for (std::int32_t e = placed.entry_begin[at]; e < placed.entry_end[at]; ++e) after_.take(demand, placed.entries[e]);
    }
    Class& of = classes_[class_of(s.now, one)];
    if (++of.started < of.most) continue;
    const auto fits = [&](const kernel::OptionRow& option) { return may_fit(p, option); };
    const bool by_room = some_wait && !some_left && last_victim <= i;
    if (by_room) capacity_.begin(p, after_.supply(), true);
    if (by_room && std::none_of(p.options + p.option_begin[one.job], p.options + p.option_end[one.job], fits)) continue;
    of.most *= 2;
    more = true;
  }
  for (Class& one : classes_) one.had = one.started = 0;
  return more;
}

WaitingHeads::Answer WaitingHeads::answer(const StateImpl& s, PassProblem& problem, const kernel::PlaceRequest& request,
                                          const kernel::PlaceResult& placed) {
  bool some_wait = false;
  for (std::int32_t i = 0; i < request.n; ++i) {
    const kernel::Outcome outcome = placed.outcome[i];
    if (outcome == kernel::Outcome::kGaveUp || outcome == kernel::Outcome::kBudget) return Answer::kNothing;
    const bool stays = outcome == kernel::Outcome::kKept || outcome == kernel::Outcome::kPlaced || outcome == kernel::Outcome::kMoved;
    some_wait = some_wait || !stays;
  }
  const bool more = count_starts(s, problem.view(), request, placed, some_wait || others_.wait == 0);
  if (!more) return some_wait ? Answer::kAll : Answer::kNothing;  // where no job waits at all the ends of leases do not matter
  pick(s);
  problem.narrow(s, jobs_);
  return Answer::kMore;
}

}  // namespace berth::core
