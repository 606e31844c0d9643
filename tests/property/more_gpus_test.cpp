// One more free GPU delays no job where every job requests one GPU. (With gangs it may, which is no fault of the engine.)
// Some jobs run before, and of two states in three the limit of their queue falls, or their GPUs and nodes are lost.

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/random.hpp"

namespace berth::more_gpus_test {
namespace {

Job one_gpu(const std::string& id, TimeUs submit, test::Random& random) {
  Job job;
  job.id = id;
  job.submit_us = submit;
  job.queue = random.percent(50) ? "q" : "";
  Shape shape;
  shape.id = "1";
  job.shapes = {shape};
  return job;
}

Snapshot drawn(test::Random& random) {
  Snapshot s;
  s.queues.emplace_back().id = "q";
  GpuType type;
  type.id = "a100";
  s.gpu_types = {type};
  for (std::int32_t n = 0; n < 6; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = "a100";
    node.gpus = random.below(5);
    if (random.percent(50)) node.labels = {{"disk", "fast"}};
    for (std::int32_t g = 0; g < node.gpus; ++g) {
      if (!random.percent(40)) continue;
      Job job = one_gpu("r" + std::to_string(n) + std::to_string(g), 0, random);
      job.state = JobState::kRunning;
      job.allocation.shape = "1";
      job.allocation.entries = {{"", 0, node.id, {g}, kWholeGpu, false}};
      s.jobs.push_back(job);
    }
    s.nodes.push_back(node);
  }
  for (std::int32_t j = 0; j < 20; ++j) {
    const TimeUs submit = random.below(10) * kSecond;
    s.jobs.push_back(one_gpu("j" + std::to_string(j), submit, random));
  }
  s.now_us = 10 * kSecond;
  return s;
}

std::set<std::string> after_plan(const Snapshot& snapshot) {
  const ClusterState state(snapshot);
  Engine engine;
  Request request;
  request.params = {{"packing", "count"}, {"discipline", "greedy"}};
  const Plan plan = engine.decide(state, request);
  std::set<std::string> ids;
  for (const Decision& d : plan.decisions) {
    if (runs_now(d.action)) ids.insert(state.job(d.job)->id);
  }
  return ids;
}

TEST(MoreGpus, DelayNoJobOfOneGpu) {
  test::Random random(11);
  std::int32_t helped = 0;
  for (std::int32_t round = 0; round < 60; ++round) {
    Snapshot s = drawn(random);
    const auto seed = static_cast<std::uint64_t>(round);
    const std::set<std::string> before = after_plan(test::some_overtaken(s, seed));
    ++s.nodes[static_cast<std::size_t>(random.below(6))].gpus;
    const std::set<std::string> after = after_plan(test::some_overtaken(s, seed));  // the same losses
    for (const std::string& id : before) EXPECT_EQ(after.count(id), 1U) << "round " << round << ": " << id;
    helped += after.size() > before.size() ? 1 : 0;
  }
  EXPECT_GT(helped, 20) << "otherwise nothing was tried";
}

}  // namespace
}  // namespace berth::more_gpus_test
