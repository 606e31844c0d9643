#include "host/core/placement/pass_input.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {
namespace {

class StateJobs final : public LiveJobs {
 public:
  StateJobs(const StateImpl& state, const std::vector<std::string>* left) : state_(state), left_(left) {}
  bool has(const std::string& id) const override { return state_.index_of_job.count(id) != 0; }
  const std::vector<std::string>* left() const override { return left_; }

 private:
  const StateImpl& state_;
  const std::vector<std::string>* left_;
};

}  // namespace

void PassInput::order(const StateImpl& s, const PolicyEntry& entry, QueuePolicy& policy, const PolicyState& policy_state,
                      const Marks& marks, const TriedOptions& tried, const PassRules& rules, std::span<const std::int32_t> of) {
  off_ends_.clear();
  reclaims_ = false;
  const std::size_t n = s.jobs.size();
  remaining_.resize(n);
  attained_.resize(n);
  waiting_since_.resize(n);
  keys_.resize(n);
  jobs_.clear();
  for (const std::int32_t job : of.empty() ? std::span<const std::int32_t>(s.job_order) : of) {
    const std::int32_t first = tried.first(job);
    const bool waits = s.job.running[to_index(job)] == 0;
    remaining_[to_index(job)] = waits && first > 0 ? s.run_at(job, s.jobs[to_index(job)].option_rate[to_index(first)]) : s.remaining(job);
    if (!entry.preemptive && s.job.running[to_index(job)] != 0 && marks.lost[to_index(job)] == 0) continue;
    if (marks.rejected[to_index(job)] != 0) continue;
    jobs_.push_back(job);
    attained_[to_index(job)] = s.attained_now(job);
    waiting_since_[to_index(job)] = s.job.waiting_since[to_index(job)];
  }
  if (policy.learns()) {
    read_history(s);
    policy.learn({service_});
  }
  if (policy.reads_cluster()) look_at_cluster(s);
  if (policy.reads_progress()) look_at_progress(s);
  gpus_.clear();
  if (rules.sharing_ppm > 0) count_shared_gpus(s);
  promises_read_ = policy.promises();
  if (promises_read_) {
    promises_.read(s, s.problem(), tried, jobs_, rules, marks.failures);
    promise_columns_ = promises_.columns();
  }
  policy.load(policy_state);
  batch_.resize(jobs_.size());
  policy.keys(columns(s), s.now, jobs_, batch_);
  for (std::size_t i = 0; i < jobs_.size(); ++i) keys_[to_index(jobs_[i])] = batch_[i];
  const std::span<const Refusal> refused = policy.refused();
  refusals_.assign(refused.begin(), refused.end());
  if (!refusals_.empty()) {
    refused_.assign(s.jobs.size(), 0);
    for (const Refusal& one : refusals_) refused_[to_index(one.job)] = 1;
    std::erase_if(jobs_, [&](std::int32_t job) { return refused_[to_index(job)] != 0; });
  }
  sorter_.sort(jobs_, keys_, s.job_rank());
  order_.assign(sorter_.order().begin(), sorter_.order().end());
}

void PassInput::arrange(const StateImpl& s, const PolicyEntry& entry, Quotas quotas, const Marks& marks, const kernel::ProblemView& problem,
                        const FindVictims& find) {
  first_ = kernel::kNone;
  if (QuotaOrder::applies(s, quotas)) unarranged_ = order_;
  reclaims_ = quotas_.arrange(s, problem, entry, quotas, {marks.lost, marks.failures.repaired(), marks.rejected}, find, order_);
}

std::span<const std::int32_t> PassInput::put_first(const kernel::ProblemView& p, StuckJobs& stuck, std::int32_t position) {
  order_before_ = order_;
  first_ = order_[to_index(position)];
  return stuck.put_first(p, quotas_, order_before_, position, order_);
}

void PassInput::put_back() {
  order_.swap(order_before_);
  first_ = kernel::kNone;
}

// Jobs that ended since the last decision are put in their places. Anything else is read again.
void PassInput::read_history(const StateImpl& s) {
  const std::size_t n = s.history.size();
  const std::uint64_t changes = s.history_version - std::exchange(history_seen_, s.history_version);
  const bool grew = history_of_ == &s && n >= service_.size() && changes == n - service_.size();
  history_of_ = &s;
  if (!grew) service_.clear();
  const std::size_t known = service_.size();
  for (std::size_t i = known; i < n; ++i) {
    const __int128 gpu_us = static_cast<__int128>(s.history[i].run_us) * s.history[i].gpus;
    service_.push_back(gpu_us > INT64_MAX ? INT64_MAX : static_cast<std::int64_t>(gpu_us));
  }
  const auto middle = service_.begin() + static_cast<std::ptrdiff_t>(known);
  std::sort(middle, service_.end());
  std::inplace_merge(service_.begin(), middle, service_.end());
}

void PassInput::look_at_cluster(const StateImpl& s) {
  assigned_.resize(s.jobs.size());
  for (const std::int32_t job : jobs_) {
    if (s.job.running[to_index(job)] != 0) assigned_[to_index(job)] = s.jobs[to_index(job)].job->last_assignment_us;
  }
  cluster_gpus_ = 0;
  for (const std::uint64_t usable : s.node.usable) cluster_gpus_ += std::popcount(usable);
}

void PassInput::look_at_progress(const StateImpl& s) {
  run_.resize(s.jobs.size());
  ideal_run_.resize(s.jobs.size());
  ideal_rates_.resize(s.jobs.size());
  if (ideal_cluster_ != s.cluster_version()) std::fill(ideal_rates_.begin(), ideal_rates_.end(), IdealRate{});
  ideal_cluster_ = s.cluster_version();
  for (const std::int32_t job : jobs_) {
    run_[to_index(job)] = s.run_now(job);
    ideal_run_[to_index(job)] = 0;
    if (run_[to_index(job)] <= 0) continue;  // most jobs that wait
    IdealRate& known = ideal_rates_[to_index(job)];
    const std::uint64_t version = s.job.version[to_index(job)];
    if (known.job != version) known = {version, ideal_rate(s, *s.jobs[to_index(job)].job)};
    const bool waits = s.job.running[to_index(job)] == 0;
    if (!waits || known.rests_at != run_[to_index(job)]) {
      known.run = ideal_run_at(s, job, known.rate);
      known.rests_at = waits ? run_[to_index(job)] : -1;
    }
    ideal_run_[to_index(job)] = known.run;
  }
}

// Such a job keeps others from the GPUs as if it had them alone.
void PassInput::count_shared_gpus(const StateImpl& s) {
  gpus_ = s.job.gpus;
  for (const std::int32_t job : jobs_) {
    if (s.job.running[to_index(job)] == 0) continue;
    std::int32_t gpus = 0;
    for (const kernel::HeldRow& row : s.jobs[to_index(job)].held) gpus += std::popcount(row.mask);
    gpus_[to_index(job)] = std::max(1, gpus);
  }
}

JobColumns PassInput::columns(const StateImpl& s) const {
  const std::vector<std::int32_t>& gpus = gpus_.empty() ? s.job.gpus : gpus_;
  JobColumns columns{s.job.submit.data(), s.job.priority.data(), gpus.data(),           s.job.estimate.data(),
                     remaining_.data(),   attained_.data(),      s.job.deadline.data(), s.job.running.data(),
                     s.job.id.data(),     waiting_since_.data(), assigned_.data(),      cluster_gpus_};
  columns.run = run_.data();
  columns.ideal_run = ideal_run_.data();
  columns.promise = promises_read_ ? &promise_columns_ : nullptr;
  return columns;
}

TimeUs PassInput::order_until(const StateImpl& s, const PolicyEntry& entry, QueuePolicy& policy, const kernel::PlaceResult& answer,
                              DelayTimers* movers) {
  const kernel::ProblemView& p = s.problem();
  runs_then_ = s.job.running;
  gpus_then_ = s.job.gpus;
  // Starting jobs change like running ones. Where running jobs are not displaced, the time of a change does not matter.
  jobs_.clear();
  bool waits = false;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const std::int32_t job = order_[i];
    const kernel::Outcome outcome = answer.outcome[i];
    const bool starts = outcome == kernel::Outcome::kPlaced || outcome == kernel::Outcome::kMoved;
    if ((starts || outcome == kernel::Outcome::kKept) && !entry.preemptive) continue;
    if (starts) {
      const kernel::OptionRow& option = p.options[p.option_begin[job] + answer.option[i]];
      gpus_then_[to_index(job)] = static_cast<std::int32_t>(std::max<std::int64_t>(1, p.demands[option.demand].gpus));
    }
    runs_then_[to_index(job)] = starts || outcome == kernel::Outcome::kKept ? 1 : 0;
    waits = waits || runs_then_[to_index(job)] == 0;
    jobs_.push_back(job);
  }
  JobColumns then = columns(s);
  then.running = runs_then_.data();
  then.gpus = gpus_then_.data();
  batch_.resize(jobs_.size());
  policy.next_change(then, s.now, jobs_, batch_);
  TimeUs until = kNever;
  if (movers != nullptr && !waits) {
    // For these only, as no other job wants GPUs.
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (batch_[i] < until && stands_loose(s, *movers, answer, static_cast<std::int32_t>(i))) until = batch_[i];
    }
  } else {
    for (const TimeUs change : batch_) until = std::min(until, change);
  }
  for (const Refusal& one : refusals_) {
    if (!one.rejected && one.earliest > s.now) until = std::min(until, one.earliest);
  }
  // A waiting job whose hard deadline can no longer be met leaves the order.
  for (std::size_t i = 0; i < order_.size(); ++i) {
    const kernel::Outcome outcome = answer.outcome[i];
    if (outcome == kernel::Outcome::kPlaced || outcome == kernel::Outcome::kMoved || outcome == kernel::Outcome::kKept) continue;
    // A job that borrows may be displaced later than now.
    if (reclaims_ && quotas_.standing(order_[i]) != QuotaStanding::kBorrowing) until = std::min(until, quotas_.victims_from());
    const TimeUs last = s.last_start(order_[i]);
    // One that is displaced after its deadline leaves with the next decision. That must not hide later instants.
    if (last != kNever && last >= s.now) until = std::min(until, last + 1);
  }
  return until;
}

// Of a job at this position, that runs then.
bool PassInput::stands_loose(const StateImpl& s, DelayTimers& timers, const kernel::PlaceResult& answer, std::int32_t i) const {
  const std::int32_t job = order_[to_index(i)];
  if (answer.outcome[i] == kernel::Outcome::kKept) return timers.is_loose(s, job);
  return timers.is_loose(s, s.problem().option_begin[job] + answer.option[i],
                         {answer.entries + answer.entry_begin[i], answer.entries + answer.entry_end[i]});
}

std::int32_t PassInput::iterations(std::int32_t position) const {
  if (!adds_) return position;
  return static_cast<std::int32_t>(std::count(running_.begin(), running_.begin() + position, std::uint8_t{0}));
}

// The first position that comes after N iterations, and counts as one.
std::int32_t PassInput::position_after(std::int64_t n_iterations) const {
  const auto n = std::ssize(running_);
  if (!adds_) return static_cast<std::int32_t>(std::min(n_iterations, std::int64_t{n}));
  std::ptrdiff_t at = 0;
  while (at < n && (running_[to_index(at)] != 0 || n_iterations-- > 0)) ++at;
  return static_cast<std::int32_t>(at);
}

void PassInput::look(const StateImpl& s) {
  remaining_.resize(s.jobs.size());
  for (const std::int32_t job : s.job_order) remaining_[to_index(job)] = s.remaining(job);
}

void PassInput::look(const StateImpl& s, const std::vector<std::int32_t>& order) {
  look(s);
  off_ends_.clear();
  refusals_.clear();
  reclaims_ = false;
  attained_.resize(s.jobs.size());
  waiting_since_ = s.job.waiting_since;
  for (const std::int32_t job : s.job_order) attained_[to_index(job)] = s.attained_now(job);
  order_ = order;
}

void PassInput::keep(const StateImpl& s, const QueuePolicy& policy, PolicyState& policy_state, const std::vector<std::string>* left) {
  policy.store(policy_state);
  policy.retain(policy_state, StateJobs(s, left));
}

kernel::PlaceRequest PassInput::request(const StateView& view, const PolicyEntry& entry, const PassRules& rules, const Marks& marks,
                                        std::int64_t max_iterations, std::span<const kernel::TakenRow> taken, const TriedOptions* tried) {
  const StateImpl& s = impl_of(view);
  const kernel::ProblemView& p = s.problem();
  const std::size_t n = order_.size();
  assert(marks.lost.size() == s.jobs.size() && marks.failures.repaired().size() == s.jobs.size() && marks.rejected.size() == s.jobs.size());
  running_.resize(n);
  victim_ok_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t job = to_index(order_[i]);
    running_[i] = s.job.running[job] != 0 && marks.lost[job] == 0 ? 1 : 0;
    victim_ok_[i] = running_[i] != 0 && marks.failures.repaired()[job] < 0 && s.job.victim_from[job] <= s.now ? 1 : 0;
    assert(entry.preemptive || reclaims_ || running_[i] == 0);  // such a policy orders no job that keeps its GPUs
  }
  admitted_ = kernel::kNone;
  if (rules.admits_by_count) {
    const kernel::ProblemView counted = tried == nullptr ? p : tried->view(p);
    admitted_ = admission_.admit(s, counted, taken, order_, running_, victim_ok_);
  }
  // Run times are needed only where an end time matters.
  const bool needs_run = plans_ahead(rules.discipline) || p.has_until != 0;
  if (has_run_times_) option_run_.clear();
  option_run_.resize(to_index(p.n_options), kNever);
  has_run_times_ = needs_run;
  for (std::size_t i = 0; needs_run && i < n; ++i) {
    const std::int32_t job = order_[i];
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      option_run_[to_index(o)] = s.option_run(job, to_index(o - p.option_begin[job]));
    }
  }
  for (const std::int32_t job : off_ends_) {
    std::fill(option_run_.begin() + p.option_begin[job], option_run_.begin() + p.option_end[job], kNever);
  }
  releases_.clear();
  if (plans_ahead(rules.discipline)) release_events(s, marks);

  kernel::PlaceRequest r{};
  r.now = s.now;
  r.n = static_cast<std::int32_t>(n);
  r.order = order_.data();
  r.running = running_.data();
  r.victim_ok = victim_ok_.data();
  const bool by_quota = reclaims_ && quotas_.class_rule();
  r.preemption_class = !by_quota                 ? s.job.preemption_class.data()
                       : first_ == kernel::kNone ? quotas_.classes()
                                                 : quotas_.classes_with_first(first_);
  r.job_rank = plans_ahead(rules.discipline) ? s.job_rank().data() : nullptr;
  r.option_run = option_run_.data();
  const bool displaces = entry.preemptive || reclaims_;
  r.may_displace = displaces ? may_displace(s, rules, tried == nullptr ? p : tried->view(p)) : nullptr;
  r.n_releases = static_cast<std::int32_t>(releases_.size());
  r.releases = releases_.data();
  r.discipline = rules.discipline;
  r.packing = pass_packing(rules.packing);
  r.preemptive = entry.preemptive || reclaims_ ? 1 : 0;
  r.class_rule = entry.class_rule || by_quota ? 1 : 0;
  r.max_tries = rules.max_tries;
  adds_ = reclaims_ && !entry.preemptive;
  r.limit = max_iterations > 0 ? position_after(max_iterations) : r.n;
  if (admitted_ != kernel::kNone) r.limit = std::min(r.limit, admitted_);
  return r;
}

// [options of the problem in which jobs are tried] as PlaceRequest has it.
const std::uint8_t* PassInput::may_displace(const StateImpl& s, const PassRules& rules, const kernel::ProblemView& p) {
  const std::uint8_t* const within = reclaims_ ? quotas_.may_displace() : nullptr;
  if (rules.displaces_over_limit || !lowered_.read(p)) return within;
  may_displace_.assign(to_index(p.n_options), 1);
  if (within != nullptr) std::copy_n(within, p.n_options, may_displace_.begin());
  for (const std::int32_t job : order_) {
    const bool is_entitled = reclaims_ && quotas_.standing(job) != QuotaStanding::kBorrowing;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const std::int32_t type = p.demands[p.options[o].demand].gpu_type;
      if (!lowered_.may_displace(s.job.queue[to_index(job)], type, is_entitled)) may_displace_[to_index(o)] = 0;
    }
  }
  return may_displace_.data();
}

bool PassInput::keep_off_ends(std::span<const std::int32_t> jobs) {
  bool fresh = false;
  for (const std::int32_t job : jobs) {
    if (std::find(off_ends_.begin(), off_ends_.end(), job) != off_ends_.end()) continue;
    off_ends_.push_back(job);
    fresh = true;
  }
  return fresh;
}

void PassInput::settle(kernel::PlaceRequest& request, const kernel::PlaceResult& result) const {
  if (admitted_ == kernel::kNone) return;
  CountedAdmission::settle(request, admitted_, result);
  if (request.limit == admitted_) request.limit = request.n;
}

void PassInput::release_events(const StateImpl& s, const Marks& marks) {
  for (const std::int32_t job : s.job_order) {
    if (s.job.running[to_index(job)] == 0 || marks.lost[to_index(job)] != 0) continue;
    const bool repaired = marks.failures.repaired()[to_index(job)] >= 0;
    const TimeUs left = repaired ? marks.failures.run_left(s, job) : s.remaining_or_limit(job);
    if (left == kNever || left > kNever - 1 - s.now) continue;
    releases_.push_back({s.now + left, job, kernel::kNone, 0});
  }
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    if (s.nodes[n].state != NodeState::kReady) continue;
    for (const Gpu& g : s.nodes[n].gpu_list) {
      if (g.state != GpuState::kReleasing || g.free_at_us == kNever) continue;
      const std::uint64_t bit = std::uint64_t{1} << g.index;
      const TimeUs free = std::max(g.free_at_us, s.nodes[n].available_from_us);
      if ((s.node.held[n] & bit) != 0) continue;  // the job that holds it may stay beyond that time
      const auto same = [&](const kernel::ReleaseRow& r) { return r.job < 0 && r.node == static_cast<std::int32_t>(n) && r.at == free; };
      const auto known = std::find_if(releases_.rbegin(), releases_.rend(), same);
      if (known != releases_.rend()) {
        known->mask |= bit;
      } else {
        releases_.push_back({free, kernel::kNone, static_cast<std::int32_t>(n), bit});
      }
    }
  }
}

}  // namespace berth::core
