#include "host/core/kept/kept_queue.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/end_of.hpp"

namespace berth::core {
bool KeptQueue::answers(const StateImpl& s, const ChosenPolicy& chosen) const {
  if (chosen.policy == nullptr || !chosen.policy->rests_while_waiting() || chosen.policy->reads_cluster()) return false;
  const PassRules& rules = chosen.rules;
  const bool plain = rules.discipline == kernel::Discipline::kStrict || rules.discipline == kernel::Discipline::kGreedy;
  if (!plain || rules.packing == Packing::kConsolidate || rules.packing == Packing::kContention || rules.consolidation || rules.delays ||
      rules.admits_by_count || s.any_longest_wait())
    return false;
  if (chosen.entry->preemptive && !chosen.policy->rises_only_at_changes()) return false;
  if (chosen.shape != ShapeRule::kLeastGpuTime && s.any_several_shapes()) return false;
  return s.node.sharing_nodes == 0 && (!reclaims(s, chosen) || rules.quotas == Quotas::kGuarantees);
}

bool KeptQueue::reclaims(const StateImpl& s, const ChosenPolicy& chosen) {
  return chosen.entry->preemptive && QuotaOrder::applies(s, chosen.rules.quotas);
}

// Of the state, which rests during a decision.
void KeptQueue::read_columns(const StateImpl& s) {
  const std::size_t n = s.jobs.size();
  if (remaining_.size() < n) {
    for (auto* column : {&remaining_, &assigned_}) column->resize(n);
    attained_.resize(n);
  }
  columns_ = {s.job.submit.data(), s.job.priority.data(),      s.job.gpus.data(),     s.job.estimate.data(),
              remaining_.data(),   attained_.data(),           s.job.deadline.data(), s.job.running.data(),
              s.job.id.data(),     s.job.waiting_since.data(), assigned_.data(),      0};
}

const JobColumns& KeptQueue::columns(const StateImpl& s, std::int32_t job) {
  remaining_[to_index(job)] = s.remaining(job);
  if (policy_->reads_attained()) attained_[to_index(job)] = s.attained_now(job);
  return columns_;
}

std::int64_t KeptQueue::key_of(std::int32_t job) {
  std::int64_t key = 0;
  policy_->keys(columns(*s_, job), s_->now, {&job, 1}, {&key, 1});
  return key;
}

// Where a job runs as long as it was to run, or longer, its remaining time falls no more. Nor does one that is not known.
std::int64_t KeptQueue::most_fall(std::int32_t job) {
  const TimeUs left = s_->remaining(job);
  return left == kNever || left <= 1 ? 0 : policy_->most_fall(columns_, job);
}

std::int64_t KeptQueue::lowest_key(std::int32_t job, TimeUs until) {
  const std::int64_t now = key_of(job), fall = most_fall(job);
  if (until <= s_->now || fall == 0) return now;
  // Without a known end, the remaining time may fall faster than time passes.
  return s_->job.end[to_index(job)] == kNever ? INT64_MIN : now - saturating_mul(fall, until - s_->now);
}

TimeUs KeptQueue::next_change(const StateImpl& s, std::int32_t job) {
  TimeUs change = kNever;
  policy_->next_change(columns(s, job), s.now, {&job, 1}, {&change, 1});
  return change;
}

bool KeptQueue::is_exact(const StateImpl& s, std::int32_t job) {
  const std::vector<kernel::OptionRow>& options = s.jobs[to_index(job)].options;
  return std::all_of(options.begin(), options.end(),
                     [&](const kernel::OptionRow& option) { return s.demands.rows()[to_index(option.demand)].exact != 0; });
}

// Jobs that ask for GPUs of one type read the victims that hold such GPUs.
std::size_t KeptQueue::part_of(const StateImpl& s, const JobRecord& record) {
  std::int32_t type = -1;
  for (const kernel::HeldRow& row : record.held) {
    const std::int32_t of = s.node.type[to_index(row.node)];
    if (of < 0 || (type >= 0 && of != type)) return KeptPass::kSeveralTypes;
    type = of;
  }
  return type < 0 ? KeptPass::kSeveralTypes : KeptPass::part_of(type);
}

void KeptQueue::read_job(const StateImpl& s, const ChosenPolicy& chosen, std::int32_t job) {
  waiting_.remove(job);
  running_.remove(job);
  const JobRecord& record = s.jobs[to_index(job)];
  if (record.job == nullptr || is_marked(rejected_, job)) return;
  const bool runs = s.job.running[to_index(job)] != 0;
  if (runs && !chosen.entry->preemptive) return;
  // While it stays the same its next change comes no earlier: the instant that is kept leads to it.
  if (runs && std::exchange(has_order_change_[to_index(job)], record.version) != record.version) {
    order_changes_.add(s, next_change(s, job), job);
  }
  // A job that lost GPUs is repaired and stays, or is placed again: it is no victim.
  if (runs && (s.job.victim_from[to_index(job)] == kNever || is_marked(broken_, job))) return;
  if (!is_exact(s, job)) inexact_ = {job, record.version};
  const OrderPlace place{key_of(job), s.job_label[to_index(job)], job, reclaims_ ? guaranteed_.level(job) : 0};
  if (runs) {
    const TimeUs change = next_change(s, job), victim = s.job.victim_from[to_index(job)];
    changes_.add(s, std::min(change <= s.now ? kNever : change, victim > s.now ? victim : kNever), job);
    if (victim <= s.now) running_.add(place, part_of(s, record));
    return;
  }
  add_waiting(s, chosen, place);
}

// While a job waits its run time rests. So it loses nodes at instants that are known, and is in another class from then on.
void KeptQueue::add_waiting(const StateImpl& s, const ChosenPolicy& chosen, const OrderPlace& place) {
  const std::size_t job = to_index(place.job);
  kind_.assign({s.job.queue[job], chosen.entry->class_rule ? s.job.preemption_class[job] : 0});
  TimeUs loses_node = kNever;
  const std::vector<kernel::OptionRow>& options = s.jobs[job].options;
  for (std::size_t o = 0; o < options.size(); ++o) {
    const TimeUs run = demands_.any() ? s.option_run(place.job, o) : kNever;
    kind_.push_back(demands_.row(options[o].demand, end_of(s.now, run)));
    loses_node = std::min(loses_node, demands_.loses_node_at(s.now, run));
  }
  changes_.add(s, loses_node, place.job);
  waiting_.add(kind_, place);
}

void KeptQueue::rebuild(const StateImpl& s, const ChosenPolicy& chosen) {
  waiting_.clear();
  running_.clear();
  for (JobTimes* times : {&changes_, &order_changes_}) times->clear();
  has_order_change_.assign(s.jobs.size(), 0);
  demands_.begin(*p_);
  waiting_.begin_filling();
  if (reclaims_) {
    guaranteed_.begin(s, entitled_.ledger(s));
    judge(s, s.job_order);
  }
  for (const std::int32_t job : s.job_order) read_job(s, chosen, job);
  waiting_.end_filling();
  running_.end_changes();
  pass_.begin(s, *p_, running_);
}

// Jobs that are of a kind now or were in the last decision, but not both, have changed.
void KeptQueue::mark(const StateImpl& s, std::span<const std::int32_t> jobs, Marked& marked) {
  if (marked.in.size() < s.jobs.size()) marked.in.resize(s.jobs.size(), 0);
  for (const std::int32_t job : jobs) {
    if (marked.in[to_index(job)] != decision_ - 1) jobs_.push_back(job);
    marked.in[to_index(job)] = decision_;
  }
  for (const std::int32_t job : marked.jobs) {
    if (!is_marked(marked, job)) jobs_.push_back(job);
  }
  marked.jobs.assign(jobs.begin(), jobs.end());
}

// @returns whether so little changed that it is followed
bool KeptQueue::collect_changes(const StateImpl& s) {
  changes_.take_until(s, s.now, jobs_);
  std::sort(jobs_.begin(), jobs_.end());
  jobs_.erase(std::unique(jobs_.begin(), jobs_.end()), jobs_.end());
  return jobs_.size() <= few(s.job_order.size());
}

// A running job that changed otherwise than by the last plan may be displaced where it was not. So may one that the plan
// changes, where the plan was not applied.
void KeptQueue::read_changes(const StateImpl& s, const ChosenPolicy& chosen) {
  assert(demands_.are_of(*p_));  // else everything has changed
  gain_.clear();
  has_order_change_.resize(s.jobs.size(), 0);
  const auto read_gain = [&](std::int32_t job) {
    if (running_.has(job) && !pass_.runs_as_placed(s, running_.stored(job))) gain_.push_back(job);
  };
  if (reclaims_) judge(s, jobs_);
  for (const std::int32_t job : jobs_) {
    read_job(s, chosen, job);
    read_gain(job);
  }
  for (const std::int32_t job : reclaims_ ? guaranteed_.changed() : std::span<const std::int32_t>{}) {
    if (!std::binary_search(jobs_.begin(), jobs_.end(), job)) set_level(job);
  }
  for (const PassChange& change : pass_.changes()) {
    if (!std::binary_search(jobs_.begin(), jobs_.end(), change.job)) read_gain(change.job);
  }
  running_.end_changes();
  pass_.forget(waiting_.drop_empty());
  pass_.follow(s, *p_, running_, nodes_, jobs_, gain_);
}

// It is as it was read.
bool KeptQueue::is_unchanged(const StateImpl& s, const Seen& seen) const {
  return seen.job >= 0 && to_index(seen.job) < s.jobs.size() && s.jobs[to_index(seen.job)].version == seen.version &&
         !is_marked(rejected_, seen.job) && !is_marked(broken_, seen.job);
}

// They come first. None of them displaces others here.
void KeptQueue::raise_entitled(const StateImpl& s) {
  const auto level = [](QuotaStanding standing) {
    return static_cast<std::int32_t>(standing) - static_cast<std::int32_t>(QuotaStanding::kBorrowing);
  };
  for (const EntitledJobs::Raised& one : entitled_.raised()) waiting_.set_level(one.job, 0);
  entitled_.find(s, *p_, waiting_);
  for (const EntitledJobs::Raised& one : entitled_.raised()) waiting_.set_level(one.job, level(one.standing));
}

bool KeptQueue::all_entitled_start(const StateImpl& s) {
  for (const EntitledJobs::Raised& one : entitled_.raised()) {
    const PassChange* const change = pass_.change_of(one.job);
    if (change != nullptr && change->option >= 0) continue;
    stuck_ = {one.job, s.jobs[to_index(one.job)].version};
    return false;
  }
  return true;
}

// Where the policy displaces jobs.
void KeptQueue::judge(const StateImpl& s, std::span<const std::int32_t> jobs) {
  entitled_.ledger(s);
  for (const std::int32_t job : jobs) {
    const JobRecord& record = s.jobs[to_index(job)];
    const bool is_there = record.job != nullptr && !is_marked(rejected_, job);
    if (!guaranteed_.follow(s, *p_, job, is_there, *this)) inexact_ = {job, record.version};
  }
  guaranteed_.judge(s, *this);
}

// A running job that borrows from now on may be displaced by others than before.
void KeptQueue::set_level(std::int32_t job) {
  const std::int32_t level = guaranteed_.level(job);
  waiting_.set_level(job, level);
  if (!running_.has(job)) return;
  running_.set_level(job, level);
  if (level == 0) gain_.push_back(job);
}

// After the pass.
std::int64_t KeptQueue::entitled_waiting() const {
  std::int64_t waiting = guaranteed_.waiting();
  for (const PassChange& change : pass_.changes()) {
    if (guaranteed_.level(change.job) == 0) continue;
    const bool waited = s_->job.running[to_index(change.job)] == 0;
    waiting += (change.option < 0 ? 1 : 0) - (waited ? 1 : 0);
  }
  return waiting;
}

// As PassInput::order_until.
TimeUs KeptQueue::victims_from() const { return entitled_waiting() > 0 ? guaranteed_.victims_from() : kNever; }

// Whether the pass over all jobs may be made again with a stuck job first (StuckJobs), if the policy displaces jobs.
bool KeptQueue::may_put_first(const StateImpl& s) {
  if (entitled_waiting() == 0) return false;
  reach_.begin(s, pass_, running_, *this, chosen_->entry->class_rule);
  const auto has_in_reach = [&](const OrderPlace& place) {
    const std::vector<kernel::OptionRow>& options = s.jobs[to_index(place.job)].options;
    return std::any_of(options.begin(), options.end(), [&](const kernel::OptionRow& option) {
      const kernel::DemandRow& demand = s.demands.rows()[to_index(option.demand)];
      return reach_.has(place, demand.gpu_type, demand.gpus);
    });
  };
  for (std::size_t of = 0; of < waiting_.size(); ++of) {
    for (const OrderPlace& one : waiting_.jobs(of)) {
      if (one.level == 0) break;
      const PassChange* const change = pass_.change_of(one.job);
      if (change != nullptr && change->option >= 0) continue;
      if (has_in_reach(one)) return true;
      break;  // those behind it ask for the same, and have less in reach
    }
  }
  const std::span<const PassChange> changes = pass_.changes();
  return std::any_of(changes.begin(), changes.end(),
                     [&](const PassChange& change) { return change.option < 0 && change.place.level != 0 && has_in_reach(change.place); });
}

Reading KeptQueue::read(const StateImpl& s, const ChosenPolicy& chosen) {
  jobs_.clear();
  nodes_.clear();
  const bool same = s.log().read(cursor_, jobs_, nodes_) && seen_ && policy_version_ == chosen.version;
  if (!same) inexact_ = stuck_ = {};
  const bool follows = jobs_.size() <= few(s.job_order.size()) && (known_ || settled_);
  reading_ = !same || !follows ? Reading::kNothing : known_ ? Reading::kChanges : Reading::kAnew;
  if (reading_ == Reading::kNothing) entitled_.forget();
  known_ = false;  // until all is read
  seen_ = true;
  policy_ = chosen.policy.get();
  policy_version_ = chosen.version;
  chosen_ = &chosen;
  s_ = &s;
  return reading_;
}

bool KeptQueue::decide(const StateImpl& s, const ChosenPolicy& chosen, std::span<const std::int32_t> rejected, const Failures& failures) {
  p_ = failures.any() ? &failures.problem() : &s.problem();
  ++decision_;
  read_columns(s);
  mark(s, rejected, rejected_);
  mark(s, failures.jobs(), broken_);
  const bool has_quotas = QuotaOrder::applies(s, chosen.rules.quotas);
  reclaims_ = has_quotas && chosen.entry->preemptive;
  const bool raises = has_quotas && !reclaims_;
  if (has_quotas) {
    entitled_.read(s, *p_, chosen.rules.quotas, jobs_, nodes_, [&](std::int32_t job) { return is_marked(rejected_, job); });
    if (failures.any()) return false;
  }
  // Until this one has changed, nothing needs to be read: it is the pass over all jobs.
  if (is_unchanged(s, inexact_)) return false;
  if (raises && is_unchanged(s, stuck_) && entitled_.is_entitled(s, *p_, stuck_.job)) return false;
  inexact_ = stuck_ = {};
  const bool changed_little = reading_ == Reading::kChanges && collect_changes(s);
  if (changed_little) {
    read_changes(s, chosen);
  } else {
    rebuild(s, chosen);
  }
  if (inexact_.job >= 0) return false;
  if (raises) raise_entitled(s);
  pass_.take_failures(s, failures);
  known_ = true;
  const bool lost_inexact = std::any_of(failures.jobs().begin(), failures.jobs().end(),
                                        [&](std::int32_t job) { return failures.lost()[to_index(job)] != 0 && !is_exact(s, job); });
  if (lost_inexact) return false;
  lowered_.clear();
  if (chosen.entry->preemptive && !chosen.rules.displaces_over_limit) lowered_.read(s.problem());
  pass_.run(s,
            {chosen.entry->preemptive, chosen.entry->class_rule, chosen.rules.discipline == kernel::Discipline::kStrict,
             pass_packing(chosen.rules.packing), chosen.rules.max_tries},
            lowered_, demands_, waiting_, running_, *this);
  known_ = pass_.withdraw(overruns_) && (!raises || all_entitled_start(s));
  if (!known_) return false;
  saw(static_cast<std::int64_t>(pass_.changes().size()), s.job_order.size());
  known_ = settled_;
  return !reclaims_ || !may_put_first(s);
}

// As PassInput::order_until gives it.
TimeUs KeptQueue::order_until(Rejections& rejections) {
  const StateImpl& s = *s_;
  const auto changed = [&](std::int32_t job) { return pass_.change_of(job) != nullptr; };
  TimeUs until = order_changes_.first(
      s, s.now, [&](std::int32_t job) { return next_change(s, job); }, changed);
  for (const PassChange& change : pass_.changes()) until = std::min(until, change_after_pass(change));
  if (reclaims_) until = std::min(until, victims_from());
  // A job that was displaced counts as well: it waits.
  const TimeUs too_late = rejections.first_too_late(s, changed);
  return too_late == kNever ? until : std::min(until, std::max(s.now, too_late));
}

// What a job that starts, moves or is displaced contributes.
TimeUs KeptQueue::change_after_pass(const PassChange& change) {
  const StateImpl& s = *s_;
  const std::int32_t job = change.job;
  const bool starts = change.option >= 0;
  TimeUs until = kNever;
  if (!starts) {
    if (const TimeUs last = s.last_start(job); last != kNever && last >= s.now) until = last + 1;
  }
  if (!chosen_->entry->preemptive) return until;
  JobColumns then = columns(s, job);
  runs_then_.resize(s.jobs.size());
  gpus_then_.resize(s.jobs.size());
  runs_then_[to_index(job)] = starts ? 1 : 0;
  gpus_then_[to_index(job)] = s.job.gpus[to_index(job)];
  if (starts) {
    const kernel::OptionRow& option = s.jobs[to_index(job)].options[to_index(change.option)];
    const std::int64_t gpus = s.demands.rows()[to_index(option.demand)].gpus;
    gpus_then_[to_index(job)] = static_cast<std::int32_t>(std::max<std::int64_t>(1, gpus));
  }
  then.running = runs_then_.data();
  then.gpus = gpus_then_.data();
  TimeUs next = kNever;
  policy_->next_change(then, s.now, {&job, 1}, {&next, 1});
  return std::min(until, next);
}

}  // namespace berth::core
