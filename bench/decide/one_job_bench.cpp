#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <utility>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/cluster.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"

/// One new job on a running cluster without other waiting jobs: from its arrival (a delta) to the validated plan.
namespace berth::bench {
namespace {

constexpr const char* kNewJob = "the-new-job";

/// A gang of whole nodes.
Job gang(std::int64_t members, const char* require_level) {
  Group group;
  group.name = "all";
  group.members_min = group.members_want = group.members_max = static_cast<std::int32_t>(members);
  group.gpus_per_member = kGpusPerNode;
  if (require_level != nullptr) group.require = LevelRef{TopologyKind::kSwitch, require_level};
  Shape shape;
  shape.id = "s0";
  shape.gpus = static_cast<std::int32_t>(members * kGpusPerNode);
  shape.groups.push_back(std::move(group));
  Job job;
  job.id = kNewJob;
  job.user = "ann";
  job.estimate.run_us = 600 * kSecond;
  job.estimate.source = "user";
  job.shapes.push_back(std::move(shape));
  return job;
}

struct OneJobCluster {
  std::unique_ptr<ClusterState> state;
  std::unique_ptr<Engine> engine = std::make_unique<Engine>();
};

OneJobCluster& one_job_cluster() {
  static OneJobCluster p;
  // One job for two nodes: most nodes stay whole, so that the large gang has room.
  if (!p.state) p.state = std::make_unique<ClusterState>(running_cluster(one_job_nodes(), one_job_nodes() / 2));
  return p;
}

void check(OneJobCluster& p, const Request& request, const Job& job, Action want) {
  p.state->apply(delta::PutJob{job});
  PolicyState memory;
  Plan plan;
  p.engine->decide(*p.state, memory, request, plan);
  require_valid(*p.state, plan);
  const std::int32_t job_index = p.state->find_job(kNewJob);
  for (const Decision& d : plan.decisions) {
    if (d.job != job_index) continue;
    require(d.action == want, "the new job got another answer than expected: " + render_reason(*p.state, d.reason, job_index));
    if (want == Action::kReject) require(d.reason.certified && check_certificate(*p.state, d.reason, job_index), "the no is not certified");
  }
  if (one_job_nodes() <= kReferenceNodes) require_equal_to_reference(*p.state, request, plan);
  p.state->apply(delta::RemoveJob{kNewJob, ""});
}

void one_job(benchmark::State& bench, const char* policy, std::int64_t members, const char* level, Action want) {
  OneJobCluster& p = one_job_cluster();
  Request request;
  request.policy = policy;
  Job job = gang(members, level);
  job.submit_us = p.state->now();
  const Delta arrival = delta::PutJob{job};
  const Delta removal = delta::RemoveJob{kNewJob, ""};
  check(p, request, job, want);

  Timing sum;
  double apply = 0;
  Plan plan;
  PolicyState memory;
  for (auto _ : bench) {
    Lap lap;
    p.state->apply(arrival);
    const double applied = lap.seconds();
    p.engine->decide(*p.state, memory, request, plan);
    const double decided = lap.seconds();
    bench.SetIterationTime(applied + decided);
    apply += applied;
    sum.compile_s += plan.timing.compile_s;
    sum.order_s += plan.timing.order_s;
    sum.place_s += plan.timing.place_s;
    sum.reasons_s += plan.timing.reasons_s;
    sum.validate_s += plan.timing.validate_s;
    p.state->apply(removal);
  }
  const auto mean = benchmark::Counter::kAvgIterations;
  bench.counters["apply_ms"] = {1e3 * apply, mean};
  bench.counters["compile_ms"] = {1e3 * sum.compile_s, mean};
  bench.counters["order_ms"] = {1e3 * sum.order_s, mean};
  bench.counters["place_ms"] = {1e3 * sum.place_s, mean};
  bench.counters["reasons_ms"] = {1e3 * sum.reasons_s, mean};
  bench.counters["validate_ms"] = {1e3 * sum.validate_s, mean};
  bench.counters["nodes"] = static_cast<double>(one_job_nodes());
  bench.counters["jobs"] = static_cast<double>(plan.decisions.size());
}

[[maybe_unused]] const bool registered = [] {
  for (const char* policy : {"fifo", "srsf"}) {
    const auto add = [policy](const std::string& name, std::int64_t members, const char* level, Action want) {
      benchmark::RegisterBenchmark((name + "/policy:" + policy).c_str(), one_job, policy, members, level, want)
          ->UseManualTime()
          ->Unit(benchmark::kMillisecond);
    };
    add("gang_of_" + std::to_string(large_gang()), large_gang(), nullptr, Action::kStart);
    add("gang_of_3_in_a_rack", 3, "rack", Action::kStart);
    // A rack has 16 nodes.
    add("certified_no", 17, "rack", Action::kReject);
  }
  return true;
}();

}  // namespace
}  // namespace berth::bench
