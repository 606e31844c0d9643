// berth.deltas.v1: what is rejected, with its location in the error. tests/c_api/arrays_test.c checks that documents
// and arrays mean the same.
#include <gtest/gtest.h>

#include <string>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/support/problem_of.hpp"

namespace berth::io_deltas_test {
namespace {

ClusterState one_node() {
  return io::parse_state(
      R"({"schema": "berth.snapshot.v1", "now_s": 10, "gpu_types": [{"id": "A"}], "nodes": [{"id": "n", "gpu_type": "A", "gpus": 4}],)"
      R"( "jobs": [{"id": "j", "submit_s": 0, "gpus": 1}]})");
}

std::string refusal(const std::string& deltas) {
  ClusterState state = one_node();
  const std::string before = io::to_json(state.snapshot());
  const std::string said =
      test::problem_of([&] { io::apply_json(state, R"({"schema": "berth.deltas.v1", "deltas": [)" + deltas + "]}", "d.json"); });
  if (said != "no error") {
    EXPECT_EQ(io::to_json(state.snapshot()), before);
  }
  return said;
}

}  // namespace

TEST(Deltas, AreAppliedInTheirOrder) {
  ClusterState state = one_node();

  const std::uint64_t revision = io::apply_json(state, R"({"schema": "berth.deltas.v1", "deltas": [
    {"op": "set_time", "now_s": 12.5},
    {"op": "put_job", "job": {"id": "k", "submit_s": 11, "gpus": {"min": 1, "max": 4, "step": "node"}}},
    {"op": "start_job", "job": "k", "allocation": {"shape": "4", "entries": [{"node": "n", "gpus": [0, 1, 2, 3]}]}},
    {"op": "remove_job", "job": "j"}]})");

  EXPECT_EQ(revision, 2u);
  EXPECT_EQ(state.now(), 12'500'000);
  EXPECT_EQ(state.find_job("j"), -1);
  EXPECT_EQ(state.job(state.find_job("k"))->state, JobState::kRunning);
}

TEST(Deltas, AStartIsOfTheJobAsTheBatchPutItLast) {
  ClusterState state = one_node();
  const auto put = [](int members, int gpus_per_member) {
    return R"({"op": "put_job", "job": {"id": "k", "submit_s": 9, "shapes": [{"id": "s", "gpus": 4, "groups": [{"name": "g", "members": )" +
           std::to_string(members) + R"(, "gpus_per_member": )" + std::to_string(gpus_per_member) + "}]}]}},\n";
  };
  const std::string start = R"({"op": "start_job", "job": "k", "allocation": {"shape": "s", "entries": [)"
                            R"({"group": "g", "node": "n", "gpus": [0, 1]}, {"group": "g", "node": "n", "gpus": [2, 3]}]}})";

  io::apply_json(state, R"({"schema": "berth.deltas.v1", "deltas": [)" + put(4, 1) + put(2, 2) + start + "]}");

  EXPECT_EQ(state.job(state.find_job("k"))->allocation.entries.at(1).member, 1);
}

TEST(Deltas, ThatNameNothingAreRefused) {
  EXPECT_EQ(refusal(R"({"op": "stop_job", "job": "x"})"), "d.json:1: /deltas/0/job: no job 'x'");
  EXPECT_EQ(refusal("{\"op\": \"set_time\", \"now_s\": 11},\n{\"op\": \"remove_node\", \"node\": \"m\"}"),
            "d.json:2: /deltas/1/node: no node 'm'");
  EXPECT_EQ(refusal(R"({"op": "set_gpu_state", "node": "n", "index": 4, "state": "failed"})"),
            "d.json:1: /deltas/0/index: node 'n' has no GPU 4");
}

TEST(Deltas, OfUnknownKindsAndStatesAreRefused) {
  EXPECT_EQ(refusal(R"({"op": "stop"})"),
            "d.json:1: /deltas/0: the op 'stop' is none of: set_time, put_job, remove_job, start_job, stop_job, set_progress, put_node, "
            "remove_node, set_node_state, set_gpu_state, put_queue, put_reservation, remove_reservation");
  EXPECT_EQ(refusal(R"({"op": "set_node_state", "node": "n", "state": "gone"})"),
            "d.json:1: /deltas/0: the state 'gone' is none of: ready, drain, failed, spare, releasing");
}

TEST(Deltas, NeedTheirFieldsAndNoOthers) {
  EXPECT_EQ(refusal(R"({"op": "set_time"})"), "d.json:1: /deltas/0: 'set_time' needs the field 'now_s'");
  EXPECT_EQ(refusal(R"({"op": "stop_job", "job": "j", "status": "x"})"), "d.json:1: /deltas/0: 'stop_job' takes no field 'status'");
  EXPECT_EQ(refusal(R"({"op": "put_job", "job": "j"})"), "d.json:1: /deltas/0: 'put_job' needs 'job' as an object");
  EXPECT_EQ(refusal(R"({"op": "stop_job", "job": {"id": "j", "submit_s": 0, "gpus": 1}})"),
            "d.json:1: /deltas/0: 'stop_job' needs an id, which is not empty");
  EXPECT_EQ(refusal(R"({"op": "remove_job", "job": ""})"), "d.json:1: /deltas/0: 'remove_job' needs an id, which is not empty");
  EXPECT_EQ(refusal(R"({"op": "set_time", "now_s": 11, "now": 12})"), "d.json:1: /deltas/0/now: unknown field 'now'");
}

TEST(Deltas, OfAJobAreCheckedAsInASnapshot) {
  EXPECT_EQ(refusal(R"({"op": "put_job", "job": {"id": "k", "submit_s": 11, "gpus": 1, "queue": "q"}})"),
            "d.json:1: /deltas/0/job/queue: there is no queue 'q'");
  EXPECT_EQ(refusal(R"({"op": "set_time", "now_s": 9})"), "d.json:1: /deltas/0/now_s: time goes backwards");
}

}  // namespace berth::io_deltas_test
