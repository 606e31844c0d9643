// A scenario equals the engine's decision on a state in which it is true, on every backend and with any batch.
// Taken GPUs are being released forever; jobs left out are gone or cannot be displaced; an order is given by priorities or deadlines.

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/placement.hpp"
#include "host/core/engine/what_if.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/sim/generate/generate.hpp"
#include "tests/support/overtaken.hpp"
#include "tests/support/params.hpp"
#include "tests/support/random.hpp"

namespace berth::what_if_test {
namespace {

struct Seen {
  std::map<Action, std::int64_t> actions;
  std::int64_t taken = 0, ordered = 0;
};

/// A used cluster; in every second one some nodes have just failed under their jobs.
Snapshot drawn(test::Random& random, std::uint64_t seed) {
  sim::GenerateOptions o;
  o.nodes = 20;
  o.jobs = 40;
  o.workload = static_cast<sim::Workload>(seed % 4);
  o.seed = seed;
  o.nodes_per_rack = 4;
  o.racks_per_pod = 2;
  o.spare_ppm = 100'000;
  o.elastic = seed % 3 == 0;
  ClusterState state(test::some_overtaken(sim::generate(o), seed));
  for (std::int32_t i = 0; i < 2 && seed % 2 == 0; ++i) {
    state.apply(delta::SetNodeState{state.node(random.below(state.node_count())).id, NodeState::kFailed, 0});
  }
  Snapshot drawn = state.snapshot();
  for (Job& job : drawn.jobs) job.deadline.hard = job.deadline.hard && seed % 3 != 1;
  return drawn;
}

/// Jobs with GPUs of failed nodes are not left out: no state can express that such a job must not be placed again.
std::vector<std::string> may_be_left_out(const ClusterState& state) {
  std::vector<std::string> ids;
  for (std::int32_t job = 0; job < state.job_index_end(); ++job) {
    if (!state.impl().lost_gpus(job)) ids.push_back(state.job(job)->id);
  }
  return ids;
}

/// A scenario, and the equivalent request for the engine.
struct Twin {
  Scenario scenario;
  Snapshot snapshot;
  Request request;
};

/// Not those that read the cluster: in the equivalent state the GPUs taken are out of service.
std::vector<std::string> comparable_policies() {
  std::vector<std::string> names = test::queue_policy_names();
  std::erase_if(names, [](const std::string& name) { return core::find_policy(name).make({})->reads_cluster(); });
  return names;
}

Twin twin(test::Random& random, const ClusterState& state, const Snapshot& given) {
  Twin t;
  t.snapshot = given;
  Scenario& a = t.scenario;
  static const std::vector<std::string> kDisciplines{"strict", "greedy", "easy", "conservative"},
      kPackings{"topology", "count", "consolidate", "emptiest"}, kPolicies = comparable_policies();
  const std::string discipline = random.of(kDisciplines);
  if (random.percent(50)) a.params.emplace_back("packing", random.of(kPackings));
  if (random.percent(20)) a.params.emplace_back("max_tries", "2");
  if (random.percent(50)) a.params.emplace_back("shape", random.of<const char*>({"requested", "least_gpu_time", "largest"}));
  for (std::int32_t i = random.percent(70) ? random.below(8) : 0; i > 0; --i) {
    TakenGpus taken{state.node(random.below(state.node_count())).id};
    if (random.percent(50)) taken.gpus = random.mask(8, 50);
    a.taken.push_back(taken);
  }
  std::vector<std::string> others = may_be_left_out(state);
  random.shuffle(others);
  others.resize(random.percent(50) ? others.size() / 4 : 0);
  std::set<std::string> out(others.begin(), others.end());

  // The engine receives an order as deadlines, so the jobs then have none of their own.
  const bool due = std::any_of(given.jobs.begin(), given.jobs.end(), [](const Job& job) { return job.deadline.hard; });
  if (random.percent(60) || due) {
    a.policy = random.of(kPolicies);
    if (random.percent(50)) a.params.emplace_back("discipline", discipline);
    a.leave_out = others;
    t.request.policy = a.policy;
  } else {
    // Every job has a position in the order; jobs left out have one only for the engine.
    a.params.emplace_back("discipline", discipline);
    a.params.emplace_back("quotas", "limits");  // an order that is stated is meant
    a.preemptive = random.percent(60);
    t.request.policy = *a.preemptive ? "priority" : "edf";
    random.shuffle(t.snapshot.jobs);
    auto place = static_cast<std::int32_t>(t.snapshot.jobs.size());
    for (Job& job : t.snapshot.jobs) {
      if (out.count(job.id) == 0) a.order.push_back(job.id);
      job.deadline = {};
      job.deadline.at_us = t.snapshot.now_us + static_cast<TimeUs>(t.snapshot.jobs.size()) - place;
      job.priority = job.preemption.preemption_class = place--;  // every later job is of a smaller class
    }
  }
  t.request.params = a.params;
  std::erase_if(t.snapshot.jobs, [&](const Job& job) { return job.state == JobState::kWaiting && out.count(job.id) != 0; });
  for (Job& job : t.snapshot.jobs) job.preemption.preemptible = job.preemption.preemptible && out.count(job.id) == 0;
  return t;
}

/// What is free on a node, or spare; the scenario takes at most that.
std::uint64_t takes(const ClusterState& state, const TakenGpus& taken) {
  const auto n = static_cast<std::size_t>(state.find_node(taken.node));
  return taken.gpus & (state.impl().node.free[n] | state.impl().node.spare[n]);
}

void expect_same(const ClusterState& state, const Twin& t, const ScenarioOutcome& got, Seen& seen) {
  ClusterState other(t.snapshot);
  std::map<std::string, std::uint64_t> taken;
  for (const TakenGpus& one : t.scenario.taken) taken[one.node] |= takes(state, one);
  std::int64_t gone = 0;
  for (const auto& one : taken) {
    gone += std::popcount(one.second);
    for (std::int32_t g = 0; g < kMaxGpusPerNode; ++g) {
      if ((one.second >> g & 1) != 0) other.apply(delta::SetGpuState{one.first, g, GpuState::kReleasing, kNever});
    }
  }
  const Plan want = Engine().decide(other, t.request);

  ASSERT_EQ(got.job.size(), static_cast<std::size_t>(state.job_count()));
  std::size_t matched = 0;
  for (std::size_t i = 0; i < got.job.size(); ++i) {
    const std::string& id = state.job(got.job[i])->id;
    const auto entries = got.entries_of(i);
    ++seen.actions[got.action[i]];
    const std::int32_t job = other.find_job(id);
    if (job < 0) {
      EXPECT_TRUE(got.action[i] == Action::kWait || got.action[i] == Action::kReject) << id;
      EXPECT_EQ(got.shape[i], -1) << id;
      EXPECT_TRUE(entries.empty()) << id;
      continue;
    }
    ++matched;
    const Decision& d = want.decisions.at(static_cast<std::size_t>(other.job_rank(job)));
    EXPECT_EQ(got.action[i], d.action) << id;
    EXPECT_EQ(got.shape[i], d.shape) << id;
    const std::vector<PlanEntry> theirs(want.entries.begin() + d.entry_begin, want.entries.begin() + d.entry_end);
    EXPECT_EQ(std::vector<PlanEntry>(entries.begin(), entries.end()), theirs) << id;
    if (d.action == Action::kReserve) {
      EXPECT_EQ(got.reserve_at_us[i], d.start_us) << id;
    }
  }
  EXPECT_EQ(matched, want.decisions.size());
  Totals totals = want.totals;
  totals.gpus += gone;  // they are healthy, and jobs hold them
  totals.waits = got.totals.waits;
  totals.rejects = got.totals.rejects;  // includes those left out
  EXPECT_EQ(got.totals, totals);
  seen.taken += gone;
  seen.ordered += t.scenario.order.empty() ? 0 : 1;
}

TEST(WhatIf, IsWhatTheEngineDecides) {
  Seen seen;
  Placement placement(Backend::kCpu, 1);  // one for all states
  for (std::uint64_t seed = 1; seed <= 24 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Random random(seed);
    const Snapshot snapshot = drawn(random, seed);
    const ClusterState state(snapshot);
    std::vector<Twin> twins;
    std::vector<Scenario> scenarios;
    for (std::int32_t i = 0; i < 16; ++i) {
      twins.push_back(twin(random, state, snapshot));
      scenarios.push_back(twins.back().scenario);
      // The next one has the same order, with other GPUs taken.
      if (i % 4 == 3 && !twins[twins.size() - 2].scenario.order.empty()) {
        twins.back() = twins[twins.size() - 2];
        twins.back().scenario.taken = scenarios.back().taken;
        scenarios.back() = twins.back().scenario;
      }
    }

    const std::vector<ScenarioOutcome> outcomes = placement.place(state, scenarios);

    for (std::size_t i = 0; i < twins.size(); ++i) {
      SCOPED_TRACE(testing::Message() << "scenario " << i << ", " << scenarios[i].policy
                                      << (scenarios[i].order.empty() ? "" : ", ordered"));
      expect_same(state, twins[i], outcomes[i], seen);
    }
    EXPECT_EQ(Placement(Backend::kReference).place(state, scenarios), outcomes);
    EXPECT_EQ(Placement(Backend::kCpu, 2).place(state, scenarios), outcomes);
    core::WhatIf one_by_one;
    one_by_one.batch_bytes = 1;
    core::Backends backends;
    std::string note;
    std::vector<ScenarioOutcome> again;
    one_by_one.place(state.impl(), scenarios, backends, Backend::kCpu, 1, note, again);
    EXPECT_EQ(again, outcomes) << "in batches of one";
  }
  for (const Action action : {Action::kStart, Action::kKeep, Action::kMigrate, Action::kPreempt, Action::kWait, Action::kReject,
                              Action::kReplace, Action::kReserve}) {
    EXPECT_GT(seen.actions[action], 0) << "action " << static_cast<int>(action) << " was never seen";
  }
  EXPECT_GT(seen.taken, 100);
  EXPECT_GT(seen.ordered, 20);
}

TEST(ScoreCandidates, AreTheSameOnEveryBackend) {
  std::size_t rows = 0;
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    test::Random random(seed);
    const ClusterState state(drawn(random, seed));
    const core::Topologies& topologies = state.impl().topologies;
    ScoreRequest request;
    request.level.level = topologies.level_name(0, random.below(topologies.levels(0)));
    request.leftover_weight = random.within(-2, 1'000);
    request.k = random.within(1, kMostCandidates);
    for (std::int32_t i = 0; i < 3; ++i) request.taken.push_back({state.node(random.below(state.node_count())).id});
    if (request.level.level == "node") request.domain_cost = {{state.node(0).id, 1'000'000}, {state.node(1).id, -5}};

    const Candidates want = Placement(Backend::kReference).score(state, request);

    rows += want.rows.size();
    for (const int threads : {1, 2}) {
      const Candidates got = Placement(Backend::kCpu, threads).score(state, request);
      EXPECT_EQ(got.job, want.job);
      EXPECT_EQ(got.begin, want.begin);
      EXPECT_EQ(got.rows, want.rows);
    }
    for (const Candidate& c : want.rows) {
      EXPECT_EQ(c.score, c.gpu_time_ms + request.leftover_weight * c.leftover + c.domain_cost);
    }
  }
  EXPECT_GT(rows, 500U);
}

}  // namespace
}  // namespace berth::what_if_test
