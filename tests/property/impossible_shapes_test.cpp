// The choice of shapes leaves out all shapes with which a job alone would be rejected, and none with which it would start.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "host/core/choice/shape_problem_of.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/random.hpp"

namespace berth::impossible_shapes_test {
namespace {

Snapshot cluster(std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 9;
  o.nodes_per_rack = 3;
  o.gpus_per_node = 4;
  o.jobs = 40;
  o.seed = seed;
  o.elastic = true;
  o.workload = seed % 2 == 0 ? sim::Workload::kLlm : sim::Workload::kHelios;
  o.gpu_types = {{"V100-32GB", 1}, {"A100-80GB", 2}};
  Snapshot s = sim::generate(o);
  test::Random random(seed);
  for (Node& node : s.nodes) node.labels = {{"disk", random.percent(30) ? "ssd" : "hdd"}};
  s.queues.clear();
  for (const char* id : {"large", "small"}) {
    Queue queue;
    queue.id = id;
    s.queues.push_back(std::move(queue));
  }
  Quota of_type, of_all;
  of_type.gpu_type = "A100-80GB";
  of_type.limit = 3;
  of_all.gpu_type = "*";
  of_all.limit = 9;
  s.queues[1].quotas = {of_all, of_type};
  for (Job& job : s.jobs) {
    job.state = JobState::kWaiting;
    job.allocation = {};
    job.deadline = {};
    job.queue = random.percent(70) ? "large" : "small";
    if (random.percent(30)) job.constraints.gpu_memory_bytes = std::int64_t{random.of(std::vector{30, 60, 90})} << 30;
    if (random.percent(30)) job.constraints.labels = {{"disk", {"ssd"}}};
    if (random.percent(30)) job.constraints.memory_bytes_per_gpu = std::int64_t{1} << random.within(34, 40);
    for (Shape& shape : job.shapes) {
      if (!shape.groups.empty() || shape.share_ppm != kWholeGpu || !random.percent(20)) continue;
      Group group;
      group.name = "g";
      group.members_want = group.members_min = 1;
      group.gpus_per_member = shape.gpus;
      shape.groups = {group};
    }
  }
  return s;
}

// The action for the job alone on the empty cluster, with only this shape on this type.
Action fate(Snapshot s, const Job& job, const std::string& shape, const std::string& type) {
  s.jobs = {job};
  std::erase_if(s.jobs[0].shapes, [&](const Shape& one) { return one.id != shape; });
  s.jobs[0].shapes[0].gpu_type = type;
  Request request;
  request.policy = "fifo";
  return Engine().decide(ClusterState(std::move(s)), request).decisions.at(0).action;
}

}  // namespace

TEST(ImpossibleShapes, AreWhatTheChoiceLeavesOut) {
  int possible = 0, impossible = 0, unspread = 0, unknown = 0;
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    const Snapshot s = cluster(seed);
    const ClusterState state(s);
    core::ChosenPolicy chosen;
    chosen.choose("price", {});
    const core::ShapeProblem choice = core::shape_problem_of(state.impl(), chosen);
    std::set<std::pair<std::int32_t, std::int32_t>> in_choice;
    for (const core::ChoiceOption& one : choice.chosen().options) in_choice.insert({one.job, one.option});
    for (const std::int32_t job_index : state.impl().job_order) {
      const Job& job = *state.job(job_index);
      const JobRecord& record = state.impl().jobs[static_cast<std::size_t>(job_index)];
      std::map<std::pair<std::string, std::string>, bool> chosen_from;  // a shape with fewer members is another option
      for (std::size_t o = 0; o < record.options.size(); ++o) {
        const auto& demand = state.impl().demands.rows()[static_cast<std::size_t>(record.options[o].demand)];
        if (demand.gpus < 1) continue;  // prices do not apply to shares
        const std::string& shape = job.shapes[static_cast<std::size_t>(record.options[o].shape)].id;
        const std::string& type = state.impl().gpu_types[static_cast<std::size_t>(demand.gpu_type)].id;
        chosen_from[{shape, type}] |= in_choice.count({job_index, static_cast<std::int32_t>(o)}) == 1;
      }
      for (const auto& [shape, in] : chosen_from) {
        const Action alone = fate(s, job, shape.first, shape.second);
        if (alone == Action::kWait) {  // certificates cover neither spreads nor alternatives that fail together
          ++(in ? unknown : unspread);
          continue;
        }
        EXPECT_EQ(in, alone == Action::kStart) << "seed " << seed << ", job " << job.id << ", shape " << shape.first << " on "
                                               << shape.second;
        ++(in ? possible : impossible);
      }
    }
  }
  EXPECT_GT(possible, 500);
  EXPECT_GT(impossible, 300);
  EXPECT_GT(unspread, 0);
  EXPECT_LT(unknown, 10);
}

}  // namespace berth::impossible_shapes_test
