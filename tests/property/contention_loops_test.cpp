// `packing=contention` in loops on scarce uplinks: an engine that has decided before answers like a new one on the snapshot.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "host/sim/generate/generate.hpp"
#include "tests/property/live_loop.hpp"

namespace berth::contention_loops_test {
namespace {

using test::Loop;
using test::Random;

// All to all, by each GPU and step.
void exchange(Job& job, Random& random) {
  job.profile = {};
  job.profile.kind = ProfileKind::kClosedForm;
  job.profile.unit = "steps";
  job.profile.closed_form.step = {{"", 0, 300'000'000}};
  for (Shape& shape : job.shapes) {
    if (!shape.groups.empty() || shape.share_ppm != kWholeGpu) continue;
    Group group;
    group.name = "all";
    group.members_min = group.members_want = group.members_max = shape.gpus;
    group.communication = {{random.of<CommKind>({CommKind::kEp, CommKind::kDp}), "", std::int64_t{random.within(1, 4)} * 1'000'000'000}};
    shape.groups = {group};
  }
  for (AllocationEntry& entry : job.allocation.entries) {
    if (entry.group.empty()) entry.group = "all";
  }
}

// Two stages: below a root or not, in segments or spread over racks, each in a rack or not.
void make_tree(Job& job, Random& random) {
  for (Shape& shape : job.shapes) {
    if (shape.groups.empty() || shape.share_ppm != kWholeGpu) continue;
    shape.gpus = random.within(4, 14);
    const LevelRef rack{TopologyKind::kSwitch, "rack"}, pod{TopologyKind::kSwitch, "pod"};
    const bool with_root = random.percent(70);
    const std::int32_t stages = random.percent(80) ? 2 : 3;
    std::vector<Group> groups;
    if (with_root) {
      Group root;
      root.name = "job";
      root.members_min = root.members_want = root.members_max = 0;
      if (random.percent(30)) root.prefer = random.of<LevelRef>({rack, pod});
      if (random.percent(20)) root.require = pod;
      groups.push_back(root);
    }
    for (std::int32_t i = 0; i < stages; ++i) {
      Group stage;
      stage.name = "s" + std::to_string(i);
      stage.parent = with_root ? "job" : "";
      stage.members_min = stage.members_want = stage.members_max = shape.gpus / stages + (i < shape.gpus % stages ? 1 : 0);
      stage.communication = {{CommKind::kDp, "", std::int64_t{random.within(1, 4)} * 1'000'000'000}};
      if (i > 0) stage.communication.push_back({CommKind::kPp, "s" + std::to_string(i - 1), 100'000'000});
      if (random.percent(20)) stage.require = rack;
      if (random.percent(30) && stage.members_want % 2 == 0) stage.segment = Segment{2, rack};
      if (random.percent(20)) stage.spread = Spread{random.of<LevelRef>({rack, pod}), (stage.members_want + 1) / 2};
      groups.push_back(stage);
    }
    shape.groups = std::move(groups);
  }
}

class ContentionLoops : public ::testing::TestWithParam<bool> {};

// Of jobs that wait, trees have the groups of their shapes in place of one.
TEST_P(ContentionLoops, DecideLikeANewEngineOnTheSnapshot) {
  int waits = 0, given_up = 0, trees_wait = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    sim::GenerateOptions o;
    o.nodes = 24;
    o.jobs = 50;
    o.seed = seed;
    o.fabric = sim::Fabric::kTree;
    o.nodes_per_rack = 3;
    o.racks_per_pod = 2;
    o.oversubscription_ppm = {{"rack", 4'000'000}, {"pod", 2'000'000}};
    if (GetParam()) o.queues = 0, o.jobs = 30;  // neither limits nor a lack of GPUs should hold most of them
    Snapshot s = sim::generate(o);
    Random random(seed);
    for (Job& job : s.jobs) {
      if (random.percent(70)) exchange(job, random);
      if (GetParam() && job.state == JobState::kWaiting && random.percent(60)) make_tree(job, random);
    }
    Request request;
    request.policy = random.of<const char*>({"fifo", "srsf", "las", "priority"});
    request.params = {{"packing", "contention"}, {"discipline", random.of<const char*>({"greedy", "greedy", "easy"})}};
    std::vector<Job> newcomers = s.jobs;
    Loop loop(random, request, s, newcomers);
    TimeUs until = kNever;
    for (int step = 0; step < 40; ++step) {
      const std::string where = "seed " + std::to_string(seed) + ", step " + std::to_string(step);
      loop.decide(where);
      if (::testing::Test::HasFatalFailure()) return;
      if (const auto kept = loop.policy_state.columns.find("contention.waiting_since_us"); kept != loop.policy_state.columns.end()) {
        ++waits;
        for (const auto& [id, since] : kept->second) {
          trees_wait += loop.state.job(loop.state.find_job(id))->shapes[0].groups.size() > 1 ? 1 : 0;
        }
      }
      if (loop.random.percent(80)) commit(loop.state, loop.plan);
      // To the instant at which a gang stops waiting, now and then.
      until = loop.plan.order_until_us;
      if (until != kNever && until > loop.state.now() && loop.random.percent(30)) {
        loop.pass_time(until - loop.state.now());
        ++given_up;
      }
      loop.go_on();
    }
  }
  EXPECT_GT(waits, 40);
  EXPECT_GT(given_up, 20);
  EXPECT_GT(trees_wait, GetParam() ? 20 : -1);
}

INSTANTIATE_TEST_SUITE_P(Flat, ContentionLoops, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(Trees, ContentionLoops, ::testing::Values(true));

}  // namespace
}  // namespace berth::contention_loops_test
