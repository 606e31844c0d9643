// Two queues with guarantees on two nodes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"

namespace berth::test {

class QuotaOrderTest : public ::testing::Test {
 protected:
  // Two nodes of 8 GPUs; queues a and b with a guarantee of 8 each.
  QuotaOrderTest() {
    s_.now_us = 1000 * kSecond;
    s_.gpu_types.resize(1);
    s_.gpu_types[0].id = "H";
    add_node();
    add_node();
    s_.queues = {queue_of("a", 8), queue_of("b", 8)};
    request_.policy = "fifo";
    request_.params = {{"discipline", "greedy"}};
  }

  void add_node() {
    Node node;
    node.id = "n" + std::to_string(s_.nodes.size());
    node.gpu_type = "H";
    node.gpus = 8;
    s_.nodes.push_back(node);
  }

  // Two nodes more, and racks for the four.
  void add_racks() {
    add_node();
    add_node();
    for (const char* rack : {"r0", "r1"}) {
      Domain domain;
      domain.id = rack;
      domain.level = "rack";
      s_.domains.push_back(domain);
    }
  }

  static Queue queue_of(const std::string& id, std::int64_t guarantee, const std::string& parent = "") {
    Queue queue;
    queue.id = id;
    queue.parent = parent;
    queue.quotas = {{"*", guarantee, kUnlimited, kUnlimited}};
    return queue;
  }

  static Group group_of(std::int32_t members, std::int32_t gpus) {
    Group group;
    group.name = "g";
    group.members_min = group.members_want = group.members_max = members;
    group.gpus_per_member = gpus;
    return group;
  }

  Job& waits(const std::string& id, const std::string& queue, std::int32_t gpus) {
    Job job;
    job.id = id;
    job.queue = queue;
    job.submit_us = static_cast<TimeUs>(s_.jobs.size()) * kSecond;
    job.estimate.run_us = 3600 * kSecond;
    Shape shape;
    shape.id = "s";
    shape.gpus = gpus;
    job.shapes = {shape};
    s_.jobs.push_back(job);
    return s_.jobs.back();
  }

  Job& runs(const std::string& id, const std::string& queue, std::int32_t node, std::int32_t from, std::int32_t gpus) {
    Job& job = waits(id, queue, gpus);
    job.state = JobState::kRunning;
    job.allocation.shape = "s";
    job.allocation.entries = {{"", 0, "n" + std::to_string(node), {}, kWholeGpu, false}};
    for (std::int32_t g = from; g < from + gpus; ++g) job.allocation.entries[0].gpus.push_back(g);
    return job;
  }

  Plan decide() {
    state_ = ClusterState(s_);
    return Engine().decide(state_, request_);
  }

  // Ids of the jobs with an action, in the order of jobs.
  std::string with(const Plan& plan, Action action) const {
    std::string ids;
    for (const Decision& d : plan.decisions) {
      if (d.action == action) ids += (ids.empty() ? "" : " ") + state_.job(d.job)->id;
    }
    return ids;
  }
  std::string displaced() { return with(decide(), Action::kPreempt); }

  Snapshot s_;
  ClusterState state_;
  Request request_;
};

}  // namespace berth::test
