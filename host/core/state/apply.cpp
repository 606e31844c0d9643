#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/core/state/delta_checks.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/suppose.hpp"

namespace berth {

/// Applies a batch of deltas and records how to undo each, so that a rejected batch leaves no trace.
class Applier {
 public:
  explicit Applier(StateImpl& state) : s_(state) {}

  void run(std::span<const Delta> deltas) {
    try {
      for (std::size_t i = 0; i < deltas.size(); ++i) {
        here_ = core::InputLocation(root_, static_cast<std::int64_t>(i));
        std::visit([this](const auto& d) { apply(d); }, deltas[i]);
        changing_ = false;
      }
      changing_ = true;
      s_.rank_jobs();
      s_.forget_old_demands();
    } catch (const Error&) {  // a rejection: nothing was changed, or all can be undone
      take_back();
      throw;
    } catch (...) {
      // Memory ran out. Between two changes everything can be undone; during one the state is inconsistent.
      if (changing_) lose();
      take_back();
      throw;
    }
  }

  /// Takes back all that `run` did.
  void take_back() {
    try {
      while (!undo_.empty()) {
        undo_.back()();
        undo_.pop_back();
      }
      s_.rank_jobs();
      s_.view_stale_ = true;
    } catch (...) {
      lose();
    }
  }

 private:
  [[noreturn]] void refuse(std::string_view field, const std::string& problem) const { here_.fail_at(field, problem); }
  [[noreturn]] void lose() {
    s_.lost = true;
    throw StateLost("out of memory in the middle of a change: the state is lost, begin again from a snapshot");
  }

  core::InputLocation at_field(std::string_view field) const { return core::InputLocation(here_, field); }

  std::int32_t index_of_job(const std::string& id) const {
    const auto found = s_.index_of_job.find(id);
    if (found == s_.index_of_job.end()) refuse("job", "no job '" + id + "'");
    return found->second;
  }

  std::int32_t node_rank(const std::string& id) const {
    const auto found = s_.node_rank.find(id);
    if (found == s_.node_rank.end()) refuse("node", "no node '" + id + "'");
    return found->second;
  }

  // ---- primitives: each leaves the compiled columns in step and pushes its inverse ----

  /// Puts `next` (may be null) at a job index, its progress as of `progress_at`, and returns the previous job.
  JobPtr swap_job(std::int32_t job_index, JobPtr next, TimeUs progress_at) {
    JobRecord& record = s_.jobs[to_index(job_index)];
    JobPtr old = std::move(record.job);
    if (old) {
      record.job = std::move(old);
      s_.release(job_index);
      s_.forget_steps(job_index);
      old = std::move(record.job);
      s_.index_of_job.erase(old->id);
      s_.job.running[to_index(job_index)] = 0;
      s_.change_rows(job_index);
      ++s_.options_version_;
      s_.clear_options(record);
      s_.set_rates_hash(record, 0);
      s_.removed_jobs_.push_back(job_index);
    }
    if (next) {
      record.job = std::move(next);
      s_.index_of_job.emplace(record.job->id, job_index);
      s_.job.progress_at[to_index(job_index)] = progress_at;
      s_.compile_job(job_index);
      if (record.job->state == JobState::kRunning) s_.hold(job_index);
      s_.store_columns(job_index);
      s_.note_steps(job_index);
      s_.new_jobs_.push_back(job_index);
    } else {
      s_.touch_job(job_index);
      s_.job.id[to_index(job_index)] = nullptr;
      s_.job.queue[to_index(job_index)] = kernel::kNone;
    }
    s_.view_stale_ = true;
    return old;
  }

  /// Replaces, adds or removes a job. It records the old one with its progress and the time of its last settlement.
  void put_job(std::int32_t job_index, JobPtr next) {
    changing_ = true;
    const TimeUs progress_at = s_.job.progress_at[to_index(job_index)];
    const bool adds = !s_.jobs[to_index(job_index)].job;
    const bool removes = next == nullptr;
    std::shared_ptr<Job> old = swap_job(job_index, std::move(next), s_.now);
    if (removes) s_.free_indices.push_back(job_index);
    undo_.push_back([this, job_index, old, progress_at, adds, removes] {
      if (removes) s_.free_indices.pop_back();
      swap_job(job_index, old ? JobPtr(new Job(*old)) : nullptr, progress_at);
      if (adds) s_.free_indices.push_back(job_index);
    });
  }

  /// Changes state, allocation or progress of a job in place: what is compiled from the description stays.
  template <class Change>
  void edit_job(std::int32_t job_index, const Change& change) {
    struct Before {
      JobState state;
      Allocation allocation;
      Progress progress;
      TimeUs lease_end, last_assignment, waiting_since, progress_at;
    };
    Job& j = *s_.jobs[to_index(job_index)].job;
    auto before = std::make_shared<Before>(Before{j.state, j.allocation, j.progress, j.lease_end_us, j.last_assignment_us,
                                                  j.waiting_since_us, s_.job.progress_at[to_index(job_index)]});
    changing_ = true;
    const auto refresh = [this, job_index](const auto& edit) {
      Job& job = *s_.jobs[to_index(job_index)].job;
      s_.release(job_index);
      edit(job);
      if (job.state == JobState::kRunning) s_.hold(job_index);
      s_.store_columns(job_index);
    };
    undo_.push_back([this, job_index, before, refresh] {
      s_.job.progress_at[to_index(job_index)] = before->progress_at;
      refresh([&](Job& job) {
        job.state = before->state;
        job.allocation = before->allocation;
        job.progress = before->progress;
        job.lease_end_us = before->lease_end;
        job.last_assignment_us = before->last_assignment;
        job.waiting_since_us = before->waiting_since;
      });
    });
    s_.settle(job_index);
    refresh(change);
  }

  /// Progress of running jobs, and the time of the last settlement.
  struct Unsettled {
    std::int32_t job;
    Progress progress;
    TimeUs progress_at;
  };

  /// Settles the progress of running jobs, whose rates are about to change; returns the earlier values.
  template <class Jobs>
  std::vector<Unsettled> settle_all(const Jobs& jobs) {
    std::vector<Unsettled> before;
    for (const std::int32_t job_index : jobs) {
      if (s_.job.running[to_index(job_index)] == 0 || s_.job.progress_at[to_index(job_index)] == s_.now) continue;
      before.push_back({job_index, s_.jobs[to_index(job_index)].job->progress, s_.job.progress_at[to_index(job_index)]});
      s_.settle(job_index);
    }
    return before;
  }

  void unsettle(const std::vector<Unsettled>& before) {
    for (const Unsettled& one : before) {
      s_.jobs[to_index(one.job)].job->progress = one.progress;
      s_.job.progress_at[to_index(one.job)] = one.progress_at;
    }
  }

  /// Adds, replaces or removes (null) the node of that id. No job is on one that is removed.
  void set_node_of(const std::string& id, std::optional<Node> next) {
    changing_ = true;
    const auto rank = s_.node_rank.find(id);
    std::optional<Node> old;
    if (rank != s_.node_rank.end()) old = std::move(s_.nodes[to_index(rank->second)]);
    auto before = exchange_node(id, std::move(next), true);
    undo_.push_back([this, id, old = std::move(old), before = std::move(before)] {
      unsettle(before);
      exchange_node(id, old, false);
    });
  }

  /// Ranks change. Jobs on that node are held anew. All are compiled anew where rates may have changed. The progress of
  /// either up to now is settled first. @returns the earlier values
  std::vector<Unsettled> exchange_node(const std::string& id, std::optional<Node> next, bool settle) {
    const std::unordered_map<std::string, std::int32_t> rank_before = std::move(s_.node_rank);
    const auto rank = rank_before.find(id);
    std::vector<std::int32_t> there;  // jobs
    if (rank == rank_before.end()) {
      s_.nodes.push_back(std::move(*next));
    } else {
      there = s_.jobs_on_[to_index(rank->second)];
      std::sort(there.begin(), there.end());
      there.erase(std::unique(there.begin(), there.end()), there.end());
      for (const std::int32_t job_index : there) s_.charge_queues(job_index, -1);
      if (next) {
        s_.nodes[to_index(rank->second)] = std::move(*next);
      } else {
        s_.nodes.erase(s_.nodes.begin() + rank->second);
      }
    }
    const bool same = s_.rebuild_nodes();
    if (same) {
      s_.hold_again(rank_before, there);
    } else {
      s_.change_all_rows();
      there.clear();
      for (std::size_t j = 0; j < s_.jobs.size(); ++j) {
        if (s_.jobs[j].job) there.push_back(static_cast<std::int32_t>(j));
      }
    }
    std::vector<Unsettled> before = settle ? settle_all(there) : std::vector<Unsettled>();
    for (const std::int32_t job_index : there) {
      if (!same) s_.compile_job(job_index);
      if (s_.job.running[to_index(job_index)] != 0) s_.hold(job_index);
      s_.store_columns(job_index);
    }
    if (!same) s_.rebuild_queues();
    return before;
  }

  void set_node(std::int32_t rank, Node next) {
    changing_ = true;
    auto old = std::make_shared<Node>(put_node(rank, std::move(next)));
    undo_.push_back([this, rank, old] { put_node(rank, *old); });
  }

  /// @returns the previous node
  Node put_node(std::int32_t rank, Node next) {
    s_.forget_instants(rank);
    std::swap(s_.nodes[to_index(rank)], next);
    s_.note_instants(rank);
    if (s_.facts_) s_.changed_nodes_.push_back(rank);
    s_.refresh_node(rank);
    return next;
  }

  // ---- deltas ----

  void apply(const delta::Load& d) {
    changing_ = true;
    auto old = std::make_shared<StateImpl>(std::move(s_));
    s_ = StateImpl{};
    s_.revision = std::max(old->revision, static_cast<std::uint64_t>(d.snapshot.revision) - 1);
    undo_.push_back([this, old] {
      s_ = std::move(*old);
      s_.facts_.reset();
    });
    s_.load(d.snapshot, "snapshot");
  }

  void apply(const delta::SetTime& d) {
    if (d.now_us < s_.now) refuse("now_s", "time goes backwards");
    if (d.now_us > kMaxTimeUs) refuse("now_s", "beyond the largest time");
    const TimeUs old = s_.now;
    move_clock(old, d.now_us);
    undo_.push_back([this, old, next = d.now_us] { move_clock(next, old); });
  }

  void move_clock(TimeUs from, TimeUs to) {
    changing_ = true;
    s_.now = to;
    const TimeUs low = std::min(from, to);
    const TimeUs high = std::max(from, to);
    s_.refresh_deadlines_between(low, high);
    const auto crossed = [&](TimeUs t) { return low < t && t <= high; };
    const bool boundary = std::any_of(s_.reservations.begin(), s_.reservations.end(),
                                      [&](const Reservation& r) { return crossed(r.from_us) || crossed(r.to_us); });
    if (boundary) {
      s_.rebuild_reservations();
      return;
    }
    s_.refresh_nodes_between(low, high);
  }

  void apply(const delta::PutNode& d) {
    core::check_put_node(s_, d.node, at_field("node"));
    set_node_of(d.node.id, d.node);
  }

  void apply(const delta::RemoveNode& d) {
    const std::int32_t rank = node_rank(d.node);
    if (const auto& there = s_.jobs_on_[to_index(rank)]; !there.empty()) {
      refuse("node", "node '" + d.node + "' still runs job '" + *s_.job.id[to_index(there.front())] + "'");
    }
    for (const Reservation& r : s_.reservations) {
      if (std::find(r.nodes.begin(), r.nodes.end(), d.node) != r.nodes.end()) {
        refuse("node", "node '" + d.node + "' is named by reservation '" + r.id + "'");
      }
    }
    set_node_of(d.node, std::nullopt);
  }

  void apply(const delta::SetNodeState& d) {
    const std::int32_t rank = node_rank(d.node);
    core::check_time(d.available_from_us, here_, "available_from_s");
    if (d.available_from_us > s_.nodes[to_index(rank)].available_until_us) refuse("available_from_s", "lies after available_until_s");
    Node next = s_.nodes[to_index(rank)];
    next.state = d.state;
    next.available_from_us = d.available_from_us;
    set_node(rank, std::move(next));
  }

  void apply(const delta::SetGpuState& d) {
    const std::int32_t rank = node_rank(d.node);
    core::check_time_or_never(d.free_at_us, here_, "free_at_s");
    Node next = s_.nodes[to_index(rank)];
    if (next.gpu_list.empty()) {
      for (std::int32_t g = 0; g < next.gpus; ++g) next.gpu_list.push_back({g, GpuState::kOk, kNever, -1});
    }
    const auto gpu = std::find_if(next.gpu_list.begin(), next.gpu_list.end(), [&](const Gpu& g) { return g.index == d.index; });
    if (gpu == next.gpu_list.end()) refuse("index", "node '" + d.node + "' has no GPU " + std::to_string(d.index));
    gpu->state = d.state;
    gpu->free_at_us = d.free_at_us;
    set_node(rank, std::move(next));
  }

  void apply(const delta::PutJob& d) {
    core::check_put_job(s_, d.job, at_field("job"));
    const auto found = s_.index_of_job.find(d.job.id);
    if (found != s_.index_of_job.end()) {
      put_job(found->second, JobPtr(new Job(d.job)));
      return;
    }
    if (s_.index_of_job.size() >= kMaxJobs) refuse("job", "too many jobs");
    JobPtr job(new Job(d.job));
    changing_ = true;
    put_job(s_.take_index(), std::move(job));
  }

  void apply(const delta::RemoveJob& d) {
    const std::int32_t job_index = index_of_job(d.job);
    core::check_text(d.status, here_, "status");
    const Job& j = *s_.jobs[to_index(job_index)].job;
    if (!d.status.empty()) {
      changing_ = true;
      s_.history.push_back(
          {j.id, j.user, j.virtual_cluster, s_.job.gpus[to_index(job_index)], j.submit_us, s_.run_now(job_index), d.status});
      ++s_.history_version;
      undo_.push_back([this] {
        s_.history.pop_back();
        ++s_.history_version;
      });
    }
    put_job(job_index, nullptr);
  }

  void apply(const delta::StartJob& d) {
    const std::int32_t job_index = index_of_job(d.job);
    core::check_start(s_, job_index, d.allocation, here_);
    edit_job(job_index, [&](Job& j) {
      j.last_assignment_us = s_.now;
      j.allocation = d.allocation;
      j.state = JobState::kRunning;
    });
  }

  void apply(const delta::StopJob& d) {
    const std::int32_t job_index = index_of_job(d.job);
    if (s_.job.running[to_index(job_index)] == 0) refuse("job", "job '" + d.job + "' does not run");
    edit_job(job_index, [&](Job& j) {
      j.allocation = {};
      j.state = JobState::kWaiting;
      j.waiting_since_us = s_.now;
      if (j.progress.restarts < INT32_MAX) ++j.progress.restarts;
    });
  }

  void apply(const delta::SetProgress& d) {
    const std::int32_t job_index = index_of_job(d.job);
    core::check_progress(d.progress, at_field("progress"));
    edit_job(job_index, [&](Job& j) { j.progress = d.progress; });
  }

  void apply(const delta::PutQueue& d) {
    core::check_put_queue(s_, d.queue, at_field("queue"));
    const auto found = std::find_if(s_.queues.begin(), s_.queues.end(), [&](const Queue& q) { return q.id == d.queue.id; });
    changing_ = true;
    if (found != s_.queues.end() && found->parent == d.queue.parent) {
      const auto index = static_cast<std::size_t>(found - s_.queues.begin());
      auto other = std::make_shared<Queue>(d.queue);
      s_.swap_quotas(index, *other);
      undo_.push_back([this, index, other] { s_.swap_quotas(index, *other); });
      return;
    }
    auto old = std::make_shared<std::vector<Queue>>(s_.queues);
    if (found == s_.queues.end()) {
      s_.queues.push_back(d.queue);
    } else {
      *found = d.queue;
    }
    s_.rebuild_queues();
    undo_.push_back([this, old] {
      s_.queues = *old;
      s_.rebuild_queues();
    });
  }

  void apply(const delta::PutReservation& d) {
    core::check_put_reservation(s_, d.reservation, at_field("reservation"));
    std::vector<Reservation> next = s_.reservations;
    const auto found = std::find_if(next.begin(), next.end(), [&](const Reservation& r) { return r.id == d.reservation.id; });
    const auto at = static_cast<std::size_t>(found - next.begin());
    if (found == next.end()) {
      next.push_back(d.reservation);
    } else {
      *found = d.reservation;
    }
    set_reservations(std::move(next), at);
  }

  void apply(const delta::RemoveReservation& d) {
    std::vector<Reservation> next = s_.reservations;
    const auto found = std::find_if(next.begin(), next.end(), [&](const Reservation& r) { return r.id == d.reservation; });
    if (found == next.end()) refuse("reservation", "no reservation '" + d.reservation + "'");
    const auto at = static_cast<std::size_t>(found - next.begin());
    next.erase(found);
    set_reservations(std::move(next), at);
  }

  /// @param from  the first that differs: later ones may have other numbers
  void set_reservations(std::vector<Reservation> next, std::size_t from) {
    changing_ = true;
    auto old = std::make_shared<std::vector<Reservation>>(s_.reservations);
    undo_.push_back([this, old, from] { put_reservations(*old, from); });
    put_reservations(std::move(next), from);
  }

  // The filters of jobs refer to reservations that name them, by number. Other jobs and all rates stay.
  void put_reservations(std::vector<Reservation> next, std::size_t from) {
    std::set<std::int32_t> named;
    const auto add_named = [&](const std::vector<Reservation>& all) {
      for (std::size_t r = from; r < all.size(); ++r) {
        for (const std::string& id : all[r].jobs) {
          if (const auto found = s_.index_of_job.find(id); found != s_.index_of_job.end()) named.insert(found->second);
        }
      }
    };
    add_named(s_.reservations);
    s_.reservations = std::move(next);
    add_named(s_.reservations);
    s_.rebuild_reservations();
    for (const std::int32_t job_index : named) {
      s_.compile_job(job_index);
      s_.store_columns(job_index);
    }
  }

  StateImpl& s_;
  const std::string file_ = "deltas";
  const core::InputLocation root_{file_};
  core::InputLocation here_{file_};
  std::vector<std::function<void()>> undo_;
  bool changing_ = false;  // during a change
};

std::uint64_t StateImpl::apply(std::span<const Delta> deltas) {
  if (lost && (deltas.empty() || !std::holds_alternative<delta::Load>(deltas.front()))) check_whole();
  Applier(*this).run(deltas);
  return ++revision;
}

void core::suppose(StateImpl& state, std::span<const Delta> deltas, const std::function<void()>& during) {
  state.check_whole();
  const std::uint64_t revision = state.revision;
  Applier applier(state);
  applier.run(deltas);
  ++state.revision;
  try {
    during();
  } catch (...) {
    applier.take_back();
    state.revision = revision;
    throw;
  }
  applier.take_back();
  state.revision = revision;
}

void StateImpl::check_whole() const {
  if (lost) throw StateLost("the state was lost when memory ran out: begin again from a snapshot");
}

void StateImpl::start(Snapshot snapshot, const std::string& source) {
  const std::int64_t number = snapshot.revision;
  load(std::move(snapshot), source);
  forget_old_demands();
  revision = static_cast<std::uint64_t>(number);
}

Snapshot StateImpl::snapshot() const {
  check_whole();
  Snapshot s;
  s.name = name;
  s.origin_iso = origin_iso;
  s.now_us = now;
  s.revision = static_cast<std::int64_t>(revision);
  s.gpu_types = gpu_types;
  s.domains = domains;
  s.nodes = nodes;
  s.queues = queues;
  s.reservations = reservations;
  s.history = history;
  s.x = x;
  s.jobs.reserve(job_order.size());
  for (const std::int32_t job_index : job_order) {
    Job copy = *jobs[to_index(job_index)].job;
    advance(job_index, copy.progress);
    s.jobs.push_back(std::move(copy));
  }
  return s;
}

}  // namespace berth
