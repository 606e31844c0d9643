// Trees of groups on a partly used fat tree: over how many pods the members of a communication group spread. The measure is that of
// Arnold (arXiv 2509.15940), whose cases are not published; these are ours. docs/contention.md, "Placement of groups".
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/state.hpp"
#include "tests/support/random.hpp"

namespace berth::test::group_spread_test {
namespace {

/// Pods that groups span: the most of one group, and the sum over all groups.
struct Spreads {
  std::int32_t dp_max = 0, pp_max = 0;
  std::int32_t dp_sum = 0, pp_sum = 0;
  bool operator==(const Spreads&) const = default;
};

void PrintTo(const Spreads& s, std::ostream* out) {
  *out << fmt::format("dp {} sum {}, pp {} sum {}", s.dp_max, s.dp_sum, s.pp_max, s.pp_sum);
}

struct SpreadCase {
  std::string name;
  std::int32_t pods, leaves, nodes;  // leaves of a pod, nodes of a leaf
  std::int32_t used_percent;
  std::int32_t replicas, stages;  // nodes of the job: their product
  Spreads by_stage, by_replica;   // trees that prefer pods
  Spreads first_fit, first_fit_by_replica, best_fit, random;
};

void PrintTo(const SpreadCase& c, std::ostream* out) { *out << c.name; }

std::string id_of(std::int32_t pod, std::int32_t leaf, std::int32_t node) { return fmt::format("n{:02}.{:02}.{:02}", pod, leaf, node); }

class GroupSpread : public ::testing::TestWithParam<SpreadCase> {
 protected:
  GroupSpread() {
    const SpreadCase& c = GetParam();
    Random random(7);
    GpuType type;
    type.id = "h100";
    snapshot_.gpu_types = {type};
    Job other;
    other.id = "others";
    other.state = JobState::kRunning;
    other.shapes.resize(1);
    other.shapes[0].id = "s";
    other.shapes[0].gpus = 0;
    other.allocation.shape = "s";
    for (std::int32_t p = 0; p < c.pods; ++p) {
      add_domain(fmt::format("p{:02}", p), "pod", "");
      // Some pods are fuller than others.
      const std::int32_t used = c.used_percent + random.within(-20, 20);
      for (std::int32_t l = 0; l < c.leaves; ++l) {
        add_domain(fmt::format("l{:02}", l), "leaf", fmt::format("p{:02}", p));
        for (std::int32_t n = 0; n < c.nodes; ++n) {
          Node node;
          node.id = id_of(p, l, n);
          node.gpu_type = "h100";
          node.gpus = 8;
          node.domain[0] = fmt::format("p{:02}/l{:02}", p, l);
          snapshot_.nodes.push_back(node);
          if (random.percent(used)) {
            other.allocation.entries.push_back({"", other.shapes[0].gpus, node.id, {0, 1, 2, 3, 4, 5, 6, 7}, kWholeGpu, false});
            other.shapes[0].gpus += 8;
          } else {
            free_.emplace_back(p, static_cast<std::int32_t>(snapshot_.nodes.size()) - 1);
          }
        }
      }
    }
    snapshot_.jobs = {other};
  }

  void add_domain(const std::string& id, const std::string& level, const std::string& parent) {
    Domain domain;
    domain.id = id;
    domain.level = level;
    domain.parent = parent;
    snapshot_.domains.push_back(domain);
  }

  static Group group(const std::string& name, const std::string& parent, std::int32_t members) {
    Group one;
    one.name = name;
    one.parent = parent;
    one.gpus_per_member = members == 0 ? 1 : 8;
    one.members_min = one.members_want = one.members_max = members;
    return one;
  }

  // A group for each stage, or for each replica. `levels`: groups and the job prefer a pod.
  Job tree(bool by_stage, bool levels) const {
    const SpreadCase& c = GetParam();
    Job job;
    job.id = "job";
    job.shapes.resize(1);
    job.shapes[0].id = "s";
    job.shapes[0].gpus = 8 * c.replicas * c.stages;
    Group root = group("job", "", 0);
    if (levels) root.prefer = LevelRef{TopologyKind::kSwitch, "pod"};
    job.shapes[0].groups = {root};
    for (std::int32_t g = 0; g < (by_stage ? c.stages : c.replicas); ++g) {
      Group one = group(fmt::format("g{}", g), "job", by_stage ? c.replicas : c.stages);
      if (levels) one.prefer = LevelRef{TopologyKind::kSwitch, "pod"};
      job.shapes[0].groups.push_back(one);
    }
    return job;
  }

  // Pods of the members, [groups][members].
  std::vector<std::vector<std::int32_t>> placed(const Job& job, const std::string& packing) {
    Snapshot s = snapshot_;
    s.jobs.push_back(job);
    const ClusterState state(s);
    Engine engine;
    Request request;
    request.policy = "fifo";
    request.params = {{"packing", packing}};
    const Plan plan = engine.decide(state, request);
    std::vector<std::vector<std::int32_t>> pods(job.shapes[0].groups.size() - 1);
    for (const Decision& d : plan.decisions) {
      if (d.job != state.find_job("job")) continue;
      EXPECT_EQ(d.action, Action::kStart);
      for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e) {
        const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
        EXPECT_EQ(entry.members, 1);
        // Nodes are ranked by path and id, which is their order in the snapshot.
        pods[static_cast<std::size_t>(entry.group - 1)].push_back(entry.node / (GetParam().leaves * GetParam().nodes));
      }
    }
    return pods;
  }

  // The free nodes in this order, stage after stage.
  std::vector<std::vector<std::int32_t>> by_order(const std::vector<std::pair<std::int32_t, std::int32_t>>& nodes) const {
    std::vector<std::vector<std::int32_t>> pods(static_cast<std::size_t>(GetParam().stages));
    for (std::int32_t i = 0; i < GetParam().replicas * GetParam().stages; ++i)
      pods[static_cast<std::size_t>(i / GetParam().replicas)].push_back(nodes.at(static_cast<std::size_t>(i)).first);
    return pods;
  }

  std::vector<std::vector<std::int32_t>> best_fit() const {
    std::vector<std::int32_t> free(static_cast<std::size_t>(GetParam().pods), 0);
    for (const auto& [pod, node] : free_) ++free[static_cast<std::size_t>(pod)];
    auto nodes = free_;
    std::stable_sort(nodes.begin(), nodes.end(), [&](const auto& a, const auto& b) {
      return free[static_cast<std::size_t>(a.first)] < free[static_cast<std::size_t>(b.first)];
    });
    return by_order(nodes);
  }

  static std::int32_t count(const std::vector<std::int32_t>& pods) {
    return static_cast<std::int32_t>(std::set<std::int32_t>(pods.begin(), pods.end()).size());
  }

  static Spreads spreads(const std::vector<std::vector<std::int32_t>>& groups, bool by_stage) {
    Spreads s;
    for (const auto& one : groups) {
      (by_stage ? s.dp_max : s.pp_max) = std::max(by_stage ? s.dp_max : s.pp_max, count(one));
      (by_stage ? s.dp_sum : s.pp_sum) += count(one);
    }
    for (std::size_t m = 0; m < groups[0].size(); ++m) {
      std::vector<std::int32_t> across;
      for (const auto& one : groups) across.push_back(one.at(m));
      (by_stage ? s.pp_max : s.dp_max) = std::max(by_stage ? s.pp_max : s.dp_max, count(across));
      (by_stage ? s.pp_sum : s.dp_sum) += count(across);
    }
    return s;
  }

  Snapshot snapshot_;
  std::vector<std::pair<std::int32_t, std::int32_t>> free_;  // pod and index of free nodes
};

// As docs/contention.md has them. `best_fit` and `random` are placements that this test makes: pods with least free nodes first, and
// any free nodes.
TEST_P(GroupSpread, OfGroupsIsLessThanWithoutLevels) {
  const SpreadCase& c = GetParam();
  const Spreads by_stage = spreads(placed(tree(true, true), "topology"), true);
  const Spreads by_replica = spreads(placed(tree(false, true), "topology"), false);
  const Spreads first_fit = spreads(placed(tree(true, false), "count"), true);
  const Spreads first_fit_by_replica = spreads(placed(tree(false, false), "count"), false);
  auto nodes = free_;
  Random random(3);
  random.shuffle(nodes);
  EXPECT_EQ(by_stage, c.by_stage);
  EXPECT_EQ(by_replica, c.by_replica);
  EXPECT_EQ(first_fit, c.first_fit);
  EXPECT_EQ(first_fit_by_replica, c.first_fit_by_replica);
  EXPECT_EQ(spreads(best_fit(), true), c.best_fit);
  EXPECT_EQ(spreads(by_order(nodes), true), c.random);
  // The groups of the tree spread over no more pods than without levels.
  EXPECT_LE(by_stage.dp_max, std::min(first_fit.dp_max, c.best_fit.dp_max));
  EXPECT_LE(by_replica.pp_max, first_fit_by_replica.pp_max);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, GroupSpread,
    ::testing::Values(
        SpreadCase{"Small", 4, 2, 8, 40, 8, 4, {1, 4, 4, 32}, {4, 1, 16, 8}, {2, 4, 7, 25}, {4, 2, 13, 10}, {2, 4, 6, 27}, {4, 4, 14, 24}},
        SpreadCase{
            "Medium", 8, 4, 8, 40, 16, 8, {1, 8, 8, 128}, {8, 1, 64, 16}, {2, 7, 14, 106}, {7, 2, 56, 22}, {2, 7, 13, 110}, {8, 7, 57, 85}},
        SpreadCase{"Large",
                   16,
                   8,
                   16,
                   30,
                   64,
                   18,
                   {2, 16, 20, 1024},
                   {15, 1, 270, 64},
                   {2, 14, 31, 836},
                   {14, 2, 238, 77},
                   {2, 14, 30, 874},
                   {16, 14, 280, 704}},
        SpreadCase{"SmallPods",
                   24,
                   4,
                   4,
                   50,
                   32,
                   4,
                   {5, 4, 16, 128},
                   {22, 1, 88, 32},
                   {7, 4, 21, 128},
                   {18, 2, 71, 47},
                   {7, 4, 23, 128},
                   {20, 4, 71, 120}}),
    [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace berth::test::group_spread_test
