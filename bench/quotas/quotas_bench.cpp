#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/latency.hpp"
#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/quota/queue_shares.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_view.hpp"

/// Quotas: a decision that takes GPUs back, one that cannot, and the shares of many queues. The first two have the shapes of KAI's
/// benchmarks ReclaimLargeJobs and ReclaimUnschedulableDistributedJob (KAI-Scheduler, pkg/scheduler/actions/integration_tests/reclaim).
namespace berth::bench {
namespace {

/// Smaller where every benchmark runs once, to see that it runs.
std::int64_t sized(std::int64_t n) { return full_or_smoke(n, std::max<std::int64_t>(n / 50, 10)); }

Queue queue_of(const std::string& id, std::int64_t guarantee) {
  Queue queue;
  queue.id = id;
  queue.quotas = {{"*", guarantee}};
  return queue;
}

/// Nodes of 8 GPUs, each with 8 running jobs of one GPU of the queue lender. A gang of `members` of 8 GPUs of the queue owner waits.
Snapshot full_cluster(std::int64_t n_nodes, std::int32_t members, std::int64_t lender, std::int64_t owner) {
  Snapshot s;
  s.now_us = 10'000 * kSecond;
  s.gpu_types.emplace_back().id = "H";
  s.queues = {queue_of("lender", lender), queue_of("owner", owner)};
  std::mt19937_64 random(kSeed);
  for (std::int64_t n = 0; n < n_nodes; ++n) {
    Node& node = s.nodes.emplace_back();
    node.id = "node" + std::to_string(n);
    node.gpu_type = "H";
    node.gpus = 8;
  }
  const auto job_of = [&](const std::string& id, const char* queue) -> Job& {
    Job& job = s.jobs.emplace_back();
    job.id = id;
    job.queue = queue;
    job.estimate.run_us = 36'000 * kSecond;
    Shape& shape = job.shapes.emplace_back();
    shape.id = "s";
    shape.gpus = 1;
    return job;
  };
  for (std::int64_t i = 0; i < 8 * n_nodes; ++i) {
    Job& job = job_of("running" + std::to_string(i), "lender");
    job.submit_us = static_cast<TimeUs>(random() % 10'000) * kSecond;
    job.state = JobState::kRunning;
    job.last_assignment_us = job.submit_us;
    job.costs.restart_us = static_cast<TimeUs>(random() % 600) * kSecond;
    job.allocation.shape = "s";
    AllocationEntry& entry = job.allocation.entries.emplace_back();
    entry.node = "node" + std::to_string(i % n_nodes);
    entry.gpus = {static_cast<std::int32_t>(i / n_nodes)};
  }
  Job& gang = job_of("gang", "owner");
  gang.submit_us = 9'000 * kSecond;
  gang.shapes.front().gpus = 8 * members;
  Group& group = gang.shapes.front().groups.emplace_back();
  group.name = "worker";
  group.members_min = group.members_want = group.members_max = members;
  group.gpus_per_member = 8;
  return s;
}

void decide(benchmark::State& bench, const Snapshot& snapshot, bool starts) {
  const ClusterState state(snapshot);
  Engine engine;
  Request request;
  request.policy = "fifo";
  Plan plan;
  PolicyState policy_state;
  engine.decide(state, policy_state, request, plan);
  require_valid(state, plan);
  require_equal_to_reference(state, request, plan);
  require(plan.totals.starts == (starts ? 1 : 0), "the gang starts where it may");
  std::vector<double> seconds;
  for (auto _ : bench) {
    Lap lap;
    engine.decide(state, policy_state, request, plan);
    seconds.push_back(lap.seconds());
    bench.SetIterationTime(seconds.back());
  }
  report_percentiles(bench, "decide", seconds);
  bench.counters["preempts"] = static_cast<double>(plan.totals.preempts);
}

/// A tenth of the cluster for one gang: the queue of the running jobs has no guarantee.
void reclaim_large_job(benchmark::State& bench) {
  const std::int64_t nodes = sized(bench.range(0));
  decide(bench, full_cluster(nodes, static_cast<std::int32_t>(nodes / 10), 0, 8 * nodes), true);
}

/// The other queue borrows one GPU less than the gang of 10 nodes needs.
void reclaim_impossible(benchmark::State& bench) {
  const std::int64_t nodes = std::max<std::int64_t>(sized(bench.range(0)), 20);
  decide(bench, full_cluster(nodes, 10, 8 * nodes - 79, 80), false);
}

/// Queues without parents, or 100 below each parent. Half of them ask for more than they are guaranteed.
struct Queues {
  explicit Queues(std::int64_t n, bool tree) {
    Snapshot s;
    s.gpu_types.emplace_back().id = "H";
    std::mt19937_64 random(kSeed);
    for (std::int64_t q = 0; q < n; ++q) {
      Queue queue = queue_of("q" + std::to_string(q), static_cast<std::int64_t>(random() % 9));
      queue.weight_ppm = static_cast<std::int64_t>(random() % 9 + 1) * 1'000'000;
      if (tree && q % 101 != 0) queue.parent = "q" + std::to_string(q / 101 * 101);
      s.queues.push_back(std::move(queue));
    }
    for (std::int64_t i = 0; i < n; ++i) {
      Node& node = s.nodes.emplace_back();
      node.id = "n" + std::to_string(i);
      node.gpu_type = "H";
      node.gpus = 8;
    }
    state = ClusterState(s);
    asked.assign(static_cast<std::size_t>(n) * 2, 0);
    for (std::int64_t q = 0; q < n; ++q) {
      asked[static_cast<std::size_t>(2 * q)] = asked[static_cast<std::size_t>(2 * q + 1)] =
          static_cast<std::int64_t>(random() % 17) * kWholeGpu;
    }
  }
  ClusterState state{Snapshot{}};
  std::vector<std::int64_t> asked;
};

void shares(benchmark::State& bench, bool tree, bool fair) {
  const Queues queues(sized(bench.range(0)), tree);
  const StateImpl& s = impl_of(StateView(queues.state));
  core::QueueShares shares;
  for (auto _ : bench) {
    shares.set(s, queues.asked, fair);
    benchmark::DoNotOptimize(shares.guaranteed(0, 0));
  }
}

/// A job of one GPU comes to a queue, or leaves it.
void shares_after_one_job(benchmark::State& bench, bool tree) {
  const Queues queues(sized(bench.range(0)), tree);
  const StateImpl& s = impl_of(StateView(queues.state));
  core::QueueShares shares, again;
  shares.set(s, queues.asked, false);
  std::vector<std::int64_t> asked = queues.asked;
  std::mt19937_64 random(kSeed);
  const auto change = [&] {
    const auto queue = static_cast<std::int32_t>(random() % (asked.size() / 2));
    const std::int64_t more = asked[static_cast<std::size_t>(2 * queue)] > 0 && random() % 2 == 0 ? -kWholeGpu : kWholeGpu;
    for (std::int32_t column = 0; column < 2; ++column) {
      asked[static_cast<std::size_t>(2 * queue + column)] += more;
      shares.change(s, queue, column, more);
    }
  };
  for (int i = 0; i < 100; ++i) change();
  again.set(s, asked, false);
  for (std::int32_t q = 0; q < std::ssize(s.queues); ++q)
    require(shares.guaranteed(q, 1) == again.guaranteed(q, 1), "shares are as from nothing");
  for (auto _ : bench) change();
}

BENCHMARK(reclaim_large_job)->ArgName("nodes")->Arg(500)->Arg(1000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(reclaim_impossible)->ArgName("nodes")->Arg(500)->Arg(1000)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shares, guarantees, false, false)->ArgName("queues")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shares, guarantees_of_trees, true, false)->ArgName("queues")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shares, fair, false, true)->ArgName("queues")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shares, fair_of_trees, true, true)->ArgName("queues")->Arg(10'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(shares_after_one_job, flat, false)->ArgName("queues")->Arg(10'000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(shares_after_one_job, trees, true)->ArgName("queues")->Arg(10'000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace berth::bench
