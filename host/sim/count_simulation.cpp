#include "host/sim/count_simulation.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/at.hpp"
#include "host/core/chosen_policy.hpp"
#include "host/core/costs.hpp"
#include "host/core/wide.hpp"
#include "host/sim/estimator.hpp"
#include "host/sim/node_counts.hpp"
#include "host/sim/series.hpp"

namespace berth::sim {
namespace {

/// A job's place in the order of one decision.
struct Place {
  std::int64_t key;
  std::int32_t rank;  // in the trace
  std::int32_t slot;
  bool operator<(const Place& other) const { return std::tie(key, rank) < std::tie(other.key, other.rank); }
  bool operator>(const Place& other) const { return other < *this; }
};

/// Waiting jobs of one pool and GPU count: where the first finds no room, no other does.
struct Line {
  std::int32_t pool = 0, gpus = 0;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> jobs;
  bool blocked = false;
};

/// The columns that policies read, and what the simulation keeps of a job.
struct Jobs {
  std::vector<TimeUs> submit, estimate, remaining, deadline, waiting_since;
  std::vector<std::int32_t> priority, gpus;
  std::vector<std::int64_t> attained;
  std::vector<std::uint8_t> running;
  std::vector<const std::string*> id;
  std::int64_t cluster_gpus = 0;

  std::vector<const TraceJob*> traced;
  std::vector<const ModelOverheads*> overheads;
  std::vector<JobOutcome> outcome;
  std::vector<TimeUs> left, held_from, working_from, owed;
  std::vector<Loss> pays_for;      // until working_from
  std::vector<std::uint32_t> run;  // starts, moves and stops: an end of an earlier run is void
  std::vector<std::int32_t> pool, line, in_running;
  std::vector<std::vector<TakenGpus>> taken;
  std::vector<std::int32_t> free_slots;

  std::int32_t add() {
    if (!free_slots.empty()) {
      const std::int32_t slot = free_slots.back();
      free_slots.pop_back();
      return slot;
    }
    const std::size_t n = submit.size() + 1;
    for (auto* column : {&submit, &estimate, &remaining, &deadline, &waiting_since, &left, &held_from, &working_from, &owed})
      column->resize(n);
    for (auto* column : {&priority, &gpus, &pool, &line, &in_running}) column->resize(n);
    attained.resize(n);
    running.resize(n);
    id.resize(n);
    traced.resize(n);
    overheads.resize(n);
    outcome.resize(n);
    run.resize(n);
    taken.resize(n);
    pays_for.resize(n);
    return static_cast<std::int32_t>(n - 1);
  }

  core::JobColumns columns() const {
    return {submit.data(),   priority.data(), gpus.data(), estimate.data(),      remaining.data(), attained.data(),
            deadline.data(), running.data(),  id.data(),   waiting_since.data(), held_from.data(), cluster_gpus};
  }
};

class CountSimulator {
 public:
  CountSimulator(const Replayed& trace, const SimulationSettings& settings, const std::function<void(const JobOutcome&)>& done,
                 core::ChosenPolicy& chosen, NodeCounts& nodes)
      : source_(trace.jobs),
        settings_(settings),
        done_(done),
        policy_(*chosen.policy),
        preemptive_(chosen.entry->preemptive),
        hol_(chosen.rules.discipline == kernel::Discipline::kHol),
        estimator_(settings.estimates, settings.request.seed),
        nodes_(nodes),
        lines_of_(static_cast<std::size_t>(nodes.pools())),
        running_(static_cast<std::size_t>(nodes.pools())),
        touched_(static_cast<std::size_t>(nodes.pools()), 0),
        upcoming_(source_.next()) {
    totals_.gpus = jobs_.cluster_gpus = nodes.gpus();
    if (settings.series != nullptr) nodes_.watch(settings.series->fragmentation());
  }

  SimulationTotals run() {
    totals_.first_submit_us = upcoming_ != nullptr ? upcoming_->submit_us : 0;
    totals_.last_end_us = totals_.last_release_us = totals_.first_submit_us;
    for (TimeUs now = next_event(); now != kNever; now = next_event()) {
      if (settings_.interrupted && totals_.decisions % 1024 == 0 && settings_.interrupted()) {
        totals_.interrupted = true;
        break;
      }
      now_ = now;
      complete();
      wake();
      arrive();
      decide();
      ++totals_.decisions;
      if (settings_.series != nullptr) settings_.series->level(now, levels());
    }
    leave_unfinished();
    totals_.gpu_up_us = static_cast<__int128>(totals_.gpus) * (totals_.last_release_us - totals_.first_submit_us);
    return std::move(totals_);
  }

 private:
  struct Event {
    TimeUs at;
    std::int32_t rank, slot;
    std::uint32_t run;
    bool operator>(const Event& other) const { return std::tie(at, rank) > std::tie(other.at, other.rank); }
  };
  using Events = std::priority_queue<Event, std::vector<Event>, std::greater<>>;

  Levels levels() const { return {gpus_held_, totals_.gpus - gpus_held_, n_running_, n_waiting_, gpus_waited_, nodes_.fragmented_micro()}; }

  bool stale(const Event& event) const { return jobs_.run[at(event.slot)] != event.run; }

  TimeUs next_event() {
    while (!ends_.empty() && stale(ends_.top())) ends_.pop();
    while (!changes_.empty() && stale(changes_.top())) changes_.pop();
    TimeUs next = upcoming_ != nullptr ? upcoming_->submit_us : kNever;
    if (!ends_.empty()) next = std::min(next, ends_.top().at);
    if (!changes_.empty()) next = std::min(next, changes_.top().at);
    return next;
  }

  void complete() {
    for (; !ends_.empty() && ends_.top().at <= now_; ends_.pop()) {
      const Event end = ends_.top();
      if (stale(end)) continue;
      stop(end.slot);
      JobOutcome& outcome = jobs_.outcome[at(end.slot)];
      outcome.end = JobOutcome::End::kCompleted;
      estimator_.finished(*jobs_.traced[at(end.slot)], outcome.held_us - outcome.overhead_us);
      leave(end.slot);
    }
  }

  // Keys of running jobs change by themselves.
  void wake() {
    while (!changes_.empty() && changes_.top().at <= now_) {
      const Event change = changes_.top();
      changes_.pop();
      if (stale(change)) continue;
      touched_[at(jobs_.pool[at(change.slot)])] = 1;
      await_change(change.slot);
    }
  }

  void arrive() {
    for (; upcoming_ != nullptr && upcoming_->submit_us <= now_; upcoming_ = source_.next()) {
      const TraceJob& traced = *upcoming_;
      const std::int32_t slot = jobs_.add();
      const std::size_t s = at(slot);
      JobOutcome& outcome = jobs_.outcome[s];
      outcome = JobOutcome{};
      outcome.job = n_arrived_++;
      outcome.submit_us = traced.submit_us;
      jobs_.traced[s] = &traced;
      const std::int32_t pool = nodes_.pool_of(traced);
      if (pool < 0 || nodes_.total(pool) < traced.gpus) {
        outcome.end = JobOutcome::End::kDeclined;
        outcome.reason = "the empty cluster cannot hold it";
        leave(slot);
        continue;
      }
      jobs_.submit[s] = traced.submit_us;
      jobs_.estimate[s] = estimator_.of(traced, outcome.job).run_us;
      jobs_.deadline[s] = traced.deadline_us;
      jobs_.priority[s] = traced.priority;
      jobs_.gpus[s] = traced.gpus;
      jobs_.attained[s] = 0;
      jobs_.running[s] = 0;
      jobs_.id[s] = &traced.id;
      jobs_.left[s] = traced.run_us;
      jobs_.overheads[s] = &settings_.overheads.of(traced.model);
      jobs_.owed[s] = jobs_.overheads[s]->start_us;
      jobs_.pool[s] = pool;
      jobs_.line[s] = line_of(pool, traced.gpus);
      wait(slot);
    }
  }

  std::int32_t line_of(std::int32_t pool, std::int32_t gpus) {
    const auto [found, fresh] = line_at_.try_emplace({pool, gpus}, static_cast<std::int32_t>(lines_.size()));
    if (fresh) {
      lines_.emplace_back();
      lines_.back().pool = pool;
      lines_.back().gpus = gpus;
      all_lines_.push_back(found->second);
      lines_of_[at(pool)].push_back(found->second);
    }
    return found->second;
  }

  std::int64_t key_of(std::int32_t slot) {
    refresh(slot);
    std::int64_t key = 0;
    policy_.keys(jobs_.columns(), now_, {&slot, 1}, {&key, 1});
    return key;
  }

  void wait(std::int32_t slot) {
    jobs_.waiting_since[at(slot)] = now_;
    lines_[at(jobs_.line[at(slot)])].jobs.push({key_of(slot), jobs_.outcome[at(slot)].job, slot});
    touched_[at(jobs_.pool[at(slot)])] = 1;
    ++n_waiting_;
    gpus_waited_ += jobs_.gpus[at(slot)];
  }

  // What the policy reads of a job, as of now.
  void refresh(std::int32_t slot) {
    const std::size_t s = at(slot);
    const JobOutcome& outcome = jobs_.outcome[s];
    const TimeUs held = outcome.held_us + (jobs_.running[s] != 0 ? now_ - jobs_.held_from[s] : 0);
    jobs_.attained[s] = core::saturating_mul(held, jobs_.gpus[s]);
    jobs_.remaining[s] = jobs_.estimate[s] == kNever ? kNever
                         : estimator_.is_oracle()    ? std::max<TimeUs>(1, left_now(s))
                                                     : std::max<TimeUs>(1, jobs_.estimate[s] - held);
  }

  TimeUs left_now(std::size_t s) const {
    if (jobs_.running[s] == 0 || now_ <= jobs_.working_from[s]) return jobs_.left[s];
    return std::max<TimeUs>(0, jobs_.left[s] - (now_ - jobs_.working_from[s]));
  }

  // Pools do not see each other, unless the head of the line holds everybody up.
  void decide() {
    if (hol_) {
      decide_over(all_lines_);
    } else {
      for (std::size_t pool = 0; pool < touched_.size(); ++pool) {
        if (touched_[pool] != 0) decide_over(lines_of_[pool]);
      }
    }
    std::fill(touched_.begin(), touched_.end(), 0);
  }

  void decide_over(const std::vector<std::int32_t>& lines) {
    for (const std::int32_t line : lines) lines_[at(line)].blocked = false;
    displaced_.clear();
    std::size_t next_displaced = 0;
    victims_of_ = -1;
    for (;;) {
      Line* first = nullptr;
      for (const std::int32_t l : lines) {
        Line& line = lines_[at(l)];
        if (!line.blocked && !line.jobs.empty() && (first == nullptr || line.jobs.top() < first->jobs.top())) first = &line;
      }
      const bool again = next_displaced < displaced_.size() && (first == nullptr || displaced_[next_displaced] < first->jobs.top());
      if (!again && first == nullptr) break;
      if (again) {
        if (start_elsewhere(displaced_[next_displaced].slot)) {
          displaced_.erase(displaced_.begin() + static_cast<std::ptrdiff_t>(next_displaced));
          continue;
        }
        ++next_displaced;
      } else if (try_first(*first, next_displaced)) {
        continue;
      } else {
        first->blocked = true;
      }
      if (hol_) break;
    }
    for (const Place& one : displaced_) {
      ++jobs_.outcome[at(one.slot)].preemptions;
      jobs_.owed[at(one.slot)] += core::displace_cost(jobs_.overheads[at(one.slot)]->costs);
      wait(one.slot);
    }
  }

  bool start_elsewhere(std::int32_t slot) {
    const std::size_t s = at(slot);
    if (!nodes_.take(jobs_.pool[s], jobs_.gpus[s], jobs_.taken[s])) return false;
    ++jobs_.outcome[s].moves;
    start(slot, core::migrate_cost(jobs_.overheads[s]->costs), Loss::kMove);
    return true;
  }

  /// Starts the first job of a line, by displacing others if need be.
  bool try_first(Line& line, std::size_t next_displaced) {
    const Place first = line.jobs.top();
    std::vector<TakenGpus>& taken = jobs_.taken[at(first.slot)];
    if (!nodes_.take(line.pool, line.gpus, taken) && !(preemptive_ && displace_for(line, first, next_displaced))) return false;
    line.jobs.pop();
    --n_waiting_;
    gpus_waited_ -= line.gpus;
    JobOutcome& outcome = jobs_.outcome[at(first.slot)];
    ++outcome.starts;
    if (outcome.start_us == kNever) outcome.start_us = now_;
    start(first.slot, std::exchange(jobs_.owed[at(first.slot)], 0), Loss::kRestart);
    return true;
  }

  bool displace_for(const Line& line, const Place& first, std::size_t next_displaced) {
    find_victims(line.pool, first);
    std::int64_t have = nodes_.free(line.pool);
    std::size_t from = victims_.size();
    while (have < line.gpus && from > 0 && first < victims_[from - 1]) have += jobs_.gpus[at(victims_[--from].slot)];
    if (have < line.gpus) return false;
    for (std::size_t i = from; i < victims_.size(); ++i) nodes_.give(jobs_.taken[at(victims_[i].slot)]);
    nodes_.take(line.pool, line.gpus, jobs_.taken[at(first.slot)]);
    // The last one displaced comes back first, if its GPUs are free still.
    std::size_t kept = from;
    for (std::size_t i = from; i < victims_.size(); ++i) {
      const Place victim = victims_[i];
      if (nodes_.take_again(jobs_.taken[at(victim.slot)])) {
        victims_[kept++] = victim;
        continue;
      }
      stop_without_gpus(victim.slot);
      displaced_.insert(std::upper_bound(displaced_.begin() + static_cast<std::ptrdiff_t>(next_displaced), displaced_.end(), victim),
                        victim);
    }
    victims_.resize(kept);
    return true;
  }

  // Running jobs of the pool after a place, in their order, as it was when the decision began. Whoever is tried later stands behind it.
  void find_victims(std::int32_t pool, const Place& after) {
    if (victims_of_ == pool) return;
    victims_of_ = pool;
    victims_.clear();
    slots_.clear();
    for (const std::int32_t slot : running_[at(pool)]) {
      if (jobs_.held_from[at(slot)] == now_) continue;  // who got GPUs in this decision stands before everybody still to be tried
      refresh(slot);
      slots_.push_back(slot);
    }
    keys_.resize(slots_.size());
    policy_.keys(jobs_.columns(), now_, slots_, keys_);
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      const Place place{keys_[i], jobs_.outcome[at(slots_[i])].job, slots_[i]};
      if (after < place) victims_.push_back(place);
    }
    std::sort(victims_.begin(), victims_.end());
  }

  void start(std::int32_t slot, TimeUs cost, Loss pays_for) {
    const std::size_t s = at(slot);
    ++n_running_;
    gpus_held_ += jobs_.gpus[s];
    jobs_.pays_for[s] = pays_for;
    jobs_.running[s] = 1;
    jobs_.held_from[s] = now_;
    jobs_.working_from[s] = core::saturating_add(now_, cost);
    ++jobs_.run[s];
    auto& running = running_[at(jobs_.pool[s])];
    jobs_.in_running[s] = static_cast<std::int32_t>(running.size());
    running.push_back(slot);
    const TimeUs end = core::saturating_add(jobs_.working_from[s], std::max<TimeUs>(1, jobs_.left[s]));
    if (end > kMaxTimeUs) throw InvalidArgument("job '" + *jobs_.id[s] + "' would end beyond the largest time");
    ends_.push({end, jobs_.outcome[s].job, slot, jobs_.run[s]});
    if (preemptive_) await_change(slot);
  }

  void await_change(std::int32_t slot) {
    refresh(slot);
    TimeUs next = kNever;
    policy_.next_change(jobs_.columns(), now_, {&slot, 1}, {&next, 1});
    if (next != kNever && next > now_) changes_.push({next, jobs_.outcome[at(slot)].job, slot, jobs_.run[at(slot)]});
  }

  void stop(std::int32_t slot) {
    nodes_.give(jobs_.taken[at(slot)]);
    stop_without_gpus(slot);
  }

  void stop_without_gpus(std::int32_t slot) {
    const std::size_t s = at(slot);
    JobOutcome& outcome = jobs_.outcome[s];
    const TimeUs held = now_ - jobs_.held_from[s];
    outcome.held_us += held;
    const TimeUs paid = std::min(now_, jobs_.working_from[s]) - jobs_.held_from[s];
    outcome.overhead_us += paid;
    outcome.gpu_us += static_cast<__int128>(held) * jobs_.gpus[s];
    outcome.lost_gpu_us[static_cast<std::size_t>(jobs_.pays_for[s])] += static_cast<__int128>(paid) * jobs_.gpus[s];
    totals_.last_release_us = now_;
    --n_running_;
    gpus_held_ -= jobs_.gpus[s];
    jobs_.left[s] = left_now(s);
    jobs_.running[s] = 0;
    ++jobs_.run[s];
    auto& running = running_[at(jobs_.pool[s])];
    const std::int32_t last = running.back();
    running[at(jobs_.in_running[s])] = last;
    jobs_.in_running[at(last)] = jobs_.in_running[s];
    running.pop_back();
    touched_[at(jobs_.pool[s])] = 1;
  }

  void leave(std::int32_t slot) {
    JobOutcome& outcome = jobs_.outcome[at(slot)];
    outcome.end_us = now_;
    totals_.gpu_us += outcome.gpu_us;
    if (outcome.end != JobOutcome::End::kDeclined) totals_.last_end_us = now_;
    tell(slot);
    source_.release(*jobs_.traced[at(slot)]);
    ++jobs_.run[at(slot)];
    jobs_.free_slots.push_back(slot);
  }

  void tell(std::int32_t slot) {
    jobs_.outcome[at(slot)].traced = jobs_.traced[at(slot)];
    done_(jobs_.outcome[at(slot)]);
  }

  void leave_unfinished() {
    if (totals_.interrupted) totals_.last_end_us = std::max(now_, totals_.first_submit_us);
    std::vector<std::int32_t> left;
    for (const auto& running : running_) {
      while (!running.empty()) {
        left.push_back(running.back());
        stop_without_gpus(left.back());
      }
    }
    for (Line& line : lines_) {
      for (; !line.jobs.empty(); line.jobs.pop()) left.push_back(line.jobs.top().slot);
    }
    std::sort(left.begin(), left.end(),
              [&](std::int32_t a, std::int32_t b) { return jobs_.outcome[at(a)].job < jobs_.outcome[at(b)].job; });
    for (const std::int32_t slot : left) {
      totals_.gpu_us += jobs_.outcome[at(slot)].gpu_us;
      tell(slot);
    }
  }

  JobSource& source_;
  const SimulationSettings& settings_;
  const std::function<void(const JobOutcome&)>& done_;
  core::QueuePolicy& policy_;
  bool preemptive_, hol_;
  Estimator estimator_;
  NodeCounts& nodes_;
  TimeUs now_ = -1;
  std::int32_t n_arrived_ = 0;
  std::int64_t n_running_ = 0, n_waiting_ = 0, gpus_held_ = 0, gpus_waited_ = 0;
  Jobs jobs_;
  std::vector<Line> lines_;
  std::vector<std::int32_t> all_lines_;
  std::vector<std::vector<std::int32_t>> lines_of_;  // [pools]
  std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> line_at_;
  std::vector<std::vector<std::int32_t>> running_;  // [pools] slots
  std::vector<std::uint8_t> touched_;               // [pools] something has happened there
  std::vector<Place> displaced_;                    // in this decision, in order
  std::vector<Place> victims_;
  std::int32_t victims_of_ = -1;  // pool
  std::vector<std::int32_t> slots_;
  std::vector<std::int64_t> keys_;
  Events ends_, changes_;
  const TraceJob* upcoming_;
  SimulationTotals totals_;
};

}  // namespace

std::optional<SimulationTotals> simulate_counts(const Replayed& trace, const Snapshot& cluster, const SimulationSettings& settings,
                                                const std::function<void(const JobOutcome&)>& done) {
  if (settings.decide) return std::nullopt;
  core::ChosenPolicy chosen;
  chosen.choose(settings.request.policy, settings.request.params);
  const bool by_count = chosen.policy != nullptr && chosen.policy->rests_while_waiting() && !chosen.entry->class_rule &&
                        chosen.rules.discipline != kernel::Discipline::kEasy && chosen.rules.placement == core::Placement::kCount &&
                        !chosen.rules.consolidation;
  const auto pauses = [](const ModelOverheads& one) { return one.costs.checkpoint_every_us > 0 && one.costs.checkpoint_save_us > 0; };
  const bool steady = settings.events.events.empty() && !settings.failures.any() && !pauses(settings.overheads.general) &&
                      std::none_of(settings.overheads.models.begin(), settings.overheads.models.end(),
                                   [&](const auto& model) { return pauses(model.second); });
  if (!by_count || !steady || settings.round_us > 0 || settings.request.work_limit > 0 || settings.request.budget_us > 0)
    return std::nullopt;
  NodeCounts nodes;
  if (!nodes.begin(cluster, trace.facts)) return std::nullopt;
  return CountSimulator(trace, settings, done, chosen, nodes).run();
}

}  // namespace berth::sim
