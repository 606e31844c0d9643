// Jobs in segments on 5,004 nodes with NVLink domains of 18, in a queue that never empties: GPUs in use next to those of a placement that
// knows no domains. docs/contention.md, "Placement of groups".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/random.hpp"

namespace berth::test::segment_occupancy_test {
namespace {

constexpr std::int32_t kRounds = 40, kWarmUp = 10, kQueued = 200;

struct QueuedJob {
  std::int32_t segment, segments;  // nodes of a segment; 0: one node, or two anywhere
  std::int32_t rounds;             // that it runs
};

/// Up to 64 nodes in segments of some sizes. `small_percent` of the jobs are one or two nodes anywhere.
struct Mix {
  std::vector<std::int32_t> sizes;
  std::int32_t small_percent;
};

QueuedJob draw_job(Random& random, const Mix& mix) {
  QueuedJob job{};
  if (random.percent(mix.small_percent)) {
    job.segments = random.within(1, 2);
  } else {
    job.segment = random.of(mix.sizes);
    job.segments = random.within(1, 64 / job.segment);
  }
  job.rounds = random.within(2, 20);
  return job;
}

Job as_job(const QueuedJob& drawn, std::int32_t number, bool in_segments) {
  Job job;
  job.id = fmt::format("j{:05}", number);
  job.submit_us = number;
  Group group;
  group.name = "nodes";
  group.gpus_per_member = 4;
  group.members_min = group.members_want = group.members_max = std::max(1, drawn.segment) * drawn.segments;
  if (in_segments && drawn.segment > 0) group.segment = Segment{drawn.segment, {TopologyKind::kNvlink, "nvl_domain"}};
  job.shapes.resize(1);
  job.shapes[0].id = "s";
  job.shapes[0].gpus = 4 * group.members_want;
  job.shapes[0].groups = {group};
  return job;
}

// GPUs in use after the decisions of the last rounds, over those that there are; in millionths.
std::int64_t occupancy(const Mix& mix, bool in_segments) {
  sim::GenerateOptions o;
  o.nodes = 5'004;
  o.gpus_per_node = 4;
  o.fabric = sim::Fabric::kNvl72;
  o.jobs = 0;
  o.queues = 0;
  o.outage_ppm = 0;
  o.demands = o.labels = false;
  o.seed = 1;
  ClusterState state(sim::generate(o));
  Random random(11);
  Engine engine;
  Request request;
  request.policy = "fifo";
  request.params = {{"discipline", "greedy"}, {"packing", in_segments ? "topology" : "count"}};
  std::vector<std::pair<std::int32_t, QueuedJob>> waiting;  // by number
  std::vector<std::vector<std::string>> ends(kRounds + 32);
  std::int32_t next = 0;
  std::int64_t used = 0, all_used = 0;
  std::vector<std::int64_t> gpus_of;
  for (std::int32_t round = 0; round < kRounds; ++round) {
    std::vector<Delta> deltas;
    for (const std::string& id : ends[static_cast<std::size_t>(round)]) {
      deltas.emplace_back(delta::RemoveJob{id, "completed"});
      used -= gpus_of[static_cast<std::size_t>(std::stoi(id.substr(1)))];
    }
    const std::int32_t refill = round == 0 ? 1200 : kQueued;
    while (static_cast<std::int32_t>(waiting.size()) < refill) {
      waiting.emplace_back(next, draw_job(random, mix));
      deltas.emplace_back(delta::PutJob{as_job(waiting.back().second, next, in_segments)});
      gpus_of.push_back(4 * std::max(1, waiting.back().second.segment) * waiting.back().second.segments);
      ++next;
    }
    state.apply(deltas);
    PolicyState kept;
    Plan plan;
    engine.decide(state, kept, request, plan);
    for (const Decision& d : plan.decisions) {
      if (d.action != Action::kStart) continue;
      const std::string& id = state.job(d.job)->id;
      const auto at = std::find_if(waiting.begin(), waiting.end(), [&](const auto& one) { return one.first == std::stoi(id.substr(1)); });
      ends[static_cast<std::size_t>(round + at->second.rounds)].push_back(id);
      used += gpus_of[static_cast<std::size_t>(at->first)];
      waiting.erase(at);
    }
    commit(state, plan);
    if (round >= kWarmUp) all_used += used;
  }
  return all_used * 1'000'000 / (std::int64_t{kRounds - kWarmUp} * o.nodes * o.gpus_per_node);
}

struct Occupancy {
  std::int64_t in_segments, without;  // of packing=topology, and of packing=count for jobs without segments
};

Occupancy occupancy_of(const Mix& mix) { return {occupancy(mix, true), occupancy(mix, false)}; }

// A domain has room for 16 nodes of these segments: 16 of 18 is the most that any placement has.
TEST(SegmentOccupancy, IsAllThatSegmentsOfFourAllow) {
  const Occupancy found = occupancy_of({{4, 8, 16}, 0});
  EXPECT_EQ(found.in_segments, 888'888);
  EXPECT_EQ(found.without, 1'000'000);
}

// Sizes that fill a domain leave less than 1 % free.
TEST(SegmentOccupancy, IsNearThatWithoutDomainsWhereSegmentsFillThem) {
  const Occupancy found = occupancy_of({{6, 9, 18}, 0});
  EXPECT_EQ(found.in_segments, 992'865);
  EXPECT_EQ(found.without, 999'820);
}

// Small jobs fill what segments leave: four in five jobs, which ask for a seventh of the nodes.
TEST(SegmentOccupancy, IsNearThatWithoutDomainsWhereSmallJobsFillTheRest) {
  const Occupancy found = occupancy_of({{4, 8, 16}, 80});
  EXPECT_EQ(found.in_segments, 1'000'000);
  EXPECT_EQ(found.without, 1'000'000);
}

// With fewer small jobs the rest is not filled.
TEST(SegmentOccupancy, IsLessWhereFewJobsAreSmall) {
  const Occupancy found = occupancy_of({{4, 8, 16}, 70});
  EXPECT_EQ(found.in_segments, 988'915);
  EXPECT_EQ(found.without, 1'000'000);
}

}  // namespace
}  // namespace berth::test::segment_occupancy_test
