// A written plan reads back unchanged, against the state it was made for.
#include <gtest/gtest.h>

#include <string>

#include "berth/state.hpp"
#include "host/core/state/state_impl.hpp"
#include "host/io/formats/plan_promises.hpp"
#include "host/io/formats/schemas.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/unit/io/formats/io_support.hpp"

namespace berth::io::io_plan_test {
namespace {

// Three jobs on one node of 8 GPUs, and a queue; the second job is a gang of two groups.
ClusterState small_state() {
  ClusterState state(parse_snapshot(with_jobs(job("", "a") + R"(,
{"id": "b", "submit_s": 2, "shapes": [{"id": "one", "gpus": 1}, {"id": "gang", "groups": [{"name": "p"}, {"name": "d", "gpus_per_member": 2, "members": 2}]}]},
)" + job(R"(, "sharing": true)", "c"))));
  Queue queue;
  queue.id = "q";
  state.apply(delta::PutQueue{queue});
  return state;
}

Plan full_plan(const ClusterState& state) {
  Plan p;
  p.revision = UINT64_MAX;
  p.now_us = 100'000'000;
  p.policy = "srsf";
  p.params = {{"discipline", "greedy"}, {"b", ""}};
  p.backend = "cpu";
  p.backend_note = "no device";
  p.device = "1 (NVIDIA H200, GPU-01234567)";
  p.seed = UINT64_MAX - 1;
  p.iterations = 3;
  p.stopped_by = "iterations";
  p.proof = Proof::kBudgetExhausted;
  p.order_until_us = 4'500'000;
  p.tables = 0xfedcba9876543210;
  p.objective = {{"jct", -5}, {"gpus", 7}};
  p.bound = {"goodput", 90, 100, {{"A", 3}}, {{"span", 2}}};
  p.history = {{0, 5}, {7, 90}};
  p.totals = {8, 7, 1, 2, 3, 4, 5, 6, 7, 8};
  p.changes_only = true;
  p.reservations_since = UINT64_MAX - 2;
  p.reservations_dropped = {state.find_job("a")};
  p.entries = {{0, 0, 0, 1, 1, kWholeGpu}, {0, 1, 0, 2, 0x1e, kWholeGpu}, {0, 0, 3, 5, 0x80, 250'000, true}};
  Decision gang;
  gang.job = state.find_job("b");
  gang.action = Action::kReserve;
  gang.shape = 1;
  gang.entry_begin = 0;
  gang.entry_end = 2;
  gang.local_batch = 32;
  gang.learning_rate_pico = 100'000'001;
  gang.rate = 1'500'000;
  gang.start_us = 5;
  gang.finish_us = 6'000'001;
  gang.cost_us = 7;
  Decision share;
  share.job = state.find_job("c");
  share.action = Action::kMigrate;
  share.shape = 0;
  share.entry_begin = 2;
  share.entry_end = 3;
  share.reason.code = ReasonCode::kInsufficientGpus;
  share.reason.asked = 2;
  share.reason.missing = 1;
  Decision waits;
  waits.job = state.find_job("a");
  waits.entry_begin = waits.entry_end = 3;
  waits.reason = {ReasonCode::kInsufficientGpus, true, 2, 0, 0, state.find_job("b"), 0, 0, 16, 12, 4, 9'000'000, 2, 13, 1, true};
  waits.reason.some_nodes = true;
  waits.reason.drained = 3;
  waits.reason.failed = 2;
  waits.reason.unavailable_nodes = 1;
  waits.reason.unavailable_on[0] = 0;
  p.decisions = {gang, share, waits};
  return p;
}

TEST(PlanJson, EveryFieldReadsBack) {
  const ClusterState state = small_state();
  const Plan p = full_plan(state);

  const Plan read = parse_plan(to_json(p, state), state, "f.json");

  EXPECT_EQ(read.revision, p.revision);
  EXPECT_EQ(read.now_us, p.now_us);
  EXPECT_EQ(read.policy, p.policy);
  EXPECT_EQ(read.params, p.params);
  EXPECT_EQ(read.backend, p.backend);
  EXPECT_EQ(read.backend_note, p.backend_note);
  EXPECT_EQ(read.device, p.device);
  EXPECT_EQ(read.seed, p.seed);
  EXPECT_EQ(read.iterations, p.iterations);
  EXPECT_EQ(read.stopped_by, p.stopped_by);
  EXPECT_EQ(read.proof, p.proof);
  EXPECT_EQ(read.tables, p.tables);
  EXPECT_EQ(read.order_until_us, p.order_until_us);
  EXPECT_EQ(read.objective, p.objective);
  EXPECT_EQ(read.bound, p.bound);
  EXPECT_EQ(read.history, p.history);
  EXPECT_EQ(read.totals, p.totals);
  EXPECT_EQ(read.changes_only, p.changes_only);
  EXPECT_EQ(read.reservations_since, p.reservations_since);
  EXPECT_EQ(read.reservations_dropped, p.reservations_dropped);
  EXPECT_EQ(read.decisions, p.decisions);
  EXPECT_EQ(read.entries, p.entries);
}

// A field that is new in a table must be set above.
TEST(PlanJson, EveryFieldIsWritten) {
  ClusterState state = small_state();
  Queue above, queue;
  above.id = "p";
  above.quotas = {{"*", 0, 300}};
  queue.id = "q";
  queue.parent = "p";
  queue.quotas = {{"*", 100, 200, kUnlimited, 40}};
  state.apply(delta::PutQueue{above});
  state.apply(delta::PutQueue{queue});
  Job waits = *state.job(state.find_job("a"));  // the queue is entitled to it
  waits.queue = "q";
  state.apply(delta::PutJob{waits});
  const Promises promises{{"a", 12'500'000}, {"b", kWarnedOf}, {"c", kBrokenPromise}};
  const std::string json = plan_json(full_plan(state), state, true, &promises);

  EXPECT_EQ(test::unused_fields(json, plan_schema()), "");
  EXPECT_EQ(test::schema_fault(json, plan_schema()), "");
}

TEST(PlanJson, PromisesAreReadBack) {
  const ClusterState state = small_state();
  const Plan p = full_plan(state);
  const Promises promises{{"a", 12'500'000}, {"b", kWarnedOf}, {"c", kBrokenPromise}, {"left", 7}};
  Promises read;
  const std::string json = plan_json(p, state, true, &promises);
  parse_plan(json, state, "f.json", read);

  EXPECT_EQ(read, (Promises{{"a", 12'500'000}, {"b", kWarnedOf}, {"c", kBrokenPromise}}));
  EXPECT_NE(json.find(R"({"job":"a","until_s":12.5})"), std::string::npos);
  EXPECT_EQ(parse_plan(json, state, "f.json").decisions, p.decisions);
  const Promises none{{"left", 7}};
  EXPECT_EQ(plan_json(p, state, true, &none), to_json(p, state));
}

TEST(PlanJson, PlacesAreNamedAtTheirLevel) {
  Snapshot s = parse_snapshot(with_jobs(job("", "a")));
  const auto domain = [](const char* id, const char* level, const char* parent) {
    Domain d;
    d.id = id;
    d.level = level;
    d.parent = parent;
    return d;
  };
  s.domains = {domain("pod0", "pod", ""), domain("pod1", "pod", ""), domain("r07", "rack", "pod0"), domain("r08", "rack", "pod0"),
               domain("r08", "rack", "pod1")};
  s.nodes.resize(3, s.nodes[0]);
  s.nodes[1].id = "n1";
  s.nodes[2].id = "n2";
  s.nodes[0].domain[0] = "pod0/r07";
  s.nodes[1].domain[0] = "pod0/r08";
  s.nodes[2].domain[0] = "pod1/r08";
  const ClusterState state(s);
  Plan p = full_plan(state);
  p.entries.clear();
  p.decisions.resize(1);
  p.decisions[0] = {};
  p.decisions[0].job = 0;
  Reason& reason = p.decisions[0].reason;
  reason.code = ReasonCode::kTopologyRequired;
  const auto where = [&](std::int8_t level, std::string_view path) {
    reason.level = level;
    reason.where = level < 0 ? -1 : level == 0 ? 0 : state.impl().topologies.find(TopologyKind::kSwitch, path);
    const std::string json = to_json(p, state), key = "\"where\":\"";
    const std::size_t at = json.find(key);
    return at == std::string::npos ? std::string() : json.substr(at + key.size(), json.find('"', at + key.size()) - at - key.size());
  };

  EXPECT_EQ(where(0, ""), "n0");
  EXPECT_EQ(where(1, "pod0/r07"), "r07");
  EXPECT_EQ(where(1, "pod1/r08"), "pod1/r08");
  EXPECT_EQ(where(2, "pod0"), "pod0");
  EXPECT_EQ(where(-1, ""), "");
}

// An index would mean another queue in another snapshot.
TEST(PlanJson, AQueueIsNamedInItsEvidence) {
  ClusterState state = small_state();
  Queue small;
  small.id = "small";
  state.apply(delta::PutQueue{small});
  Plan p = full_plan(state);
  Reason& reason = p.decisions[2].reason;
  reason.code = ReasonCode::kQuota;
  reason.queue = 1;

  EXPECT_NE(to_json(p, state).find(R"("queue":"small")"), std::string::npos) << to_json(p, state);
  EXPECT_EQ(parse_plan(to_json(p, state), state, "f.json").decisions[2].reason.queue, 1);
  reason.queue = -1;
  EXPECT_EQ(to_json(p, state).find("\"queue\""), std::string::npos);
}

TEST(PlanJson, TimingIsLeftOutWhenAsked) {
  const ClusterState state = small_state();
  EXPECT_NE(to_json(full_plan(state), state).find("\"timing\""), std::string::npos);
  EXPECT_EQ(to_json(full_plan(state), state, false).find("\"timing\""), std::string::npos);
}

TEST(PlanJson, UnknownIdsAreRefused) {
  const ClusterState state = small_state();
  const auto refused = [&](const std::string& decision, const std::string& pointer, const std::string& part) {
    const std::string json =
        "{\"schema\": \"berth.plan.v1\", \"revision\": 1, \"now_s\": 1, \"policy\": \"fifo\", \"proof\": \"placed_validated\",\n"
        "\"decisions\": [" +
        decision + "]}";
    expect_error([&] { (void)parse_plan(json, state, "f.json"); }, 2, "/decisions/0" + pointer, part);
  };
  refused(R"({"job": "z", "action": "wait"})", "/job", "no job \"z\"");
  refused(R"({"job": "a", "action": "wat"})", "/action", "\"wat\"");
  refused(R"({"job": "a", "action": "start", "shape": "z"})", "", "no shape 'z'");
  refused(R"({"job": "a", "action": "start", "shape": "s", "gpus": [{"node": "z", "index": [0]}]})", "/gpus/0/node", "no node \"z\"");
  refused(R"({"job": "a", "action": "start", "shape": "s", "gpus": [{"node": "n0", "index": [0, 0]}]})", "/gpus/0/index/1",
          "duplicate GPU 0");
  refused(R"({"job": "a", "action": "start", "shape": "s", "gpus": [{"node": "n0", "index": [64]}]})", "/gpus/0/index/0", "64");
  refused(R"({"job": "b", "action": "start", "shape": "gang", "gpus": [{"node": "n0", "index": [0], "group": "z"}]})", "", "no group 'z'");
}

}  // namespace
}  // namespace berth::io::io_plan_test
