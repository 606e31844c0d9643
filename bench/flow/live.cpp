#include "bench/flow/live.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::bench {

Live::Live(const Instance& instance)
    : instance_(instance), state_(instance.state().snapshot()), flow_(instance.flow()), arrived_(flow_.jobs) {
  request_.policy = "fifo";
  request_.params = {{"discipline", "greedy"}, {"shape", "least_gpu_time"}};
  request_.changes_only = true;
  for (const std::int32_t job : instance.columns().waiting) id_.push_back(instance.state().job(job)->id);
  engine_.decide(state_, memory_, request_, plan_);
  commit(state_, plan_);
}

Live::Step Live::step() {
  Step step{static_cast<int>(random_() % static_cast<std::uint64_t>(flow_.jobs)), 0, 0};
  const std::size_t number = static_cast<std::size_t>(step.job);
  Job job = instance_.new_job(arrived_++, random_);
  job.submit_us = state_.now();
  const std::string id = job.id;
  const std::array<Delta, 2> deltas{delta::RemoveJob{id_[number], "completed"}, delta::PutJob{std::move(job)}};
  Lap lap;
  state_.apply(deltas);
  engine_.decide(state_, memory_, request_, plan_);
  step.seconds = lap.seconds();
  commit(state_, plan_);
  step.commit_s = lap.seconds();
  id_[number] = id;
  instance_.run_costs(state_, state_.find_job(id), &flow_.run_cost[number * static_cast<std::size_t>(flow_.types)]);
  return step;
}

void Live::check() {
  step();
  Request whole = request_;
  whole.changes_only = false;
  require_valid(state_, engine_.decide(state_, whole));
}

std::int64_t Live::cost() const {
  std::vector<int> places;
  for (const std::string& id : id_) {
    const Job* job = state_.job(state_.find_job(id));
    require(job != nullptr && job->allocation.entries.size() == 1, "a job has no place");
    places.push_back(instance_.place_of_node(state_.find_node(job->allocation.entries[0].node)));
  }
  return flow_cost(flow_, places);
}

}  // namespace berth::bench
