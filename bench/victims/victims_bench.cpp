#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/defaults.hpp"
#include "bench/support/answer.hpp"
#include "bench/support/backends.hpp"
#include "bench/support/latency.hpp"

/// `victims`: which running jobs leave for a gang of a tenth of the nodes, and for many jobs of one node each. Nodes have 8 GPUs, which are
/// all in use: by jobs of one GPU, or half of them by gangs on 8 nodes. Costs are random.
namespace berth::bench {
namespace {

constexpr std::uint64_t kAllGpus = 0xff;

/// Full nodes and the jobs on them.
struct FullCluster {
  /// @param gangs  Half of the GPUs belong to gangs of 8 nodes.
  FullCluster(std::int64_t nodes, bool gangs) : n(static_cast<std::int32_t>(nodes)), free(columns(0)), open(columns(kAllGpus)) {
    std::mt19937_64 random(kSeed);
    const auto add = [&](std::int32_t first, std::int32_t count, std::uint64_t mask) {
      held_begin.push_back(static_cast<std::int32_t>(held.size()));
      for (std::int32_t node = first; node < first + count && node < n; ++node) held.push_back({node, kWholeGpu, mask, 0, 0, 0});
      job.push_back(static_cast<std::int32_t>(job.size()));
      priority.push_back(0);
      cost.push_back(static_cast<std::int64_t>(random() % 1'000'000));
    };
    for (std::int32_t node = 0; node < n; ++node) {
      for (std::int32_t gpu = 0; gpu < kGpusPerNode; ++gpu) {
        if (!gangs || gpu >= kGpusPerNode / 2) {
          add(node, 1, std::uint64_t{1} << gpu);
        } else if (node % 8 == 0) {
          add(node, 8, std::uint64_t{1} << gpu);
        }
      }
    }
    held_begin.push_back(static_cast<std::int32_t>(held.size()));
    limits.assign(free.size(), kernel::kNoLimit);
    until.assign(free.size(), kNever);
    filter.assign((free.size() + 63) / 64, ~std::uint64_t{0});
    for (std::int32_t node = 0; node < n; ++node) order.push_back(node);
  }
  std::vector<std::uint64_t> columns(std::uint64_t value) const { return std::vector<std::uint64_t>(static_cast<std::size_t>(n), value); }

  /// Asks for members of 8 GPUs in a domain.
  void ask(std::int32_t members, std::int32_t topology, std::int32_t domain, std::int32_t begin, std::int32_t end) {
    kernel::GroupRow group{};
    group.members = members;
    group.gpus = kGpusPerNode;
    group.share_ppm = kWholeGpu;
    const auto at = static_cast<std::int32_t>(groups.size());
    kernel::DemandRow row{};
    row.group_begin = at;
    row.group_end = at + 1;
    groups.push_back(group);
    demands.push_back(row);
    question_demand.push_back(at);
    question_topology.push_back(topology);
    question_domain.push_back(domain);
    ends.push_back(kNever);
    candidate_begin.push_back(begin);
    candidate_end.push_back(end);
    chosen_begin.push_back(n_chosen);
    n_chosen += end - begin;
  }

  kernel::ProblemView view() const {
    kernel::ProblemView p{};
    p.n_nodes = n;
    p.n_words = static_cast<std::int32_t>(filter.size());
    p.node_free = free.data();
    p.node_open = open.data();
    p.node_cpu = p.node_memory = limits.data();
    p.node_until = until.data();
    for (kernel::TopologyView& topology : p.topology) topology = {2, 1, order.data(), nullptr, {}};
    p.n_filters = 1;
    p.filter_words = filter.data();
    p.n_demands = static_cast<std::int32_t>(demands.size());
    p.demands = demands.data();
    p.groups = groups.data();
    p.n_jobs = static_cast<std::int32_t>(job.size());
    kernel::set_held(p, held_begin.data(), held.data());
    return p;
  }
  kernel::VictimsRequest request() const {
    return {static_cast<std::int32_t>(ends.size()),
            static_cast<std::int32_t>(job.size()),
            n_chosen,
            question_demand.data(),
            question_topology.data(),
            question_domain.data(),
            ends.data(),
            candidate_begin.data(),
            candidate_end.data(),
            chosen_begin.data(),
            job.data(),
            priority.data(),
            cost.data()};
  }

  std::int32_t n, n_chosen = 0;
  std::vector<std::uint64_t> free, open, filter;
  std::vector<std::int64_t> limits, cost;
  std::vector<TimeUs> until, ends;
  std::vector<std::int32_t> order, held_begin, job, priority;
  std::vector<kernel::HeldRow> held;
  std::vector<kernel::GroupRow> groups;
  std::vector<kernel::DemandRow> demands;
  std::vector<std::int32_t> question_demand, question_topology, question_domain, candidate_begin, candidate_end, chosen_begin;
};

struct VictimsAnswer {
  explicit VictimsAnswer(const FullCluster& cluster)
      : outcome(cluster.ends.size()),
        priority(cluster.ends.size()),
        count(cluster.ends.size()),
        cost(cluster.ends.size()),
        members(cluster.ends.size()),
        chosen(static_cast<std::size_t>(cluster.n_chosen)) {}
  kernel::VictimsResult view() { return {outcome.data(), priority.data(), cost.data(), count.data(), members.data(), chosen.data()}; }
  bool operator==(const VictimsAnswer&) const = default;

  std::vector<kernel::VictimsOutcome> outcome;
  std::vector<std::int32_t> priority, count;
  std::vector<std::int64_t> cost, members;
  std::vector<std::uint8_t> chosen;
};

void run(benchmark::State& bench, core::PlacementBackend& backend, const FullCluster& cluster, bool checks) {
  VictimsAnswer answer(cluster);
  const kernel::ProblemView problem = cluster.view();
  const kernel::VictimsRequest request = cluster.request();
  for (auto _ : bench) {
    Lap lap;
    backend.victims(problem, request, answer.view());
    bench.SetIterationTime(lap.seconds());
  }
  const auto chosen = [](kernel::VictimsOutcome outcome) { return outcome == kernel::VictimsOutcome::kChosen; };
  require(std::all_of(answer.outcome.begin(), answer.outcome.end(), chosen), "a question has no victims");
  if (checks) {
    VictimsAnswer want(cluster);
    core::make_reference_backend()->victims(problem, request, want.view());
    require(answer == want, "an answer is not the reference's");
  }
  bench.SetItemsProcessed(bench.iterations() * request.n);
}

/// Gangs on a tenth of the nodes, each a question of its own about the same jobs. The reference counts all sets again for each set, so it
/// checks small clusters only.
void gang(benchmark::State& bench, core::PlacementBackend& backend, bool gangs, std::int32_t questions) {
  FullCluster cluster(bench.range(0), gangs);
  for (std::int32_t q = 0; q < questions; ++q) {
    cluster.ask(std::max(1, cluster.n / 10 - q), 0, kernel::kNone, 0, static_cast<std::int32_t>(cluster.job.size()));
  }
  run(bench, backend, cluster, cluster.n <= 64);
}

/// One question, for which a GPU is not used.
void one_gang(benchmark::State& bench) { gang(bench, *core::make_cpu_backend(1), bench.range(1) != 0, 1); }

/// A question about each node, with its own candidates.
void each_node(benchmark::State& bench, core::PlacementBackend& backend) {
  FullCluster cluster(bench.range(0), false);
  for (std::int32_t node = 0; node < cluster.n; ++node) {
    cluster.ask(1, kernel::kNone, node, node * kGpusPerNode, (node + 1) * kGpusPerNode);
  }
  run(bench, backend, cluster, cluster.n <= 1'000);
}

[[maybe_unused]] const bool registered = [] {
  auto* const one = benchmark::RegisterBenchmark("victims/gang", one_gang);
  one->ArgNames({"nodes", "of_gangs"})->UseManualTime()->Unit(benchmark::kMillisecond);
  for (const std::int64_t nodes : victims_nodes()) one->Args({nodes, 0})->Args({nodes, 1});
  register_batches("victims/gangs_at_once", "nodes", {victims_nodes().front()},
                   [](benchmark::State& bench, core::PlacementBackend& backend) { gang(bench, backend, true, 32); });
  register_batches("victims/nodes", "questions", victims_questions(), each_node);
  return true;
}();

}  // namespace
}  // namespace berth::bench
