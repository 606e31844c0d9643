#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/snapshot.hpp"
#include "tests/support/queues/lending.hpp"
#include "tests/support/random.hpp"

/// Clusters of few nodes, and jobs that differ in everything.
namespace berth::test {

inline constexpr TimeUs kDay = 86'400 * kSecond;

/// Few values each, so that many jobs are equal in what matters.
class OddClusters {
 public:
  explicit OddClusters(Random& random) : random_(random) {}

  Snapshot cluster() {
    Snapshot s;
    s.now_us = 1'000 * kSecond;
    for (const char* id : {"a", "b"}) {
      GpuType& type = s.gpu_types.emplace_back();
      type.id = id;
      type.memory_bytes = std::int64_t{80} << 30;
    }
    s.domains = {domain("p", "pod", ""), domain("r0", "rack", "p"), domain("r1", "rack", "p")};
    for (std::int32_t i = random_.of<std::int32_t>({0, 1, 1, 2, 3, 3, 4, 5, 6, 8}); i > 0; --i)
      s.nodes.push_back(node("n" + std::to_string(i)));
    for (const char* id : {"root", "q0", "q1"}) {
      Queue& queue = s.queues.emplace_back();
      queue.id = id;
      queue.parent = s.queues.size() == 1 ? "" : "root";
      if (random_.percent(60)) queue.quotas.push_back({"*", 0, random_.within(4, 60), kUnlimited});
      if (random_.percent(30)) queue.quotas.push_back({"a", 0, random_.within(2, 20), kUnlimited});
    }
    if (random_.percent(50)) lend_some(random_, s.queues, 8);
    return s;
  }
  std::vector<Job> jobs(std::int32_t n, bool several_shapes) {
    std::vector<Job> jobs;
    for (std::int32_t i = 0; i < n; ++i) jobs.push_back(job(several_shapes));
    return jobs;
  }

 private:
  static Domain domain(const std::string& id, const std::string& level, const std::string& parent) {
    Domain d;
    d.id = id;
    d.level = level;
    d.parent = parent;
    return d;
  }
  Node node(const std::string& id) {
    Node n;
    n.id = id;
    n.gpu_type = random_.percent(70) ? "a" : "b";
    n.gpus = random_.of<std::int32_t>({1, 4, 8, 8});
    n.domain[0] = random_.percent(50) ? "p/r0" : "p/r1";
    if (random_.percent(60)) n.cpu_milli = n.gpus * random_.within(300, 1'500);
    if (random_.percent(40)) n.memory_bytes = std::int64_t{n.gpus} * random_.within(2, 8);
    if (random_.percent(50)) n.labels = {{"zone", random_.percent(50) ? "x" : "y"}};
    return n;
  }
  Job job(bool several_shapes) {
    Job j;
    j.queue = random_.of<std::string>({"q0", "q1", "root"});
    j.priority = random_.of<std::int32_t>({INT32_MIN, -1, 0, 0, 1, INT32_MAX});
    j.estimate.run_us = random_.of<TimeUs>({100 * kSecond, 100 * kSecond, 1'000 * kSecond, 1'000 * kSecond, 9'000 * kSecond, kNever});
    if (random_.percent(20)) j.deadline = {random_.within(1'000, 40'000) * kSecond, random_.percent(50)};
    if (!j.deadline.hard && j.deadline.at_us != kNever && random_.percent(50)) {
      j.deadline.value = 5;
      j.deadline.later = {{j.deadline.at_us + random_.within(1, 5'000) * kSecond, 2}};
    }
    j.preemption.preemption_class = random_.below(3);
    j.preemption.preemptible = random_.percent(90);
    if (random_.percent(20)) j.preemption.minimum_run_us = random_.of<TimeUs>({kSecond, 500 * kSecond, kDay});
    if (random_.percent(10)) j.preemption.guaranteed_until_us = random_.within(1'000, 4'000) * kSecond;
    j.constraints.cpu_milli_per_gpu = random_.of<std::int64_t>({0, 0, 500, 1'000});
    j.constraints.memory_bytes_per_gpu = random_.of<std::int64_t>({0, 0, 2, 5});
    if (random_.percent(10)) j.constraints.labels = {{"zone", {random_.percent(50) ? "x" : "y"}}};
    if (random_.percent(10)) j.constraints.excluded_nodes = {"n1"};
    for (std::int32_t i = random_.percent(15) ? random_.within(1, 2) : 0; i > 0; --i) {
      const LevelRef level{TopologyKind::kSwitch, random_.of<std::string>({"node", "rack", "pod"})};
      j.constraints.longest_wait.emplace_back(level, random_.below(4'000) * kSecond);
    }
    for (std::int32_t i = several_shapes ? random_.within(1, 3) : 1; i > 0; --i) j.shapes.push_back(shape("s" + std::to_string(i)));
    return j;
  }
  Shape shape(const std::string& id) {
    Shape one;
    one.id = id;
    one.gpu_type = random_.of<std::string>({"a", "a", "b", ""});
    one.gpus = random_.of<std::int32_t>({1, 1, 2, 2, 3, 4, 4, 6, 8});
    if (random_.percent(40)) one.rate = random_.within(1, 3) * std::int64_t{1'000'000};
    if (random_.percent(70)) return one;
    Group group;
    group.name = "g";
    group.gpus_per_member = one.gpus % 4 == 0 ? random_.of<std::int32_t>({1, 2, 4}) : 1;
    group.members_min = group.members_want = group.members_max = one.gpus / group.gpus_per_member;
    const LevelRef rack{TopologyKind::kSwitch, "rack"}, of_node{TopologyKind::kSwitch, "node"};
    if (random_.percent(40)) group.require = random_.percent(50) ? rack : of_node;
    if (random_.percent(30)) group.segment = Segment{group.members_min % 2 == 0 ? 2 : 1, random_.percent(50) ? rack : of_node};
    if (random_.percent(30) && !group.segment) group.spread = Spread{random_.percent(50) ? rack : of_node, random_.within(1, 3)};
    one.groups = {group};
    return one;
  }

  Random& random_;
};

}  // namespace berth::test
