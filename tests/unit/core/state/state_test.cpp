// ClusterState by hand: ranks and job indices, each change and its effect in the snapshot. A rejected batch leaves no
// trace.

#include "berth/state.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/core/state/state_view.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::state_test {
namespace {

using test::add_job;
using test::run_on;

/// n0..n3 in two racks at 100 s; `a` runs on n0 GPUs 0-3, `b` and `c` wait; queue q, reservation res on n3.
Snapshot small() {
  Snapshot s = test::two_racks();
  Queue queue;
  queue.id = "q";
  s.queues = {queue};
  Reservation reservation;
  reservation.id = "res";
  reservation.nodes = {"n3"};
  reservation.from_us = 1'000 * kSecond;
  s.reservations = {reservation};
  Job& a = run_on(add_job(s, "a", 4), "n0", {0, 1, 2, 3});
  a.progress.run_us = 10 * kSecond;
  a.progress.attained_gpu_us = 40 * kSecond;
  add_job(s, "b", 8);
  add_job(s, "c", 1);
  return s;
}

Job waiting(const std::string& id, std::int32_t gpus) {
  Snapshot s;
  return add_job(s, id, gpus);
}

Allocation on(const std::string& node, std::vector<std::int32_t> gpus) { return {"s", {{"", 0, node, std::move(gpus), kWholeGpu, false}}}; }

const Job& job_named(const Snapshot& s, const std::string& id) {
  return *std::find_if(s.jobs.begin(), s.jobs.end(), [&](const Job& j) { return j.id == id; });
}
const Node& node_named(const Snapshot& s, const std::string& id) {
  return *std::find_if(s.nodes.begin(), s.nodes.end(), [&](const Node& n) { return n.id == id; });
}

/// The pointer of the rejection, empty when the delta was accepted.
std::string refused_at(ClusterState& state, const Delta& delta) {
  try {
    state.apply(delta);
  } catch (const InputError& error) {
    EXPECT_EQ(error.file(), "deltas");
    return error.pointer();
  }
  return "";
}

TEST(ClusterState, RanksNodesByDomainPathAndIdWhateverTheOrderOfRows) {
  Snapshot s = test::two_racks();
  s.nodes = {test::node_of("z", "p/r0"), test::node_of("b", "p/r1"), test::node_of("a", "p/r1"), test::node_of("y", "p/r0")};

  const ClusterState state(s);

  EXPECT_EQ(state.node(0).id, "y");
  EXPECT_EQ(state.node(1).id, "z");
  EXPECT_EQ(state.node(2).id, "a");
  EXPECT_EQ(state.node(3).id, "b");
  EXPECT_EQ(state.find_node("a"), 2);
  EXPECT_EQ(state.find_node("c"), -1);
}

TEST(ClusterState, RanksJobsBySubmitAndId) {
  Snapshot s = test::two_racks();
  add_job(s, "late", 1).submit_us = 5;
  add_job(s, "twin2", 1).submit_us = 3;
  add_job(s, "twin1", 1).submit_us = 3;
  add_job(s, "first", 1).submit_us = 1;

  ClusterState state(s);
  Job between = waiting("between", 1);
  between.submit_us = 2;
  state.apply(delta::PutJob{between});

  const char* const expected[] = {"first", "between", "twin1", "twin2", "late"};
  for (std::int32_t rank = 0; rank < 5; ++rank) EXPECT_EQ(state.job_rank(state.find_job(expected[rank])), rank);
}

TEST(ClusterState, KeepsIndicesWhileJobsLiveAndReusesFreeOnes) {
  ClusterState state(small());
  const std::int32_t a = state.find_job("a");
  const std::int32_t b = state.find_job("b");

  state.apply(delta::RemoveJob{"b", ""});
  EXPECT_EQ(state.job(b), nullptr);
  EXPECT_EQ(state.find_job("b"), -1);
  state.apply(delta::PutJob{waiting("d", 1)});

  EXPECT_EQ(state.find_job("a"), a);
  EXPECT_EQ(state.find_job("d"), b);
  EXPECT_EQ(state.job_count(), 3);
  EXPECT_EQ(state.job_index_end(), 3);
}

TEST(ClusterState, RemovedJobEntersTheHistoryWithItsProgress) {
  ClusterState state(small());

  state.apply(std::vector<Delta>{delta::SetTime{130 * kSecond}, delta::RemoveJob{"a", "completed"}, delta::RemoveJob{"b", ""}});

  const Snapshot after = state.snapshot();
  ASSERT_EQ(after.history.size(), 1U);
  EXPECT_EQ(after.history[0], (FinishedJob{"a", "", "", 4, 0, 40 * kSecond, "completed"}));
  EXPECT_EQ(after.jobs.size(), 1U);
}

TEST(ClusterState, RunningJobsProgressAtTheirRate) {
  Snapshot s = small();
  Job& a = s.jobs[0];
  a.profile.kind = ProfileKind::kTable;
  a.profile.points = {{"", 4, 0, "", 2'500'000}};
  a.progress.work_total = 1'000 * 1'000'000LL;
  a.progress.work_done = 100 * 1'000'000LL;
  ClusterState state(s);

  state.apply(delta::SetTime{120 * kSecond});

  const Progress p = job_named(state.snapshot(), "a").progress;
  EXPECT_EQ(p.run_us, 30 * kSecond);
  EXPECT_EQ(p.attained_gpu_us, (40 + 80) * kSecond);
  EXPECT_EQ(p.work_done, 150 * 1'000'000LL);
  EXPECT_EQ(job_named(state.snapshot(), "b").progress, Progress{});
}

TEST(ClusterState, StopKeepsProgressAndCountsARestart) {
  ClusterState state(small());

  state.apply(std::vector<Delta>{delta::SetTime{110 * kSecond}, delta::StopJob{"a"}, delta::SetTime{150 * kSecond}});

  const Snapshot after = state.snapshot();
  const Job& a = job_named(after, "a");
  EXPECT_EQ(a.state, JobState::kWaiting);
  EXPECT_TRUE(a.allocation.entries.empty());
  EXPECT_EQ(a.progress.run_us, 20 * kSecond);
  EXPECT_EQ(a.progress.restarts, 1);
  EXPECT_EQ(a.waiting_since_us, 110 * kSecond);
}

TEST(ClusterState, StartHoldsTheGpus) {
  ClusterState state(small());

  state.apply(delta::StartJob{"c", on("n0", {4})});

  const Snapshot after = state.snapshot();
  EXPECT_EQ(job_named(after, "c").state, JobState::kRunning);
  EXPECT_EQ(job_named(after, "c").allocation, on("n0", {4}));
  EXPECT_EQ(job_named(after, "c").last_assignment_us, 100 * kSecond);
  EXPECT_EQ(refused_at(state, delta::StartJob{"b", on("n0", {0, 1, 2, 3, 4, 5, 6, 7})}), "/0/allocation/entries/0/gpus");
}

TEST(ClusterState, ChangesOfNodesQueuesAndReservationsShow) {
  ClusterState state(small());
  Queue queue;
  queue.id = "q2";
  queue.parent = "q";
  Reservation reservation;
  reservation.id = "r2";
  reservation.nodes = {"n2"};
  Progress progress;
  progress.run_us = 7;

  state.apply(std::vector<Delta>{
      delta::PutNode{test::node_of("n9", "p/r1")}, delta::RemoveNode{"n2"}, delta::SetNodeState{"n1", NodeState::kDrain, 5},
      delta::SetGpuState{"n0", 1, GpuState::kReleasing, 200 * kSecond}, delta::PutQueue{queue}, delta::RemoveReservation{"res"},
      delta::PutNode{test::node_of("n2", "p/r0")}, delta::PutReservation{reservation}, delta::SetProgress{"b", progress}});

  const Snapshot after = state.snapshot();
  EXPECT_EQ(after.nodes.size(), 5U);
  EXPECT_EQ(node_named(after, "n2").domain[0], "p/r0");
  EXPECT_EQ(node_named(after, "n1").state, NodeState::kDrain);
  EXPECT_EQ(node_named(after, "n1").available_from_us, 5);
  ASSERT_EQ(node_named(after, "n0").gpu_list.size(), 8U);
  EXPECT_EQ(node_named(after, "n0").gpu_list[1], (Gpu{1, GpuState::kReleasing, 200 * kSecond, -1}));
  EXPECT_EQ(after.queues, (std::vector<Queue>{small().queues[0], queue}));
  EXPECT_EQ(after.reservations, std::vector<Reservation>{reservation});
  EXPECT_EQ(job_named(after, "b").progress, progress);
}

TEST(ClusterState, LoadReplacesEverything) {
  ClusterState state(small());
  Snapshot other = test::two_racks();
  add_job(other, "only", 2);

  state.apply(delta::Load{other});

  other.revision = 2;
  EXPECT_EQ(state.snapshot(), other);
  EXPECT_EQ(state.find_job("a"), -1);
  EXPECT_EQ(state.revision(), 2U);
}

// Otherwise a plan of the live state would not match its own snapshot.
TEST(ClusterState, ItsPictureHasItsRevision) {
  ClusterState state(small());
  state.apply(delta::SetTime{state.now() + kSecond});

  const Snapshot picture = state.snapshot();

  EXPECT_EQ(picture.revision, 2);
  EXPECT_EQ(ClusterState(picture).revision(), 2U);
  state.apply(delta::Load{picture});
  EXPECT_EQ(state.revision(), 3U) << "a revision never comes twice";
}

TEST(ClusterState, NodesComeAndGoWhenTheClockPassesTheirInstants) {
  Snapshot s = small();
  s.nodes[1].available_from_us = 200 * kSecond;
  s.nodes[1].available_until_us = 300 * kSecond;
  ClusterState state(s);
  const std::int32_t n1 = state.find_node(s.nodes[1].id);
  const auto open = [&] { return state.impl().node.open[to_index(n1)] != 0; };
  const auto at = [&](std::int64_t seconds) { state.apply(delta::SetTime{seconds * kSecond}); };

  EXPECT_FALSE(open());
  at(199);
  EXPECT_FALSE(open());
  at(200);
  EXPECT_TRUE(open());
  state.apply(delta::SetNodeState{s.nodes[1].id, NodeState::kReady, 250 * kSecond});
  EXPECT_FALSE(open());
  EXPECT_THROW(state.apply(std::vector<Delta>{delta::SetTime{260 * kSecond}, delta::StopJob{"missing"}}), InputError);
  EXPECT_FALSE(open());
  at(250);
  EXPECT_TRUE(open());
  EXPECT_THROW(state.apply(std::vector<Delta>{delta::SetTime{300 * kSecond}, delta::StopJob{"missing"}}), InputError);
  EXPECT_TRUE(open());
  EXPECT_THROW(state.apply(std::vector<Delta>{delta::SetNodeState{s.nodes[1].id, NodeState::kReady, 290 * kSecond}, delta::StopJob{"x"}}),
               InputError);
  EXPECT_TRUE(open());
  at(299);
  EXPECT_TRUE(open());
  at(300);
  EXPECT_FALSE(open());
}

TEST(ClusterState, RefusesWhatItDoesNotKnowWithItsPlace) {
  ClusterState state(small());
  const Snapshot before = state.snapshot();

  EXPECT_EQ(refused_at(state, delta::RemoveNode{"x"}), "/0/node");
  EXPECT_EQ(refused_at(state, delta::SetNodeState{"x", NodeState::kReady, 0}), "/0/node");
  EXPECT_EQ(refused_at(state, delta::SetGpuState{"n0", 8, GpuState::kOk, kNever}), "/0/index");
  EXPECT_EQ(refused_at(state, delta::RemoveJob{"x", ""}), "/0/job");
  EXPECT_EQ(refused_at(state, delta::StopJob{"x"}), "/0/job");
  EXPECT_EQ(refused_at(state, delta::StopJob{"b"}), "/0/job");
  EXPECT_EQ(refused_at(state, delta::StartJob{"x", {}}), "/0/job");
  EXPECT_EQ(refused_at(state, delta::StartJob{"c", on("x", {0})}), "/0/allocation/entries/0/node");
  EXPECT_EQ(refused_at(state, delta::SetProgress{"x", {}}), "/0/job");
  EXPECT_EQ(refused_at(state, delta::RemoveReservation{"x"}), "/0/reservation");
  EXPECT_EQ(refused_at(state, delta::SetTime{99 * kSecond}), "/0/now_s");
  EXPECT_EQ(state.snapshot(), before);
  EXPECT_EQ(state.revision(), 1U);
}

TEST(ClusterState, RefusesToRemoveANodeThatIsUsedOrReserved) {
  ClusterState state(small());

  EXPECT_EQ(refused_at(state, delta::RemoveNode{"n0"}), "/0/node");
  EXPECT_EQ(refused_at(state, delta::RemoveNode{"n3"}), "/0/node");
  EXPECT_EQ(refused_at(state, delta::RemoveNode{"n1"}), "");
  EXPECT_EQ(state.node_count(), 3);
}

TEST(ClusterState, RefusesAGpuHeldTwice) {
  ClusterState state(small());
  Job twin = waiting("twin", 1);
  run_on(twin, "n0", {3});

  EXPECT_EQ(refused_at(state, delta::PutJob{twin}), "/0/job/allocation/entries/0/gpus");
  EXPECT_EQ(refused_at(state, delta::StartJob{"c", on("n0", {0})}), "/0/allocation/entries/0/gpus");
  EXPECT_EQ(refused_at(state, delta::StartJob{"a", on("n0", {0, 1, 2, 4})}), "") << "its own GPUs are no obstacle";
}

TEST(ClusterState, RefusedBatchLeavesNoTraceWhateverItBeganWith) {
  Progress progress;
  progress.run_us = 7;
  Queue queue;
  queue.id = "q2";
  Reservation reservation;
  reservation.id = "r2";
  reservation.nodes = {"n1"};
  Snapshot other = test::two_racks();
  add_job(other, "only", 2);
  Job again = waiting("a", 2);
  const std::vector<Delta> first = {delta::Load{other},
                                    delta::SetTime{2'000 * kSecond},
                                    delta::PutNode{test::node_of("m", "p/r0")},
                                    delta::PutNode{test::node_of("n0", "p/r1")},
                                    delta::RemoveNode{"n1"},
                                    delta::SetNodeState{"n0", NodeState::kFailed, 0},
                                    delta::SetGpuState{"n0", 0, GpuState::kFailed, kNever},
                                    delta::PutJob{waiting("new", 3)},
                                    delta::PutJob{again},
                                    delta::RemoveJob{"a", "completed"},
                                    delta::StartJob{"c", on("n2", {5})},
                                    delta::StopJob{"a"},
                                    delta::SetProgress{"a", progress},
                                    delta::PutQueue{queue},
                                    delta::PutReservation{reservation},
                                    delta::RemoveReservation{"res"}};
  for (std::size_t i = 0; i < first.size(); ++i) {
    ClusterState state(small());
    state.apply(delta::SetTime{110 * kSecond});
    const Snapshot before = state.snapshot();
    const std::int32_t job = state.find_job("a");

    EXPECT_THROW(state.apply(std::vector<Delta>{first[i], delta::RemoveJob{"missing", ""}}), InputError) << i;

    EXPECT_EQ(state.snapshot(), before) << i;
    EXPECT_EQ(state.revision(), 2U) << i;
    EXPECT_EQ(state.find_job("a"), job) << i;
    EXPECT_NO_THROW(state.apply(first[i])) << i << ": taken back in full, it can be done again";
  }
}

TEST(ClusterState, SecondOfTwoRefusalsIsNamedByItsIndex) {
  ClusterState state(small());
  try {
    state.apply(std::vector<Delta>{delta::SetTime{101 * kSecond}, delta::StopJob{"a"}, delta::StopJob{"a"}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.pointer(), "/2/job");
  }
}

TEST(ClusterState, JobsOnAFailedNodeStayAndCanBeFreed) {
  ClusterState state(small());

  state.apply(delta::SetNodeState{"n0", NodeState::kFailed, 0});

  EXPECT_EQ(job_named(state.snapshot(), "a").state, JobState::kRunning);
  EXPECT_EQ(job_named(state.snapshot(), "a").allocation, on("n0", {0, 1, 2, 3}));
  EXPECT_EQ(refused_at(state, delta::StopJob{"a"}), "");
}

/// What each job asks for and holds, by its id.
using JobColumns = std::map<std::string, std::pair<std::vector<std::int64_t>, std::vector<std::uint64_t>>>;

JobColumns columns_of(const ClusterState& state) {
  const kernel::ProblemView& p = state.impl().problem();
  JobColumns columns;
  for (const std::int32_t job : state.impl().job_order) {
    auto& [gpus, masks] = columns[state.job(job)->id];
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) gpus.push_back(p.demands[p.options[o].demand].gpus);
    for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) masks.push_back(p.held[h].mask);
    EXPECT_EQ(state.impl().held_entries(job).size(), masks.size());
  }
  return columns;
}

/// Thousands of jobs of one to five shapes come and go, and one starts on one node or two and stops. @param after_each  called with the
/// step
template <class AfterEach>
void turn_over(ClusterState& state, const AfterEach& after_each) {
  std::vector<std::string> there;
  for (int i = 0; i < 6'000; ++i) {
    Job job = waiting("job" + std::to_string(i), 1 + i % 8);
    for (int extra = 0; extra < i % 5; ++extra) {
      job.shapes.push_back(job.shapes.front());
      job.shapes.back().id = "s" + std::to_string(extra);
      job.shapes.back().gpus = 1 + (i + extra) % 7;
    }
    std::vector<Delta> deltas = {delta::PutJob{job}};
    const AllocationEntry all = {"", 0, "n1", {0, 1, 2, 3, 4, 5, 6, 7}, kWholeGpu, false};
    const AllocationEntry half = {"", 0, "n1", {0, 1, 2, 3}, kWholeGpu, false}, rest = {"", 4, "n2", {0, 1, 2, 3}, kWholeGpu, false};
    if (i % 40 == 0) deltas.push_back(delta::StartJob{"b", {"s", {all}}});
    if (i % 40 == 20) deltas.push_back(delta::StartJob{"b", {"s", {half, rest}}});
    if (i % 20 == 5) deltas.push_back(delta::StopJob{"b"});
    there.push_back(job.id);
    if (there.size() > 40) {
      deltas.push_back(delta::RemoveJob{there.front(), ""});
      there.erase(there.begin());
    }
    state.apply(deltas);
    after_each(i);
  }
}

TEST(ClusterState, ColumnsOfJobsStayRightAndBoundedWhileThousandsComeAndGo) {
  ClusterState state(small());
  std::int32_t most = 0;
  turn_over(state, [&](int i) {
    most = std::max(most, state.impl().problem().n_options);
    if (i % 500 != 499) return;
    ASSERT_EQ(columns_of(state), columns_of(ClusterState(state.snapshot()))) << i;
  });
  EXPECT_LE(most, 2'048);
}

// Each time it asks for more rows than before, so that none are used again.
TEST(ClusterState, ColumnsOfAJobThatGrowsNeedLittleRoom) {
  ClusterState state(small());
  Job job = waiting("grows", 1);
  std::int32_t most = 0;
  for (int i = 0; i < 100; ++i) {
    state.apply(delta::PutJob{job});
    most = std::max(most, state.impl().problem().n_options);
    job.shapes.push_back(job.shapes.front());
    job.shapes.back().id = "s" + std::to_string(i);
  }

  EXPECT_LE(most, 2 * (3 * 2 + 2 * 100) + 1'024);
  EXPECT_EQ(columns_of(state), columns_of(ClusterState(state.snapshot())));
}

// The changes are then too many to be listed.
TEST(ClusterState, ColumnsOfJobsAreRightAfterThousandsOfChangesThatNoDecisionSaw) {
  ClusterState state(small());
  columns_of(state);
  state.apply(delta::PutJob{waiting("c", 2)});

  turn_over(state, [](int) {});

  EXPECT_EQ(columns_of(state), columns_of(ClusterState(state.snapshot())));
}

// Every job requests another amount of memory, so each has its own demand.
TEST(ClusterState, ForgetsWhatJobsThatLeftAskedFor) {
  ClusterState state(small());
  std::string before;
  for (int i = 0; i < 20'000; ++i) {
    Job job = waiting("job" + std::to_string(i), 1);
    job.constraints.memory_bytes_per_gpu = 1 + i;
    std::vector<Delta> deltas = {delta::PutJob{job}};
    if (!before.empty()) deltas.push_back(delta::RemoveJob{before, ""});
    before = job.id;
    state.apply(deltas);
  }

  EXPECT_LT(state.impl().problem().n_demands, 8'192);
  Engine engine;
  Request request;
  Plan here = engine.decide(state, request);
  const ClusterState loaded(state.snapshot());
  Plan there = engine.decide(loaded, request);
  here.revision = there.revision = 0;
  EXPECT_EQ(io::to_json(here, state, false), io::to_json(there, loaded, false));
}

TEST(ClusterState, CommitRefusesAPlanThatNamesNoJob) {
  ClusterState state(small());
  const std::int32_t unused = state.find_job("b");
  state.apply(delta::RemoveJob{"b", ""});
  Plan plan = Engine().decide(state, Request());

  for (const std::int32_t job : {-1, unused, 99}) {
    plan.decisions.front().job = job;
    EXPECT_THROW(commit(state, plan), InvalidArgument) << job;
  }
}

TEST(ClusterState, CommitRefusesAPlanOfWhichAPartIsMissing) {
  Snapshot s = small();
  Group group;
  group.name = "g";
  group.members_min = group.members_want = group.members_max = 8;
  s.jobs[1].shapes[0].groups = {group};
  ClusterState state(s);
  const Snapshot before = state.snapshot();
  const Plan plan = Engine().decide(state, Request());
  ASSERT_FALSE(plan.entries.empty());
  const auto expect_refused = [&](const auto& tamper) {
    Plan part = plan;
    tamper(part);
    EXPECT_THROW(commit(state, part), InvalidArgument);
    EXPECT_TRUE(state.snapshot() == before);
  };
  expect_refused([](Plan& part) { part.entries.pop_back(); });
  expect_refused([](Plan& part) { part.entries.clear(); });
  expect_refused([](Plan& part) {
    for (Decision& d : part.decisions) d.entry_begin -= 99;
  });
  for (const std::int32_t none : {-1, 99}) {
    expect_refused([&](Plan& part) {
      for (PlanEntry& entry : part.entries) entry.node = none;
    });
    expect_refused([&](Plan& part) {
      for (PlanEntry& entry : part.entries) entry.group = none;
    });
  }
}

TEST(ClusterState, CommitRefusesAStalePlan) {
  ClusterState state(small());
  Engine engine;
  const Plan plan = engine.decide(state, Request{});
  state.apply(delta::SetTime{101 * kSecond});

  EXPECT_THROW(commit(state, plan), StalePlan);
  EXPECT_EQ(job_named(state.snapshot(), "b").state, JobState::kWaiting);

  EXPECT_EQ(commit(state, engine.decide(state, Request{})), 3U);
  EXPECT_EQ(job_named(state.snapshot(), "b").state, JobState::kRunning);
}

}  // namespace
// A step that has passed gives way to the next one, the last stays, and a batch that is refused changes nothing.
TEST(State, TheDeadlineOfAJobIsTheFirstStepThatHasNotPassed) {
  Snapshot s = small();
  s.jobs[1].deadline = {150 * kSecond, false, 9, {{200 * kSecond, 5}, {300 * kSecond, 1}}};
  ClusterState state(s);
  const StateImpl& impl = impl_of(StateView(state));
  const std::int32_t b = state.find_job("b");
  const auto deadline_s = [&] { return impl.job.deadline[to_index(b)] / kSecond; };
  EXPECT_EQ(deadline_s(), 150);
  state.apply(delta::SetTime{149 * kSecond});
  EXPECT_EQ(deadline_s(), 150);
  const std::uint64_t version = impl.job.version[to_index(b)];
  state.apply(delta::SetTime{150 * kSecond});
  EXPECT_EQ(deadline_s(), 200);
  EXPECT_NE(impl.job.version[to_index(b)], version);
  EXPECT_THROW(state.apply(std::vector<Delta>{delta::SetTime{250 * kSecond}, delta::StopJob{"nothing"}}), InputError);
  EXPECT_EQ(deadline_s(), 200);
  state.apply(delta::SetTime{400 * kSecond});
  EXPECT_EQ(deadline_s(), 300);
  EXPECT_EQ(job_named(state.snapshot(), "b").deadline, s.jobs[1].deadline);
  const ClusterState reloaded(state.snapshot());
  EXPECT_EQ(impl_of(StateView(reloaded)).job.deadline[to_index(b)], 300 * kSecond);

  // Steps of a description that is gone do not count.
  ClusterState again(s);
  Job other = s.jobs[1];
  other.deadline = {500 * kSecond, false, 9, {{600 * kSecond, 5}}};
  again.apply(delta::PutJob{other});
  again.apply(delta::SetTime{400 * kSecond});
  EXPECT_EQ(impl_of(StateView(again)).job.deadline[to_index(again.find_job("b"))], 500 * kSecond);
}

}  // namespace berth::state_test
