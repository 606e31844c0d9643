// What a live state must keep exact. A rejected batch leaves no trace, columns follow the nodes, every change obeys the
// rules of loading, and a snapshot can always be loaded again.

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/error.hpp"
#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/unit/core/validator/validate_support.hpp"

namespace berth::state_exact_test {
namespace {

using test::add_job;
using test::run_on;

constexpr std::int64_t kUnits = 1'000'000;

/// Its rate depends on the NICs when it spans nodes: a gang of 16 GPUs whose gradients take seconds to exchange.
Job& add_wide(Snapshot& s, const std::string& id) {
  Job& job = add_job(s, id, 16);
  job.profile.kind = ProfileKind::kClosedForm;
  job.profile.unit = "samples";
  job.profile.gradient_bytes = 10'000'000'000;
  StepTime step;
  step.beta_ns = 1'000'000'000;
  job.profile.closed_form.step = {step};
  job.progress.work_total = 1'000'000 * kUnits;
  return job;
}

/// Nodes with NICs; `a` runs on all of n0 and n1, `b` is equal and waits, `c` waits with an estimate of time.
Snapshot wide() {
  Snapshot s = test::two_racks();
  for (Node& n : s.nodes) {
    n.nics = 8;
    n.nic_bytes_per_s = 50'000'000'000;
  }
  Job& a = add_wide(s, "a");
  run_on(a, "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  a.allocation.entries.push_back({"", 8, "n1", {0, 1, 2, 3, 4, 5, 6, 7}, kWholeGpu, false});
  add_wide(s, "b");
  Job& c = add_wide(s, "c");
  c.progress.work_total = 0;
  c.estimate.run_us = 1'000 * kSecond;
  return s;
}

Node slow(const Snapshot& s, std::size_t n) {
  Node node = s.nodes[n];
  node.nics = 1;
  node.nic_bytes_per_s = 1'000'000'000;
  return node;
}

/// The state loaded again from its own snapshot has the same snapshot and the same columns.
void expect_as_loaded(const ClusterState& state, const std::string& where) {
  const Snapshot now = state.snapshot();
  const ClusterState fresh(now);
  EXPECT_TRUE(fresh.snapshot() == now) << where;
  EXPECT_EQ(state.impl().tables_hash(), fresh.impl().tables_hash()) << where;
  EXPECT_EQ(state.impl().node.sharing_nodes, fresh.impl().node.sharing_nodes) << where;
  for (const Job& j : now.jobs) {
    const std::int32_t live = state.find_job(j.id);
    const std::int32_t anew = fresh.find_job(j.id);
    const auto l = static_cast<std::size_t>(live);
    const auto a = static_cast<std::size_t>(anew);
    EXPECT_EQ(state.impl().job.rate[l], fresh.impl().job.rate[a]) << where << j.id;
    EXPECT_EQ(state.impl().job.estimate_rate[l], fresh.impl().job.estimate_rate[a]) << where << j.id;
    EXPECT_EQ(state.impl().work_left_now(live), fresh.impl().work_left_now(anew)) << where << j.id;
    EXPECT_EQ(state.impl().remaining(live), fresh.impl().remaining(anew)) << where << j.id;
  }
}

std::string refused_at(ClusterState& state, const Delta& delta) {
  try {
    state.apply(delta);
  } catch (const InputError& error) {
    return error.pointer();
  }
  return "";
}

const Job& job_named(const Snapshot& s, const std::string& id) {
  for (const Job& j : s.jobs) {
    if (j.id == id) return j;
  }
  throw std::out_of_range(id);
}

TEST(ClusterStateExact, ARefusedBatchThatMovedTheClockIsForgottenByWhatFollows) {
  const Snapshot start = wide();
  Reservation reservation;
  reservation.id = "r";
  reservation.nodes = {"n3"};
  Progress progress;
  progress.run_us = 7 * kSecond;
  Job again = job_named(start, "a");
  again.priority = 5;
  const std::vector<Delta> touched = {delta::RemoveJob{"a", "completed"},
                                      delta::RemoveJob{"a", ""},
                                      delta::PutJob{again},
                                      delta::StopJob{"a"},
                                      delta::SetProgress{"a", progress},
                                      delta::PutNode{slow(start, 0)},
                                      delta::PutNode{test::node_of("n9", "p/r0")},
                                      delta::RemoveNode{"n2"},
                                      delta::PutReservation{reservation}};
  for (std::size_t i = 0; i < touched.size(); ++i) {
    const std::string where = "delta " + std::to_string(i) + ": ";
    ClusterState twin(start);
    ClusterState state(start);
    twin.apply(delta::SetTime{105 * kSecond});
    state.apply(delta::SetTime{105 * kSecond});

    EXPECT_THROW(state.apply(std::vector<Delta>{delta::SetTime{115 * kSecond}, touched[i], delta::StopJob{"missing"}}), InputError)
        << where;

    EXPECT_TRUE(state.snapshot() == twin.snapshot()) << where;
    for (const Delta& later : std::vector<Delta>{delta::SetTime{110 * kSecond}, delta::StopJob{"a"}, delta::SetTime{120 * kSecond}}) {
      twin.apply(later);
      state.apply(later);
      EXPECT_TRUE(state.snapshot() == twin.snapshot()) << where;
      expect_as_loaded(state, where);
    }
    EXPECT_EQ(job_named(state.snapshot(), "a").progress.run_us, 10 * kSecond) << where;
  }
}

TEST(ClusterStateExact, RatesFollowTheNodes) {
  const Snapshot start = wide();
  ClusterState state(start);
  const std::int64_t fast = state.impl().job.rate[0];
  state.apply(delta::SetTime{110 * kSecond});
  const std::int64_t done = job_named(state.snapshot(), "a").progress.work_done;
  EXPECT_EQ(done, 10 * fast);

  state.apply(delta::PutNode{slow(start, 1)});

  expect_as_loaded(state, "slower NICs: ");
  EXPECT_LT(state.impl().job.rate[0], fast);
  EXPECT_EQ(job_named(state.snapshot(), "a").progress.work_done, done) << "what was done at the old rate stays";
  state.apply(delta::SetTime{120 * kSecond});
  expect_as_loaded(state, "later: ");

  Node larger = test::node_of("n9", "p/r0");
  larger.gpus = 16;
  state.apply(delta::PutNode{larger});
  expect_as_loaded(state, "a node that holds the gang: ");
  state.apply(std::vector<Delta>{delta::SetTime{130 * kSecond}, delta::RemoveNode{"n9"}});
  expect_as_loaded(state, "and without it: ");
}

/// The columns, and the plan.
void expect_decisions_as_loaded(const ClusterState& state, const std::string& where) {
  expect_as_loaded(state, where);
  const ClusterState fresh(state.snapshot());
  Request request;
  request.policy = "srtf";
  const std::string live = test::text_of(Engine().decide(state, request), state);
  const std::string anew = test::text_of(Engine().decide(fresh, request), fresh);
  EXPECT_TRUE(live == anew) << where << test::parting(anew, live);
}

/// Each two of these are refused together, with the clock moved between them. Then the second comes alone.
void expect_pairs_to_be_forgotten(const Snapshot& start, const std::vector<Delta>& deltas) {
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    for (std::size_t j = 0; j < deltas.size(); ++j) {
      const std::string where = "deltas " + std::to_string(i) + " and " + std::to_string(j) + ": ";
      ClusterState state(start);
      state.apply(delta::SetTime{105 * kSecond});
      const Snapshot before = state.snapshot();
      state.impl().problem();  // what is kept for decisions follows, too
      const std::vector<Delta> refused{deltas[i], delta::SetTime{115 * kSecond}, deltas[j], delta::StopJob{"missing"}};
      EXPECT_THROW(state.apply(refused), InputError) << where;
      EXPECT_TRUE(state.snapshot() == before) << where;
      expect_decisions_as_loaded(state, where);
      state.apply(std::vector<Delta>{deltas[j], delta::SetTime{125 * kSecond}});
      expect_decisions_as_loaded(state, where + "afterwards: ");
    }
  }
}

// Some of these change what jobs compile to, and some do not.
TEST(ClusterStateExact, NodesThatWereRefusedAreForgottenWhereverOptionsAreKept) {
  const Snapshot start = wide();
  Node alike = start.nodes[3], larger = test::node_of("n9", "p/r1"), moved = start.nodes[2], of_pod = start.nodes[3];
  alike.id = "n8";
  larger.gpus = 16;
  moved.domain[0] = "p/r0";
  of_pod.domain[0] = "p";
  expect_pairs_to_be_forgotten(start, {delta::PutNode{alike}, delta::PutNode{moved}, delta::RemoveNode{"n2"}, delta::PutNode{larger},
                                       delta::PutNode{slow(start, 0)}, delta::PutNode{slow(start, 3)}, delta::PutNode{of_pod}});
}

// The first node that goes is the largest. So all jobs compile anew, and what they hold for decisions still has the old ranks.
TEST(ClusterStateExact, NodesGoOneAfterTheOtherWhereOptionsChange) {
  Snapshot start = test::two_racks();
  start.nodes[0].gpus = 16;
  for (const char* node : {"n2", "n3"}) run_on(add_job(start, std::string("on") + node, 8), node, {0, 1, 2, 3, 4, 5, 6, 7});
  const std::vector<Delta> gone{delta::RemoveNode{"n0"}, delta::RemoveNode{"n1"}};
  const std::vector<Delta> more{delta::PutNode{test::node_of("n9", "p/r0")}, delta::RemoveNode{"n9"}};
  ClusterState state(start);
  state.impl().problem();
  EXPECT_THROW(state.apply(std::vector<Delta>{gone[0], gone[1], more[0], delta::StopJob{"missing"}}), InputError);
  expect_decisions_as_loaded(state, "after a refusal: ");
  state.impl().problem();
  for (const auto& deltas : {gone, more}) state.apply(deltas);
  expect_decisions_as_loaded(state, "after both: ");
}

Delta reserved(const std::string& id, const std::string& node, std::vector<std::string> jobs, TimeUs from_us = 0) {
  Reservation r;
  r.id = id;
  r.nodes = {node};
  r.jobs = std::move(jobs);
  r.from_us = from_us;
  r.to_us = 1'000 * kSecond;
  return delta::PutReservation{r};
}

// Jobs refer to the reservations that name them by number.
TEST(ClusterStateExact, ReservationsThatWereRefusedAreForgottenByTheJobsThatTheyName) {
  Snapshot start = test::two_racks();
  for (const auto& [id, node] : {std::pair("b", "n1"), std::pair("c", "n2"), std::pair("d", "n3")}) {
    Job& job = add_job(start, id, 8);
    job.constraints.required_nodes = {node};
    job.estimate.run_us = 100 * kSecond;
  }
  for (const auto& [id, node] : {std::pair("r0", "n1"), std::pair("r1", "n2")}) {
    Reservation& r = start.reservations.emplace_back();
    r.id = id;
    r.nodes = {node};
    r.jobs = {r.id == "r0" ? "b" : "c"};
  }
  expect_pairs_to_be_forgotten(
      start, {reserved("r0", "n1", {"c"}), reserved("r0", "n3", {"b"}), reserved("r1", "n2", {}), reserved("r2", "n3", {"b", "d"}),
              reserved("r3", "n1", {"b", "c", "d"}, 110 * kSecond), delta::RemoveReservation{"r0"}});
}

TEST(ClusterStateExact, AGangMayNotHoldAGpuTwice) {
  Snapshot s = test::two_racks();
  s.nodes[0].sharing = true;
  add_job(s, "gang", 2);
  Job& half = add_job(s, "half", 2);
  half.sharing = true;
  half.shapes[0].share_ppm = 600'000;
  Job& light = add_job(s, "light", 2);
  light.sharing = true;
  light.shapes[0].share_ppm = 400'000;
  const auto twice = [](std::int32_t share) {
    return Allocation{"s", {{"", 0, "n0", {0}, share, false}, {"", 1, "n0", {0}, share, false}}};
  };
  ClusterState state(s);

  EXPECT_EQ(refused_at(state, delta::StartJob{"gang", twice(kWholeGpu)}), "/0/allocation/entries/1/gpus");
  EXPECT_EQ(refused_at(state, delta::StartJob{"half", twice(600'000)}), "/0/allocation/entries/1/gpus");
  Job put = job_named(s, "gang");
  put.state = JobState::kRunning;
  put.allocation = twice(kWholeGpu);
  EXPECT_EQ(refused_at(state, delta::PutJob{put}), "/0/job/allocation/entries/1/gpus");
  EXPECT_EQ(refused_at(state, delta::StartJob{"light", twice(400'000)}), "") << "0.8 of a GPU";
  expect_as_loaded(state, "two shares: ");
  EXPECT_EQ(refused_at(state, delta::StartJob{"light", twice(400'000)}), "") << "its own shares are no obstacle";
  EXPECT_EQ(refused_at(state, delta::StartJob{"gang", {"s", {{"", 0, "n0", {0, 1}, kWholeGpu, false}}}}), "/0/allocation/entries/0/gpus");
  state.apply(delta::StopJob{"light"});
  EXPECT_EQ(refused_at(state, delta::StartJob{"gang", {"s", {{"", 0, "n0", {0, 1}, kWholeGpu, false}}}}), "");
}

TEST(ClusterStateExact, NodesThatAreOpenForSharesAreCounted) {
  Snapshot s = test::two_racks();
  s.nodes[0].sharing = s.nodes[1].sharing = true;
  ClusterState state(s);
  EXPECT_EQ(state.impl().node.sharing_nodes, 2);
  for (const NodeState next : {NodeState::kDrain, NodeState::kReady, NodeState::kReady, NodeState::kFailed}) {
    state.apply(delta::SetNodeState{"n0", next, 0});
    expect_as_loaded(state, "n0");
  }
  EXPECT_EQ(state.impl().node.sharing_nodes, 1);
}

TEST(ClusterStateExact, SharesMayNotNeedMoreMemoryThanTheGpuHas) {
  Snapshot s = test::two_racks();
  s.nodes[0].sharing = true;
  for (const char* id : {"x", "y"}) {
    Job& job = add_job(s, id, 1);
    job.sharing = true;
    job.shapes[0].share_ppm = 400'000;
    job.constraints.gpu_memory_bytes = std::int64_t{50} << 30;
  }
  const auto on = [](std::int32_t gpu) { return Allocation{"s", {{"", 0, "n0", {gpu}, 400'000, false}}}; };
  ClusterState state(s);
  state.apply(delta::StartJob{"x", on(0)});

  EXPECT_EQ(refused_at(state, delta::StartJob{"y", on(0)}), "/0/allocation/entries/0/gpus");
  EXPECT_EQ(refused_at(state, delta::StartJob{"y", on(1)}), "");
  expect_as_loaded(state, "shares: ");
}

TEST(ClusterStateExact, SnapshotLoadsAgainWhenNoNodeServesAVirtualCluster) {
  for (const bool replaced : {false, true}) {
    Snapshot s = test::two_racks();
    for (Node& n : s.nodes) n.virtual_clusters = {"v"};
    s.nodes[3].virtual_clusters = {"w"};
    add_job(s, "a", 1).virtual_cluster = "w";
    add_job(s, "b", 1).virtual_cluster = "v";
    ClusterState state(s);
    Node other = s.nodes[3];
    other.virtual_clusters = {"v"};

    state.apply(replaced ? Delta(delta::PutNode{other}) : Delta(delta::RemoveNode{"n3"}));

    expect_as_loaded(state, replaced ? "replaced: " : "removed: ");
    Job late = job_named(s, "a");
    late.id = "late";
    EXPECT_EQ(refused_at(state, delta::PutJob{late}), "");
    Engine engine;
    const Plan plan = engine.decide(state, Request{});
    commit(state, plan);
    EXPECT_EQ(job_named(state.snapshot(), "a").state, JobState::kWaiting);
    EXPECT_EQ(job_named(state.snapshot(), "late").state, JobState::kWaiting);
    EXPECT_EQ(job_named(state.snapshot(), "b").state, JobState::kRunning);

    state.apply(delta::PutNode{s.nodes[3]});
    commit(state, engine.decide(state, Request{}));
    EXPECT_EQ(job_named(state.snapshot(), "a").state, JobState::kRunning) << "a node came back";
  }
}

TEST(ClusterStateExact, RefusesWhatASnapshotMayNotHold) {
  Snapshot s = test::two_racks();
  s.nodes[0].sharing = true;
  s.nodes[1].available_until_us = 200 * kSecond;
  Job& x = add_job(s, "x", 1);
  x.sharing = true;
  x.shapes[0].share_ppm = 400'000;
  run_on(x, "n0", {0});
  ClusterState state(s);
  Node alone = s.nodes[0];
  alone.sharing = false;

  EXPECT_EQ(refused_at(state, delta::PutNode{alone}), "/0/node/sharing");
  EXPECT_EQ(refused_at(state, delta::SetNodeState{"n1", NodeState::kReady, 201 * kSecond}), "/0/available_from_s");
  EXPECT_EQ(refused_at(state, delta::SetGpuState{"n0", 0, GpuState::kReleasing, -1}), "/0/free_at_s");
  EXPECT_EQ(refused_at(state, delta::RemoveJob{"x", "a\nb"}), "/0/status");
  expect_as_loaded(state, "nothing changed: ");
}

TEST(ClusterStateExact, AnInstantThatIsNoneIsNamedWithItsRange) {
  ClusterState state(test::two_racks());
  try {
    state.apply(delta::SetNodeState{"n1", NodeState::kReady, -kSecond});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "deltas: /0/available_from_s: -1 is not within 0 to 288230376151.711744");
  }
}

TEST(ClusterStateExact, ProgressEndsAtTheLargestValues) {
  Snapshot s = test::two_racks();
  Job& a = run_on(add_job(s, "a", 8), "n0", {0, 1, 2, 3, 4, 5, 6, 7});
  a.shapes[0].rate = kScoreCeiling;
  a.progress.work_total = a.progress.attained_gpu_us = kScoreCeiling;
  a.progress.work_done = kScoreCeiling - 1;
  a.progress.run_us = kMaxTimeUs;
  a.progress.restarts = INT32_MAX;
  ClusterState state(s);

  state.apply(delta::SetTime{kMaxTimeUs});
  expect_as_loaded(state, "running: ");
  state.apply(delta::StopJob{"a"});
  expect_as_loaded(state, "stopped: ");
  EXPECT_EQ(job_named(state.snapshot(), "a").progress.work_done, kScoreCeiling);
  state.apply(delta::RemoveJob{"a", "completed"});
  expect_as_loaded(state, "gone: ");
}

}  // namespace
}  // namespace berth::state_exact_test
