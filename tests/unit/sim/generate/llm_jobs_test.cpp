// Jobs of clusters for language models: trees that fit the cluster, with traffic by formula.
#include "host/sim/generate/llm_jobs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/generate/generate.hpp"
#include "host/sim/generate/synthetic_jobs.hpp"
#include "host/sim/simulation.hpp"

namespace berth::sim::llm_jobs_test {
namespace {

Snapshot fabric(Fabric kind, std::int32_t nodes, std::int32_t gpus, std::int32_t nodes_per_rack = 0, std::int32_t racks_per_pod = 0) {
  GenerateOptions options;
  options.nodes = nodes;
  options.gpus_per_node = gpus;
  options.jobs = options.queues = options.history = options.outage_ppm = 0;
  options.fabric = kind;
  options.nodes_per_rack = nodes_per_rack;
  options.racks_per_pod = racks_per_pod;
  return generate(options);
}

SyntheticOptions options_for(const Snapshot& cluster, std::int64_t jobs) {
  SyntheticOptions options;
  options.workload = Workload::kLlm;
  options.jobs = jobs;
  options.gpus = working_gpus(cluster);
  options.fabric = LlmFabric::of(cluster);
  return options;
}

Trace drawn(const SyntheticOptions& options) {
  SyntheticJobs jobs(options);
  Trace trace;
  trace.profiles = jobs.profiles();
  while (const TraceJob* job = jobs.next()) {
    trace.jobs.push_back(*job);
    jobs.release(*job);
  }
  return trace;
}

const Group* find(const Shape& shape, const std::string& name) {
  const auto found = std::find_if(shape.groups.begin(), shape.groups.end(), [&](const Group& g) { return g.name == name; });
  return found == shape.groups.end() ? nullptr : &*found;
}

// By hand from docs/llm-workload.md.
constexpr LlmSplit kLlama405bSplit{16, 1, 8};
static_assert(tokens_of_node(kLlama405b, kLlama405bSplit) == 131'072);  // 16 sequences of 8,192 tokens
static_assert(dp_bytes(kLlama405b, kLlama405bSplit) == 50'625'000'000);
static_assert(pp_bytes(kLlama405b, kLlama405bSplit) == 4'294'967'296);
static_assert(tp_bytes(kLlama405b, kLlama405bSplit) == 135'291'469'824);
constexpr LlmSplit kDeepseekSplit{16, 8, 8};
static_assert(dp_bytes(kDeepseek, kDeepseekSplit) == 10'484'375'000);
static_assert(tokens_of_node(kDeepseek, kDeepseekSplit) == 3'932'160);
static_assert(ep_bytes(kDeepseek, kDeepseekSplit) == std::int64_t{32} * 3'932'160 * 7168 * 61 / 16);
static_assert(zero3_bytes(kLlama70b) == 210'000'000'000);
static_assert(kServices[0].kv_bytes_per_token * 512 == 1'207'959'552);  // 1.125 GiB
static_assert(kServices[1].kv_bytes_per_token == 327'680 && kServices[2].kv_bytes_per_token == 70'272);

}  // namespace

TEST(LlmFabric, IsReadOffTheCluster) {
  const LlmFabric rail = LlmFabric::of(fabric(Fabric::kRail, 64, 8, 8, 4));
  EXPECT_EQ(std::tie(rail.node_gpus, rail.nodes, rail.unit_nodes, rail.pod_nodes), std::tuple(8, 64, 8, 32));
  EXPECT_EQ(rail.unit, (LevelRef{TopologyKind::kSwitch, "leaf"}));
  EXPECT_EQ(rail.pod, (LevelRef{TopologyKind::kSwitch, "pod"}));
  EXPECT_EQ(rail.fault, (LevelRef{TopologyKind::kFault, "row"}));
  EXPECT_EQ(rail.fault_nodes, 8);
  EXPECT_EQ(rail.tflops, 125);  // the V100s of the default workload

  const LlmFabric nvl = LlmFabric::of(fabric(Fabric::kNvl72, 36, 4));
  EXPECT_EQ(std::tie(nvl.node_gpus, nvl.nodes, nvl.unit_nodes, nvl.pod_nodes), std::tuple(4, 36, 18, 36));
  EXPECT_EQ(nvl.unit, (LevelRef{TopologyKind::kNvlink, "nvl_domain"}));
  EXPECT_FALSE(nvl.fault);  // both racks share a cooling unit

  const LlmFabric flat = LlmFabric::of(io::uniform_cluster(3, 2));
  EXPECT_EQ(std::tie(flat.node_gpus, flat.nodes, flat.unit_nodes, flat.pod_nodes), std::tuple(2, 3, 3, 3));
  EXPECT_FALSE(flat.unit || flat.pod || flat.fault);
  EXPECT_EQ(flat.tflops, 989);
}

TEST(LlmJobs, StateTrafficByKind) {
  const Trace trace = drawn(options_for(fabric(Fabric::kRail, 512, 8), 4'000));
  std::set<std::string> seen;
  for (const TraceJob& job : trace.jobs) {
    if (job.shapes.empty()) continue;
    const Shape& shape = job.shapes.front();
    ASSERT_EQ(shape.gpus, job.gpus);
    for (const Group& group : shape.groups) {
      for (const Communication& one : group.communication)
        seen.insert(fmt::format("{} {} {}", job.model, group.role, static_cast<int>(one.kind)));
    }
    if (job.profile == "llama-3-405b pp16" && shape.id == "dp2") {
      const Group* stage = find(shape, "stage0");
      ASSERT_NE(stage, nullptr);
      EXPECT_EQ(shape.groups.size(), 17U);
      EXPECT_EQ(std::tie(stage->members_want, stage->gpus_per_member), std::tuple(2, 8));
      EXPECT_EQ(stage->communication,
                (std::vector<Communication>{{CommKind::kDp, "", 50'625'000'000}, {CommKind::kPp, "stage1", 4'294'967'296}}));
      EXPECT_EQ(find_profile(trace, job.profile)->gradient_bytes, 50'625'000'000);
    }
    if (job.profile == "deepseek-v3 pp16 ep64" && shape.id == "dp2") {
      const Group* stage = find(shape, "stage3.1");
      ASSERT_NE(stage, nullptr);
      EXPECT_EQ(shape.groups.size(), 33U);
      EXPECT_EQ(stage->communication, (std::vector<Communication>{{CommKind::kEp, "", ep_bytes(kDeepseek, kDeepseekSplit)},
                                                                  {CommKind::kDp, "stage3.0", 10'484'375'000},
                                                                  {CommKind::kPp, "stage4.1", pp_bytes(kDeepseek, kDeepseekSplit)}}));
    }
  }
  // pp 1, dp 2, ep 3, kv 4; tp stays inside a member
  for (const char* traffic : {"llama-3-8b worker 2", "llama-3-405b stage 1", "gpt-3-175b stage 2", "deepseek-v3 stage 3",
                              "mixtral-8x7b stage 1", "opt-66b prefill 4", "deepseek-v3 prefill 3", "deepseek-v3 decode 3"}) {
    EXPECT_EQ(seen.count(traffic), 1U) << traffic;
  }
}

TEST(LlmJobs, FitWhateverTheClusterAndReadBack) {
  const Snapshot clusters[] = {io::uniform_cluster(1, 1),        io::uniform_cluster(1, 8),           io::uniform_cluster(3, 2),
                               io::uniform_cluster(64, 8),       fabric(Fabric::kTree, 10, 8, 4, 2),  fabric(Fabric::kNvl72, 40, 4),
                               fabric(Fabric::kRail, 128, 8, 8), fabric(Fabric::kRail, 300, 8, 16, 3)};
  for (const Snapshot& cluster : clusters) {
    Trace trace = drawn(options_for(cluster, 300));
    EXPECT_EQ(io::parse_trace(io::to_json(trace)), trace);
    for (const char* policy : {"fifo", "srsf", "price"}) {
      SimulationSettings settings;
      settings.request.policy = policy;
      settings.elastic = true;
      settings.links = LinkModel::kShared;
      std::int64_t completed = 0;
      simulate(trace, cluster, settings, [&](const JobOutcome& job) {
        completed += job.end == JobOutcome::End::kCompleted ? 1 : 0;
        EXPECT_EQ(job.reason, "");
      });
      EXPECT_EQ(completed, 300) << cluster.name << " " << policy;
    }
  }
}

TEST(LlmJobs, ComeAsFastAsTheLoadAsksForAndAreTheSameForTheSameSeed) {
  SyntheticOptions options = options_for(fabric(Fabric::kRail, 64, 8), 200'000);
  SyntheticJobs jobs(options), again(options);
  options.seed = 1;
  SyntheticJobs others(options);
  __int128 gpu_us = 0;
  TimeUs last = 0;
  int different = 0;
  for (const TraceJob* job = jobs.next(); job != nullptr; job = jobs.next()) {
    ASSERT_GE(job->submit_us, last);
    last = job->submit_us;
    gpu_us += static_cast<__int128>(job->run_us) * job->gpus;
    const TraceJob *same = again.next(), *other = others.next();
    ASSERT_EQ(*job, *same);
    different += *job == *other ? 0 : 1;
    jobs.release(*job), again.release(*same), others.release(*other);
  }
  EXPECT_GT(different, 199'000);
  // Four standard deviations: GPU-time has one of about 3.5 times its mean.
  EXPECT_NEAR(static_cast<double>(gpu_us) / (512.0 * static_cast<double>(last)), 0.8, 0.8 * 4 * 3.5 / 447);
}

// Without communication a job alone takes its run time; with it a little longer.
TEST(LlmJobs, TheirWorkTakesTheirRunTime) {
  const Snapshot cluster = fabric(Fabric::kRail, 64, 8);
  Trace trace = drawn(options_for(cluster, 200));
  for (TraceJob& job : trace.jobs) job.submit_us = 0;
  for (const bool communicates : {true, false}) {
    if (!communicates) {
      for (auto& [name, profile] : trace.profiles) profile.gradient_bytes = 0;
    }
    for (const TraceJob& job : trace.jobs) {
      Trace one = trace;
      one.jobs = {job};
      SimulationSettings settings;
      settings.request.policy = "fifo";
      simulate(one, cluster, settings, [&](const JobOutcome& outcome) {
        const auto end = static_cast<double>(outcome.end_us), run = static_cast<double>(job.run_us);
        if (communicates) {
          EXPECT_LT(end, 2 * run) << job.profile;
        } else {
          EXPECT_NEAR(end, run, 1 + 1e-3 * run) << job.profile;  // latencies
        }
      });
    }
  }
}

}  // namespace berth::sim::llm_jobs_test
