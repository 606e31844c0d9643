// A list of jobs to run becomes the plan that the engine would have made, if the engine made that list.
// Any list becomes a valid plan: each named job runs as named or waits, and no other job runs.

#include "host/core/engine/run_list.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/engine.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/random.hpp"

namespace berth::core::run_list_test {
namespace {

using test::Random;

sim::GenerateOptions options_of(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.seed = seed;
  o.nodes = 4 + static_cast<std::int32_t>(seed % 20);
  o.jobs = 5 + static_cast<std::int32_t>(seed % 47);
  o.workload = static_cast<sim::Workload>(seed % 4);
  o.elastic = seed % 3 == 0;
  o.virtual_clusters = seed % 5 == 0 ? 2 : 0;
  o.outage_ppm = seed % 2 == 0 ? 200'000 : 0;
  o.nodes_per_rack = 4;
  o.racks_per_pod = 2;
  o.history = 20;
  return o;
}

// Some GPUs of running jobs fail; those jobs are repaired or lost.
void fail_some(ClusterState& state, Random& random) {
  for (std::int32_t n = 0; n < state.node_count(); ++n) {
    if (random.percent(15)) state.apply(delta::SetNodeState{state.node(n).id, NodeState::kFailed, 0});
  }
}

// The order of srtf, computed independently of the engine.
std::vector<RunLine> by_remaining(const StateImpl& s, const std::vector<std::uint8_t>& rejected) {
  std::vector<std::int32_t> jobs;
  for (const std::int32_t job : s.job_order) {
    if (rejected[to_index(job)] == 0) jobs.push_back(job);
  }
  std::sort(jobs.begin(), jobs.end(), [&](std::int32_t a, std::int32_t b) {
    return std::tuple(s.remaining(a), s.job_rank()[to_index(a)]) < std::tuple(s.remaining(b), s.job_rank()[to_index(b)]);
  });
  std::vector<RunLine> lines;
  for (const std::int32_t job : jobs) lines.push_back({job, 0, {}});
  return lines;
}

bool may_be_displaced(const StateImpl& s, std::int32_t job) {
  return s.job.running[to_index(job)] == 0 || (s.job.victim_from[to_index(job)] <= s.now && !s.lost_gpus(job));
}

// GPUs of one type, at any place, that no other job was given; none where there are too few.
std::vector<NamedGpus> some_gpus(const StateImpl& s, Random& random, std::int32_t gpus, std::vector<std::uint64_t>& given) {
  std::vector<NamedGpus> places;
  const std::int32_t type = random.below(static_cast<std::int32_t>(s.gpu_types.size()));
  for (std::size_t n = 0; n < s.nodes.size() && gpus > 0; ++n) {
    if (s.node.type[n] != type || random.percent(30)) continue;
    std::uint64_t mask = 0;
    for (std::uint64_t left = s.node.open[n] & ~given[n]; left != 0 && gpus > 0; left &= left - 1, --gpus) mask |= left & (~left + 1);
    if (mask != 0) places.push_back({static_cast<std::int32_t>(n), mask});
  }
  if (gpus > 0) return {};
  for (const NamedGpus& one : places) given[to_index(one.node)] |= one.gpus;
  return places;
}

std::vector<RunLine> random_lines(const StateImpl& s, Random& random, const std::vector<std::uint8_t>& rejected, bool names_gpus) {
  std::vector<std::int32_t> jobs = s.job_order;
  random.shuffle(jobs);
  std::vector<RunLine> lines;
  std::vector<std::uint64_t> given(s.nodes.size(), 0);
  for (const std::int32_t job : jobs) {  // GPUs of jobs that must stay are not available
    if (may_be_displaced(s, job)) continue;
    for (const kernel::HeldRow& row : s.jobs[to_index(job)].held) given[to_index(row.node)] |= row.mask;
  }
  for (const std::int32_t job : jobs) {
    if (rejected[to_index(job)] != 0 || (may_be_displaced(s, job) && random.percent(30))) continue;
    RunLine line{job, 0, {}};
    const kernel::ProblemView& p = s.problem();
    const std::int32_t options = p.option_end[job] - p.option_begin[job];
    if (may_be_displaced(s, job) && options > 0 && random.percent(50)) {
      const kernel::DemandRow& demand = p.demands[p.options[p.option_begin[job] + random.below(options)].demand];
      const auto gpus = static_cast<std::int32_t>(demand.gpus);
      line.gpus = gpus;
      if (names_gpus && gpus > 0 && random.percent(50)) {
        std::vector<NamedGpus> places = some_gpus(s, random, gpus, given);
        if (!places.empty() && flat_option(s, job, gpus, s.node.type[to_index(places.front().node)]) >= 0) line.places = std::move(places);
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

void expect_as_named(const StateImpl& s, const std::vector<RunLine>& lines, const Plan& plan) {
  std::vector<const RunLine*> line_of(s.jobs.size(), nullptr);
  for (const RunLine& line : lines) line_of[to_index(line.job)] = &line;
  for (const Decision& d : plan.decisions) {
    const RunLine* const line = line_of[to_index(d.job)];
    if (d.action == Action::kReplace || d.action == Action::kReject) continue;
    const bool runs = runs_now(d.action);
    EXPECT_TRUE(line != nullptr || !runs) << "job " << d.job << " was not named";
    if (line == nullptr || line->gpus == 0) continue;
    EXPECT_TRUE(line->places.empty() || runs) << "job " << d.job << " was given GPUs";
    std::int32_t gpus = 0;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
      const PlanEntry& entry = plan.entries[to_index(e)];
      if (entry.share_ppm == kWholeGpu) gpus += std::popcount(entry.gpus);
      const bool there = std::any_of(line->places.begin(), line->places.end(),
                                     [&](const NamedGpus& one) { return one.node == entry.node && (entry.gpus & ~one.gpus) == 0; });
      EXPECT_TRUE(line->places.empty() || there) << "job " << d.job << " runs elsewhere";
    }
    EXPECT_TRUE(!runs || gpus == line->gpus) << "job " << d.job << " has " << gpus;
  }
}

}  // namespace

TEST(RunList, EqualsTheEngineInTheOrderOfItsPolicy) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ClusterState state(test::some_overtaken(sim::generate(options_of(seed)), seed));
    if (seed % 4 == 0) fail_some(state, random);
    Request request;
    request.policy = "srtf";
    Engine engine;
    RunList list;
    for (const Packing placement : {Packing::kTopology, Packing::kCount, Packing::kConsolidate}) {
      request.params = {{"packing", placement == Packing::kTopology ? "topology"
                                    : placement == Packing::kCount  ? "count"
                                                                    : "consolidate"},
                        {"shape", "least_gpu_time"},  // a list has no rule about shapes, nor about guarantees
                        {"quotas", "limits"}};
      const Plan want = engine.decide(state, request);

      Plan got;
      const std::vector<RunLine> lines = by_remaining(state.impl(), list.begin(state.impl(), placement));
      const std::vector<std::string>& violations = list.plan(state.impl(), lines, request, got);

      ASSERT_TRUE(violations.empty()) << violations.front();
      got.order_until_us = want.order_until_us;  // it has no keys of its own
      ASSERT_TRUE(same_plan(got, want));
      ASSERT_TRUE(validate_plan(state, got).empty()) << validate_plan(state, got).front();
    }
  }
}

TEST(RunList, AnyListIsAValidPlanThatDoesWhatItSays) {
  std::int64_t moves = 0, preempts = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    ClusterState state(test::some_overtaken(sim::generate(options_of(seed)), seed));
    if (seed % 4 == 0) fail_some(state, random);
    RunList list;
    for (int step = 0; step < 4; ++step) {
      const auto placement = static_cast<Packing>(random.below(3));
      const std::vector<RunLine> lines = random_lines(state.impl(), random, list.begin(state.impl(), placement), false);
      Plan plan;

      const std::vector<std::string>& violations = list.plan(state.impl(), lines, Request{}, plan);

      ASSERT_TRUE(violations.empty()) << violations.front();
      expect_as_named(state.impl(), lines, plan);
      moves += plan.totals.moves;
      preempts += plan.totals.preempts;
      commit(state, plan);
      state.apply(delta::SetTime{state.now() + random.within(1, 1'000) * kSecond});
    }
  }
  EXPECT_GT(moves, 100);
  EXPECT_GT(preempts, 1'000);
}

// Named GPUs may lack cores or memory, be reserved, or exceed a quota. Only then is the plan rejected.
TEST(RunList, NamedGpusAreGivenOrThePlanIsRefused) {
  std::int64_t valid = 0, named = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    sim::GenerateOptions options = options_of(seed);
    options.demands = options.labels = seed % 2 == 0;
    options.queues = seed % 3 == 0 ? 4 : 0;
    ClusterState state(sim::generate(options));
    RunList list;
    for (int step = 0; step < 4; ++step) {
      const auto placement = static_cast<Packing>(random.below(3));
      const std::vector<RunLine> lines = random_lines(state.impl(), random, list.begin(state.impl(), placement), true);
      const auto with_gpus = std::count_if(lines.begin(), lines.end(), [](const RunLine& line) { return !line.places.empty(); });
      Plan plan;

      const std::vector<std::string>& violations = list.plan(state.impl(), lines, Request{}, plan);

      if (violations.empty()) {
        expect_as_named(state.impl(), lines, plan);
        commit(state, plan);
        ++valid;
        named += with_gpus;
      } else {
        ASSERT_GT(with_gpus, 0) << violations.front();
      }
      state.apply(delta::SetTime{state.now() + random.within(1, 1'000) * kSecond});
    }
  }
  EXPECT_GT(valid, 400);
  EXPECT_GT(named, 500);
}

}  // namespace berth::core::run_list_test
