#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/snapshot.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/params.hpp"
#include "tests/support/queues/lending.hpp"
#include "tests/support/random.hpp"

/// Clusters, jobs and requests for which an engine keeps the queue between decisions: docs/placement.md, section 12.
namespace berth::test {

inline sim::GenerateOptions plain_options(std::uint64_t seed, std::int32_t jobs) {
  sim::GenerateOptions o;
  o.nodes = jobs / 20 + static_cast<std::int32_t>(seed % 17);
  o.jobs = jobs;
  o.seed = seed;
  o.nodes_per_rack = 3;
  o.racks_per_pod = 2;
  o.workload = sim::Workload::kHelios;
  o.outage_ppm = 0;
  o.elastic = seed % 3 == 0;
  return o;
}

inline void erase_shared(std::vector<Job>& jobs) {
  std::erase_if(jobs, [](const Job& job) {
    return std::any_of(job.shapes.begin(), job.shapes.end(), [](const Shape& shape) { return shape.share_ppm != kWholeGpu; });
  });
}

inline Snapshot plain_cluster(std::uint64_t seed, std::int32_t jobs) {
  Snapshot s = sim::generate(plain_options(seed, jobs));
  s.reservations.clear();
  for (Node& node : s.nodes) {
    node.sharing = false;
    node.available_until_us = kNever;
  }
  erase_shared(s.jobs);
  if (seed % 2 == 0) lend_below_one_parent(seed, s);
  return s;
}

/// For clusters of the same seed.
inline std::vector<Job> plain_newcomers(std::uint64_t seed) {
  std::vector<Job> jobs = sim::generate(plain_options(seed + 3'000, 200)).jobs;
  erase_shared(jobs);
  return jobs;
}

inline Request plain_request(const std::string& policy, std::uint64_t seed, Random& random) {
  Request request;
  request.policy = policy;
  if (has_param(policy, "discipline")) request.params.emplace_back("discipline", random.percent(30) ? "strict" : "greedy");
  if (has_param(policy, "shape") && seed % 3 == 0) request.params.emplace_back("shape", "least_gpu_time");
  if (policy == "las") request.params.emplace_back("thresholds_gpu_s", "600,6000");
  // With guarantees most decisions are passes over all jobs.
  if (seed % 4 != 0) request.params.emplace_back("quotas", "limits");
  request.params.emplace_back("packing", random.of<const char*>({"topology", "topology", "count", "emptiest"}));
  return request;
}

/// As it would come now: it waits and has not run.
inline Job as_newcomer(Job job, std::string id, TimeUs submit) {
  job.id = std::move(id);
  job.submit_us = std::max<TimeUs>(0, submit);
  job.state = JobState::kWaiting;
  job.allocation = {};
  job.progress = {};
  job.waiting_since_us = kNever;
  return job;
}

}  // namespace berth::test
