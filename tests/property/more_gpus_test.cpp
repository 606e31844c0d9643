// One more free GPU delays no job where every job requests one GPU. (With gangs it may, which is no fault of the engine.)

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/support/random.hpp"

namespace berth {
namespace {

Snapshot drawn(test::Random& random) {
  Snapshot s;
  GpuType type;
  type.id = "a100";
  s.gpu_types = {type};
  for (std::int32_t n = 0; n < 6; ++n) {
    Node node;
    node.id = "n" + std::to_string(n);
    node.gpu_type = "a100";
    node.gpus = random.below(5);
    if (random.percent(50)) node.labels = {{"disk", "fast"}};
    s.nodes.push_back(node);
  }
  for (std::int32_t j = 0; j < 20; ++j) {
    Job job;
    job.id = "j" + std::to_string(j);
    job.submit_us = random.below(10) * kSecond;
    Shape shape;
    shape.id = "1";
    job.shapes = {shape};
    s.jobs.push_back(job);
  }
  s.now_us = 10 * kSecond;
  return s;
}

std::set<std::string> started(const Snapshot& snapshot) {
  const ClusterState state(snapshot);
  Engine engine;
  Request request;
  request.params = {{"packing", "count"}, {"discipline", "greedy"}};
  const Plan plan = engine.decide(state, request);
  std::set<std::string> ids;
  for (const Decision& d : plan.decisions) {
    if (d.action == Action::kStart) ids.insert(state.job(d.job)->id);
  }
  return ids;
}

TEST(MoreGpus, DelayNoJobOfOneGpu) {
  test::Random random(11);
  std::int32_t helped = 0;
  for (std::int32_t round = 0; round < 60; ++round) {
    Snapshot s = drawn(random);
    const std::set<std::string> before = started(s);
    ++s.nodes[static_cast<std::size_t>(random.below(6))].gpus;
    const std::set<std::string> after = started(s);
    for (const std::string& id : before) EXPECT_EQ(after.count(id), 1U) << "round " << round << ": " << id;
    helped += after.size() > before.size() ? 1 : 0;
  }
  EXPECT_GT(helped, 20) << "otherwise nothing was tried";
}

}  // namespace
}  // namespace berth
