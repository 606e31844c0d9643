// A scheduler's loop around Berth: load a cluster, report events, decide, apply the plan, again.
//
//   live_loop data/demo/snapshot.json
//
// The output has no wall-clock times, so that two runs print the same.

#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"

namespace {

// A new job: 8 GPUs of any type, expected to run for ten minutes.
berth::Job arrival(const std::string& id, berth::TimeUs now) {
  berth::Shape shape;
  shape.id = "s0";
  shape.gpus = 8;

  berth::Job job;
  job.id = id;
  job.user = "ann";
  job.submit_us = now;
  job.estimate.run_us = 600 * berth::kSecond;
  job.estimate.source = "user";
  job.shapes.push_back(std::move(shape));
  return job;
}

std::string first_running_job(const berth::ClusterState& state) {
  for (std::int32_t job_index = 0; job_index < state.job_index_end(); ++job_index) {
    const berth::Job* job = state.job(job_index);
    if (job != nullptr && job->state == berth::JobState::kRunning) return job->id;
  }
  return {};
}

// One line per job with a change, and why the first waiting job waits.
void print(const berth::ClusterState& state, const berth::Plan& plan) {
  bool waiter_shown = false;
  for (const berth::Decision& decision : plan.decisions) {
    const std::string& id = state.job(decision.job)->id;
    switch (decision.action) {
      case berth::Action::kStart:
      case berth::Action::kMigrate: {
        std::cout << (decision.action == berth::Action::kStart ? "  start   " : "  migrate ") << id << " on";
        for (std::int32_t i = decision.entry_begin; i < decision.entry_end; ++i) {
          std::cout << ' ' << state.node(plan.entries[static_cast<std::size_t>(i)].node).id;
        }
        std::cout << '\n';
        break;
      }
      case berth::Action::kPreempt:
        std::cout << "  preempt " << id << '\n';
        break;
      case berth::Action::kWait:
        if (!waiter_shown) std::cout << "  wait    " << id << ": " << berth::render_reason(state, decision.reason, decision.job) << '\n';
        waiter_shown = true;
        break;
      default:
        break;
    }
  }
  std::cout << "  " << plan.totals.gpus_used << " of " << plan.totals.gpus << " GPUs in use, " << plan.totals.waits << " jobs wait\n";
}

void run(const std::string& path) {
  berth::ClusterState state = berth::io::parse_state(berth::io::read_file(path), path);
  berth::Engine engine;
  berth::PolicyState policy_state;  // what the policy keeps between decisions
  berth::Request request;
  request.policy = "srsf";
  berth::Plan plan;  // kept, so that its memory is reused

  for (int round = 0; round < 3; ++round) {
    // Events since the last decision. The batch is applied completely or not at all.
    std::vector<berth::Delta> deltas;
    if (round > 0) {
      const berth::TimeUs now = state.now() + 30 * berth::kSecond;
      deltas.emplace_back(berth::delta::SetTime{now});
      if (const std::string done = first_running_job(state); !done.empty()) deltas.emplace_back(berth::delta::RemoveJob{done, "completed"});
      deltas.emplace_back(berth::delta::PutJob{arrival("arrival-" + std::to_string(round), now)});
    }
    const std::uint64_t revision = deltas.empty() ? state.revision() : state.apply(deltas);

    engine.decide(state, policy_state, request, plan);
    std::cout << "revision " << revision << ": " << plan.decisions.size() << " jobs, policy " << plan.policy << '\n';
    print(state, plan);

    berth::commit(state, plan);
  }

  // A plan belongs to one revision: the cluster has changed, and the old plan is rejected.
  try {
    berth::commit(state, plan);
  } catch (const berth::StalePlan& stale) {
    std::cout << "stale plan refused: " << stale.what() << '\n';
    return;
  }
  throw berth::InternalError("a stale plan was accepted");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: live_loop SNAPSHOT.json\n";
    return 2;
  }
  try {
    run(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "live_loop: " << error.what() << '\n';
    return 1;
  }
}
