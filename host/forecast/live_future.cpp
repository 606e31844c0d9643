#include "host/forecast/live_future.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/sim/replay/submitted_job.hpp"

namespace berth::sim {
namespace {

// A future in which a job starves ends: decisions of the engine take time.
constexpr std::int64_t kMostDecisions = 500, kMostDecisionsPerJob = 10;

/// A job of the future. Its work is the time that it runs for.
struct FutureJob {
  const TraceJob* traced = nullptr;
  TimeUs left = 0, since = 0, owed = 0;
  std::uint64_t turn = 0;  ///< events of an earlier turn are void
  bool running = false, began = false;
};

struct FutureEvent {
  TimeUs at = 0;
  bool withdrawn = false;  ///< else it ends
  std::uint64_t turn = 0;
  std::string job;
  bool operator>(const FutureEvent& other) const { return at != other.at ? at > other.at : job > other.job; }
};

class LiveFutureRun {
 public:
  LiveFutureRun(ClusterState state, Request request, PolicyState policy_state, FutureJobs& jobs, TimeUs until, TimeUs least_wake,
                const Snapshot& begin, const Snapshot& nodes)
      : state_(std::move(state)),
        request_(std::move(request)),
        memory_(std::move(policy_state)),
        jobs_(jobs),
        until_(until),
        least_wake_(least_wake),
        nodes_(nodes) {
    for (const Queue& queue : begin.queues) queues_.insert(queue.id);
    announce(begin);
    for (const Job& job : begin.jobs) alike_.try_emplace({job.queue, job.virtual_cluster, job.shapes.front().gpus}, &job);
  }

  bool run(std::size_t present, const FutureDeadline& deadline) {
    const TimeUs now = state_.now();
    for (std::size_t i = 0; i < present; ++i) {
      const TraceJob& traced = *jobs_.next();
      FutureJob& job = live_[traced.id];
      job.traced = &traced;
      const TimeUs held = jobs_.held_us(traced);
      job.left = traced.run_us - std::max<TimeUs>(0, held);
      job.since = now;
      if (held >= 0) {
        job.running = job.began = true;
        events_.push({core::saturating_add(now, std::max<TimeUs>(1, job.left)), false, job.turn, traced.id});
      } else if (const TimeUs leaves = jobs_.withdrawn_at(traced); leaves != kNever) {
        events_.push({std::max(now, leaves), true, job.turn, traced.id});
      }
    }
    upcoming_ = jobs_.next();
    failure_ = jobs_.next_failure();
    decide();
    const std::int64_t most = kMostDecisions + kMostDecisionsPerJob * static_cast<std::int64_t>(present);
    for (std::int64_t decisions = 0; !jobs_.all_known() && decisions < most; ++decisions) {
      if (deadline && std::chrono::steady_clock::now() > *deadline) return false;
      const TimeUs next = next_event();
      if (next > until_) break;
      deltas_.clear();
      deltas_.push_back(delta::SetTime{next});
      happen(next);
      change_nodes(next);
      arrive(next);
      state_.apply(deltas_);
      decide();
    }
    return true;
  }

 private:
  // Instants at which nodes, GPUs and reservations come and go.
  void announce(const Snapshot& begin) {
    const auto add = [&](TimeUs at) {
      if (at > begin.now_us && at != kNever) announced_.insert(at);
    };
    for (const Node& node : begin.nodes) {
      add(node.available_from_us);
      add(node.available_until_us);
      for (const Gpu& gpu : node.gpu_list) add(gpu.free_at_us);
    }
    for (const Reservation& one : begin.reservations) {
      add(one.from_us);
      add(one.to_us);
    }
  }

  TimeUs next_event() {
    while (!events_.empty() && is_void(events_.top())) events_.pop();
    TimeUs next = upcoming_ != nullptr ? upcoming_->submit_us : kNever;
    if (!events_.empty()) next = std::min(next, events_.top().at);
    next = std::min({next, failure_.at_us, down_.empty() ? kNever : down_.begin()->first});
    announced_.erase(announced_.begin(), announced_.upper_bound(state_.now()));
    if (!announced_.empty()) next = std::min(next, *announced_.begin());
    if (wake_ > state_.now()) next = std::min(next, std::max(wake_, core::saturating_add(state_.now(), least_wake_)));
    return next;
  }

  bool is_void(const FutureEvent& event) const {
    const auto found = live_.find(event.job);
    if (found == live_.end()) return true;
    return event.withdrawn ? found->second.began : event.turn != found->second.turn;
  }

  void happen(TimeUs now) {
    for (; !events_.empty() && events_.top().at <= now; events_.pop()) {
      const FutureEvent& event = events_.top();
      if (is_void(event)) continue;
      const auto found = live_.find(event.job);
      event.withdrawn ? jobs_.withdraw(*found->second.traced) : jobs_.ended(*found->second.traced, now);
      deltas_.push_back(delta::RemoveJob{event.job, event.withdrawn ? "cancelled" : "completed"});
      jobs_.release(*found->second.traced);
      live_.erase(found);
    }
  }

  void change_nodes(TimeUs now) {
    for (; !down_.empty() && down_.begin()->first <= now; down_.erase(down_.begin()))
      deltas_.push_back(delta::SetNodeState{down_.begin()->second->id, NodeState::kReady, down_.begin()->second->available_from_us});
    for (; failure_.at_us <= now; failure_ = jobs_.next_failure()) {
      const Node& node = nodes_.nodes[to_index(failure_.node)];
      for (std::int32_t j = 0; j < state_.job_index_end(); ++j) {
        const Job* job = state_.job(j);
        const auto found = job == nullptr ? live_.end() : live_.find(job->id);
        if (found == live_.end() || !found->second.running) continue;
        const auto& entries = job->allocation.entries;
        if (std::any_of(entries.begin(), entries.end(), [&](const AllocationEntry& one) { return one.node == node.id; })) begin_again(*job);
      }
      deltas_.push_back(delta::SetNodeState{node.id, NodeState::kFailed, node.available_from_us});
      down_.emplace(failure_.back_us, &node);
    }
  }

  // A job whose node fails waits, and has no past.
  void begin_again(const Job& described) {
    FutureJob& job = live_.at(described.id);
    job.left = job.traced->run_us;
    job.owed = 0;
    job.running = false;
    ++job.turn;
    deltas_.push_back(delta::StopJob{described.id});
    deltas_.push_back(delta::SetProgress{described.id, {}});
  }

  void arrive(TimeUs now) {
    for (; upcoming_ != nullptr && upcoming_->submit_us <= now; upcoming_ = jobs_.next()) {
      const TraceJob& traced = *upcoming_;
      FutureJob& job = live_[traced.id];
      job.traced = &traced;
      job.left = traced.run_us;
      deltas_.push_back(delta::PutJob{described(traced)});
    }
  }

  // A job that arrives asks for what one asks for that is in the queue now and as large.
  Job described(const TraceJob& traced) const {
    Job job;
    const auto found = alike_.find({traced.queue, traced.virtual_cluster, traced.gpus});
    if (found != alike_.end()) {
      const Job& other = *found->second;
      job.tenant = other.tenant;
      job.shapes = other.shapes;
      job.constraints = other.constraints;
      job.costs = other.costs;
      job.preemption = other.preemption;
      job.sharing = other.sharing;
      job.profile = other.profile;
    } else {
      Shape shape;
      shape.id = "asked";
      shape.gpu_type = traced.gpu_type;
      shape.gpus = traced.gpus;
      job.shapes.push_back(std::move(shape));
    }
    job.id = traced.id;
    job.user = traced.user;
    job.queue = queues_.count(traced.queue) != 0 ? traced.queue : std::string();
    job.virtual_cluster = traced.virtual_cluster;
    job.submit_us = traced.submit_us;
    job.priority = traced.priority;
    job.time_limit_us = traced.time_limit_us;
    job.estimate.run_us = jobs_.estimate(traced);
    return job;
  }

  void decide() {
    engine_.decide(state_, memory_, request_, plan_);
    commit(state_, plan_);
    wake_ = plan_.order_until_us;
    const TimeUs now = state_.now();
    deltas_.clear();
    for (const Decision& d : plan_.decisions) {
      if (d.action == Action::kKeep || d.action == Action::kWait || d.action == Action::kReserve) continue;
      const std::string id = state_.job(d.job)->id;
      FutureJob& job = live_.at(id);
      if (job.running) job.left = std::max<TimeUs>(1, job.left - (now - job.since));
      switch (d.action) {
        case Action::kStart:
          if (!std::exchange(job.began, true)) jobs_.started(*job.traced, now);
          go_on(job, std::exchange(job.owed, 0), now);
          break;
        case Action::kMigrate:
        case Action::kResize:
        case Action::kReplace:
          go_on(job, d.cost_us, now);
          break;
        case Action::kPreempt:
          job.running = false;
          job.owed += d.cost_us;
          ++job.turn;
          break;
        case Action::kReject:
          jobs_.reject(*job.traced);
          deltas_.push_back(delta::RemoveJob{id, ""});
          jobs_.release(*job.traced);
          live_.erase(id);
          break;
        default:
          break;
      }
    }
    if (!deltas_.empty()) state_.apply(deltas_);
  }

  void go_on(FutureJob& job, TimeUs cost, TimeUs now) {
    job.running = true;
    job.since = core::saturating_add(now, cost);
    events_.push({core::saturating_add(job.since, std::max<TimeUs>(1, job.left)), false, ++job.turn, job.traced->id});
  }

  ClusterState state_;
  Request request_;
  PolicyState memory_;
  FutureJobs& jobs_;
  TimeUs until_, least_wake_, wake_ = kNever;
  const Snapshot& nodes_;  // that may fail, by rank
  NodeFailure failure_;
  std::multimap<TimeUs, const Node*> down_;  // by return
  std::set<TimeUs> announced_;
  const TraceJob* upcoming_ = nullptr;
  Engine engine_;
  Plan plan_;
  std::vector<Delta> deltas_;
  std::unordered_map<std::string, FutureJob> live_;
  std::priority_queue<FutureEvent, std::vector<FutureEvent>, std::greater<>> events_;
  std::set<std::string> queues_;
  std::map<std::tuple<std::string, std::string, std::int32_t>, const Job*> alike_;
};

}  // namespace

LiveFuture::LiveFuture(const Snapshot& begin, const Snapshot& nodes, const FutureSettings& settings, PolicyState policy_state)
    : begin_(begin),
      request_(settings.request),
      policy_state_(std::move(policy_state)),
      nodes_(nodes),
      until_(core::saturating_add(begin.now_us, settings.horizon_us)),
      least_wake_(settings.least_wake_us) {
  request_.threads = 1;
  request_.changes_only = true;
}

bool LiveFuture::run(FutureJobs& jobs, std::size_t present, const FutureDeadline& deadline) {
  jobs.ends_follow(false);
  return LiveFutureRun(ClusterState(begin_), request_, policy_state_, jobs, until_, least_wake_, begin_, nodes_).run(present, deadline);
}

}  // namespace berth::sim
