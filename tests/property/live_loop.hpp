#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/state.hpp"
#include "tests/support/plain_cluster.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/plans/reservation_view.hpp"
#include "tests/support/random.hpp"

/// Loops of decisions that are compared with those of new engines.
namespace berth::test {

/// A change, and what undoes it.
struct ThereAndBack {
  std::vector<Delta> there, back;
};

/// The loop of a scheduler, with one policy.
class Loop {
 public:
  Loop(Random draws, Request asked, const Snapshot& s, std::vector<Job> newcomers)
      : random(std::move(draws)), request(std::move(asked)), state(s), newcomers_(std::move(newcomers)) {}

  Random random;
  Request request;
  ClusterState state;
  std::unique_ptr<Engine> engine = std::make_unique<Engine>();
  PolicyState policy_state;
  Plan plan;
  ReservationView view;

  /// Asks this engine, and a new one on a state loaded from the snapshot.
  void decide(const std::string& where) {
    const ClusterState fresh(state.snapshot());
    PolicyState fresh_policy_state = policy_state;
    Request whole = request;
    whole.changes_only = false;
    Plan expected;
    Engine().decide(fresh, fresh_policy_state, whole, expected);
    const std::map<std::string, std::string> reserved = reservations_of(expected, fresh);
    engine->decide(state, policy_state, request, plan);
    // Where a plan in between was not read, the whole one is.
    const bool read = view.follow(plan, state) || view.follow(expected, fresh);
    ASSERT_TRUE(read) << where;
    ASSERT_EQ(view.rows(), reserved) << where;
    ASSERT_EQ(view.unknown(), 0U) << where;
    if (request.changes_only) expected = without_unchanged(std::move(expected), fresh, plan, state);
    const std::string here = text_of(plan, state), there = text_of(expected, fresh);
    ASSERT_TRUE(here == there) << where << "\n" << parting(here, there);
    ASSERT_EQ(policy_state, fresh_policy_state) << where;
    ASSERT_EQ(validate_plan(state, plan), std::vector<std::string>{}) << where;
  }

  /// @returns false where the state refuses them
  bool apply(std::span<const Delta> deltas) {
    try {
      state.apply(deltas);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
  bool apply(const Delta& delta) { return apply(std::span(&delta, 1)); }

  void pass_time(TimeUs time) { state.apply(delta::SetTime{std::min(kMaxTimeUs, state.now() + time)}); }

  /// What happens in every loop: time passes, jobs come and end.
  void go_on() {
    if (random.percent(70)) pass_time(random.below(2'000) * kSecond);
    for (std::int32_t i = random.below(3); i > 0; --i) apply(delta::PutJob{newcomer()});
    const Snapshot s = state.snapshot();
    if (random.percent(60) && !s.jobs.empty()) apply(delta::RemoveJob{random.of(s.jobs).id, "completed"});
  }

  Job newcomer() {
    const Job& described = random.of(newcomers_);
    const std::string id = "new" + std::to_string(random.below(60));
    Job job = as_newcomer(described, id, state.now() - random.below(100) * kSecond);
    if (random.percent(20)) job.preemption.minimum_run_us = random.below(2'000) * kSecond;
    return job;
  }

  /// Of what a live cluster sees: nodes, GPUs, jobs, queues, reservations.
  ThereAndBack change_and_back() {
    const Snapshot s = state.snapshot();
    if (s.nodes.empty() || s.queues.empty()) return job_and_back(s);
    const Node& node = random.of(s.nodes);
    const Queue& queue = random.of(s.queues);
    switch (random.below(9)) {
      case 0:
        return {{delta::SetNodeState{node.id, random.of<NodeState>({NodeState::kDrain, NodeState::kFailed}), 0}},
                {delta::SetNodeState{node.id, node.state, 0}}};
      case 1:
        return {{delta::SetGpuState{node.id, random.below(8), random.percent(50) ? GpuState::kReleasing : GpuState::kFailed, kNever}},
                {delta::PutNode{node}}};
      case 2:
        return {{delta::PutQueue{with_limits(queue)}}, {delta::PutQueue{queue}}};
      case 3: {
        Reservation r;
        r.id = "r";
        r.nodes = {node.id};
        if (random.percent(50)) r.from_us = std::min(kMaxTimeUs, state.now() + random.below(20'000) * kSecond);
        if (!s.jobs.empty() && random.percent(70)) r.jobs = {random.of(s.jobs).id};
        return {{delta::PutReservation{r}}, {delta::RemoveReservation{"r"}}};
      }
      case 4: {
        Node other = node;
        other.id = "extra";
        return {{delta::PutNode{other}}, {delta::RemoveNode{"extra"}}};
      }
      case 5: {
        Job job = newcomer();
        job.id = "extra";
        return {{delta::PutJob{job}}, {delta::RemoveJob{"extra", ""}}};
      }
      default:
        return job_and_back(s);
    }
  }

  /// Another priority, estimate, submission or demand.
  Job described_again(Job job) {
    switch (random.below(5)) {
      case 0:
        job.priority =
            static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{job.priority} + random.below(3) - 1, INT32_MIN, INT32_MAX));
        break;
      case 1:
        job.estimate.run_us = random.percent(20) ? kNever : random.within(1, 20'000) * kSecond;
        break;
      case 2:
        job.submit_us = std::min(state.now(), job.submit_us + random.below(1'000) * kSecond);
        break;
      case 3:
        job.preemption.preemptible = !job.preemption.preemptible;
        break;
      default:
        job.deadline = {state.now() + random.below(20'000) * kSecond, random.percent(50)};
    }
    return job;
  }

  Queue with_limits(Queue queue) {
    for (Quota& quota : queue.quotas) {
      quota.borrowing = kUnlimited;
      quota.limit = random.percent(50) ? random.within(0, 40) : kUnlimited;
    }
    return queue;
  }

 private:
  ThereAndBack job_and_back(const Snapshot& s) {
    if (s.jobs.empty()) return {};
    const Job& job = random.of(s.jobs);
    if (job.state == JobState::kRunning && random.percent(50)) return {{delta::StopJob{job.id}}, {delta::StartJob{job.id, job.allocation}}};
    switch (random.below(3)) {
      case 0: {
        Progress more = job.progress;
        more.run_us += random.below(1'000) * kSecond;
        more.attained_gpu_us += random.below(9'000) * kSecond;
        return {{delta::SetProgress{job.id, more}}, {delta::SetProgress{job.id, job.progress}}};
      }
      case 1:
        return {{delta::RemoveJob{job.id, ""}}, {delta::PutJob{job}}};
      default:
        return {{delta::PutJob{described_again(job)}}, {delta::PutJob{job}}};
    }
  }

  std::vector<Job> newcomers_;
};

}  // namespace berth::test
