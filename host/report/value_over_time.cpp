#include "host/report/value_over_time.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

namespace berth::report {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// When that number of generations was reached.
struct Instant {
  std::int64_t generation;
  double seconds;
};

}  // namespace

ValueOverTime value_over_time(Engine& engine, const ClusterState& state, PolicyState& policy_state, const Request& request, Plan& plan) {
  std::vector<Instant> instants;
  instants.reserve(1024);
  Request watched = request;
  const Clock::time_point begin = Clock::now();
  watched.progress = [&](std::int64_t made, std::int64_t all) {
    // A count that restarts belongs to another part of the decision; the search is the last part.
    if (!instants.empty() && made <= instants.back().generation) instants.clear();
    instants.push_back({made, seconds_since(begin)});
    return !request.progress || request.progress(made, all);
  };
  engine.decide(state, policy_state, watched, plan);

  ValueOverTime found;
  found.seconds = seconds_since(begin);
  found.value = plan.bound.value;
  found.bound = plan.bound.bound;
  found.searched_s = found.seconds;
  if (plan.history.empty()) {
    found.steps.push_back({found.seconds, found.value});
    return found;
  }
  // A history that begins at 0 is of a search whose initial plan counts as work.
  found.generations = plan.iterations - (plan.history.front().first == 0 ? 1 : 0);
  if (!instants.empty() && instants.back().generation == found.generations) found.searched_s = instants.back().seconds;
  std::size_t i = 0;
  for (const auto& [generation, score] : plan.history) {
    while (i < instants.size() && instants[i].generation < generation) ++i;
    found.steps.push_back({i < instants.size() ? instants[i].seconds : found.seconds, score});
  }
  return found;
}

}  // namespace berth::report
