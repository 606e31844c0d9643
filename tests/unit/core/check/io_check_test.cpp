// Snapshots with well-formed fields that contradict each other.
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/io/formats/io_support.hpp"

namespace berth::io::io_check_test {
namespace {

std::string cluster(const std::string& fields, const std::string& jobs = "") {
  return "{\"schema\": \"berth.snapshot.v1\", \"now_s\": 100,\n\"gpu_types\": [{\"id\": \"A\"}],\n" + fields + ",\n\"jobs\": [" + jobs +
         "]}\n";
}

std::string running(const std::string& id, const std::string& entries, const std::string& more = "") {
  return "{\"id\": \"" + id + "\", \"submit_s\": 1, \"state\": \"running\", \"sharing\": true, " +
         "\"shapes\": [{\"id\": \"two\", \"gpus\": 2}, {\"id\": \"half\", \"gpus\": 1, \"share\": 0.5}, {\"id\": \"most\", \"gpus\": 1, "
         "\"share\": 0.6}]" +
         more + ", \"allocation\": {" + entries + "}}";
}

std::string grouped(const std::string& groups, const std::string& gpus = "") {
  return with_jobs("{\"id\": \"g\", \"submit_s\": 1, \"shapes\": [{" + gpus + "\"groups\": [" + groups + "]}]}");
}

TEST(Check, DuplicateIdsNameBothPlaces) {
  expect_refused(with_jobs(job() + ",\n" + job()), 6, "/jobs/1/id", "'j0' is the id of /jobs/0 too");
  expect_refused(
      cluster("\"nodes\": [{\"id\": \"n\", \"gpu_type\": \"A\", \"gpus\": 1},\n{\"id\": \"n\", \"gpu_type\": \"A\", \"gpus\": 1}]"), 4,
      "/nodes/1/id", "'n' is the id of /nodes/0 too");
}

TEST(Check, ATreeOfGroupsIsAtMostEightDeep) {
  std::string groups = R"({"name": "g0", "members": 0})";
  for (int depth = 1; depth < 9; ++depth) {
    groups += ",\n{\"name\": \"g" + std::to_string(depth) + "\", \"parent\": \"g" + std::to_string(depth - 1) + "\", \"members\": 1}";
  }

  expect_refused(grouped(groups), 13, "/jobs/0/shapes/0/groups/8/parent", "9 levels deep");
}

TEST(Check, DanglingReferencesAreRefused) {
  expect_refused(with_jobs(job(R"(, "queue": "nowhere")")), 5, "/jobs/0/queue", "'nowhere'");
  expect_refused(with_jobs(R"({"id": "j", "submit_s": 1, "gpus": 1, "types": ["B"]})"), 5, "/jobs/0/shapes/0/gpu_type", "'B'");
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "B", "gpus": 1}])"), 3, "/nodes/0/gpu_type", "'B'");
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 1, "domains": {"power": "p"}}])"), 3, "/nodes/0/domains/power",
                 "'p'");
  expect_refused(cluster(R"("nodes": [], "queues": [{"id": "q", "parent": "r"}])"), 3, "/queues/0/parent", "'r'");
  expect_refused(cluster(R"("nodes": [], "reservations": [{"id": "q", "nodes": ["r"]}])"), 3, "/reservations/0/nodes/0", "'r'");
  expect_refused(grouped(R"({"name": "a", "require": "rack"})"), 5, "/jobs/0/shapes/0/groups/0/require", "no level 'rack'");
}

TEST(Check, LaterStepsOfADeadlineAscendAndTheirValuesFall) {
  const auto due = [](const std::string& steps, const std::string& first = R"("at_s": 50, "value": 10)") {
    return with_jobs(R"({"id": "j", "submit_s": 40, "gpus": 1, "deadline": {)" + first + R"(, "later": [)" + steps + "]}}");
  };
  const std::string later = "/jobs/0/deadline/later";
  EXPECT_NO_THROW((void)parse_snapshot(due(R"({"at_s": 60, "value": 8}, {"at_s": 70.5, "value": 1})"), "f.json"));
  expect_refused(due(R"({"at_s": 50, "value": 8})"), 5, later + "/0/at_s", "steps ascend: each is later than the one before");
  expect_refused(due(R"({"at_s": 60, "value": 8}, {"at_s": 55, "value": 5})"), 5, later + "/1/at_s", "steps ascend");
  expect_refused(due(R"({"at_s": 60, "value": 10})"), 5, later + "/0/value", "values fall: each is less than the one before");
  expect_refused(due(R"({"at_s": 60, "value": 0})"), 5, later + "/0/value", "1");
  expect_refused(due(R"({"at_s": 60, "value": 8})", R"("at_s": 50, "hard": true, "value": 10)"), 5, later,
                 "a hard deadline has no later steps: the job is useless after it");
  expect_refused(due(R"({"at_s": 30, "value": 8})", R"("at_s": 20, "value": 10)"), 5, later + "/0/at_s",
                 "it is before the job's submission");
  expect_refused(due(R"({"at_s": 99999999999999, "value": 8})"), 5, later + "/0/at_s", "");
  std::string many;
  for (int i = 0; i <= kMaxLaterSteps; ++i)
    many += (i > 0 ? ", " : "") + std::string(R"({"at_s": )") + std::to_string(60 + i) + R"(, "value": )" + std::to_string(99 - i) + "}";
  expect_refused(due(many, R"("at_s": 50, "value": 100)"), 5, later, "17 later steps are more than 16");
}

// As with required nodes: nodes come and go.
TEST(Check, AVirtualClusterNeedsNoNode) {
  EXPECT_NO_THROW((void)parse_snapshot(
      cluster(R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 1, "virtual_clusters": ["a"]}])", job(R"(, "virtual_cluster": "b")")),
      "f.json"));
}

TEST(Check, CyclesAreRefused) {
  expect_refused(cluster(R"("nodes": [], "queues": [{"id": "a", "parent": "b"}, {"id": "b", "parent": "a"}])"), 3, "/queues/0/parent",
                 "own ancestor");
  expect_refused(cluster(R"("nodes": [], "queues": [{"id": "a", "parent": "a"}])"), 3, "/queues/0/parent", "own ancestor");
  expect_refused(cluster(R"("nodes": [], "domains": [{"id": "a", "level": "x", "parent": "b"}, {"id": "b", "level": "y", "parent": "a"}])"),
                 3, "/domains/0/parent", "'b'");
  expect_refused(grouped(R"({"name": "a", "parent": "b"}, {"name": "b", "parent": "a"})"), 5, "/jobs/0/shapes/0/groups/0/parent",
                 "own ancestor");
}

TEST(Check, LevelsFormOneChain) {
  expect_refused(cluster(R"("nodes": [], "domains": [{"id": "a", "level": "x"}, {"id": "b", "level": "x", "parent": "a"}])"), 3, "/domains",
                 "'x' of topology switch lies above itself");
  expect_refused(cluster(R"("nodes": [], "domains": [{"id": "a", "level": "x"}, {"id": "b", "level": "y"}])"), 3, "/domains",
                 "have no order");
  EXPECT_NO_THROW((void)parse_snapshot(
      cluster(
          R"("nodes": [], "domains": [{"id": "a", "level": "x"}, {"id": "b", "level": "y", "parent": "a"}, {"id": "c", "level": "y"}])"),
      "f.json"));
}

TEST(Check, AGangOfZeroIsRefused) {
  expect_refused(with_jobs(R"({"id": "g", "submit_s": 1, "shapes": [{"gpus": 0}]})"), 5, "/jobs/0/shapes/0/gpus", "0 is not within 1");
  expect_refused(grouped(R"({"name": "a", "members": 0})"), 5, "/jobs/0/shapes/0/groups/0/members", "gang without members");
  expect_refused(grouped(R"({"name": "a", "members": {"min": 0, "want": 2}})"), 5, "/jobs/0/shapes/0/groups",
                 "the least form would be a gang without members");
}

TEST(Check, GroupsAgreeWithTheirShape) {
  expect_refused(grouped(R"({"name": "a", "members": 3, "gpus_per_member": 2})", "\"gpus\": 8, "), 5, "/jobs/0/shapes/0/gpus",
                 "add up to 6 GPUs, not to 8");
  expect_refused(grouped(R"({"name": "a", "members": 3, "segment": {"size": 2, "level": "node"}})"), 5,
                 "/jobs/0/shapes/0/groups/0/segment/size", "2 does not divide the 3");
  expect_refused(grouped(R"({"name": "a", "members": {"min": 4, "want": 3}})"), 5, "/jobs/0/shapes/0/groups/0/members/min", "4");
  expect_refused(grouped(R"({"name": "a"}, {"name": "a"})"), 5, "/jobs/0/shapes/0/groups/1/name", "'a'");
  EXPECT_NO_THROW(
      (void)parse_snapshot(grouped(R"({"name": "a", "members": 3, "spares": 1, "segment": {"size": 2, "level": "node"}})"), "f.json"));
}

TEST(Check, AGpuHeldTwiceIsRefused) {
  const std::string two = R"("shape": "two", "entries": [{"node": "n0", "gpus": [3, 4]}])";
  const std::string half = R"("shape": "half", "entries": [{"node": "n0", "gpus": [4], "share": 0.5}])";
  const std::string most = R"("shape": "most", "entries": [{"node": "n0", "gpus": [4], "share": 0.6}])";
  expect_refused(with_jobs(running("a", two) + ",\n" + running("b", two)), 6, "/jobs/1/allocation/entries/0/gpus",
                 "GPU 3 of node 'n0' is held by job 'a'");
  expect_refused(with_jobs(running("a", two) + ",\n" + running("b", half)), 6, "/jobs/1/allocation/entries/0/gpus", "GPU 4 of node 'n0'");
  expect_refused(with_jobs(running("a", half) + ",\n" + running("b", most)), 6, "/jobs/1/allocation/entries/0/gpus",
                 "and others, 0.5 of it in all");
  EXPECT_NO_THROW((void)parse_snapshot(with_jobs(running("a", half) + "," + running("b", half)), "f.json"));
}

TEST(Check, AllocationsFitTheirShape) {
  const auto refused = [](const std::string& allocation, const std::string& pointer, const std::string& part) {
    expect_refused(with_jobs(running("a", allocation)), 5, "/jobs/0/allocation" + pointer, part);
  };
  refused(R"("shape": "none", "entries": [])", "/shape", "job 'a' has no shape 'none'");
  refused(R"("shape": "two", "entries": [{"node": "n0", "gpus": [1]}])", "/entries", "1 GPU, and the shape 'two' has 2");
  refused(R"("shape": "two", "entries": [{"node": "n9", "gpus": [1, 2]}])", "/entries/0/node", "'n9'");
  refused(R"("shape": "two", "entries": [{"node": "n0", "gpus": [7, 8]}])", "/entries/0/gpus", "no GPU 8");
  refused(R"("shape": "two", "entries": [{"node": "n0", "gpus": [2, 1]}])", "/entries/0/gpus", "1 follows 2");
  refused(R"("shape": "two", "entries": [{"node": "n0", "gpus": [1, 2], "share": 0.5}])", "/entries/0/share", "0.5");
  refused(R"("shape": "two", "entries": [{"node": "n0", "gpus": [1, 2], "group": "g"}])", "/entries/0/group", "'g'");
  expect_refused(with_jobs(job(R"(, "allocation": {"shape": "s", "entries": []})")), 5, "/jobs/0/allocation", "holds nothing");
}

TEST(Check, CoresAndMemoryOfANodeAreNotGivenTwice) {
  const std::string two = R"("shape": "two", "entries": [{"node": "n0", "gpus": [0, 1]}])";
  expect_refused(with_jobs(running("a", two, R"(, "constraints": {"cpu_cores_per_gpu": 8.001})")), 5, "/jobs/0/allocation/entries/0/node",
                 "16.002 cores, it has 16 cores");
  expect_refused(with_jobs(running("a", two, R"(, "constraints": {"memory_bytes_per_gpu": 33})")), 5, "/jobs/0/allocation/entries/0/node",
                 "66 bytes");
  const std::string half = R"("shape": "half", "entries": [{"node": "n0", "gpus": [4], "share": 0.5}])";
  const std::string memory = R"(, "constraints": {"gpu_memory_bytes": 501})";
  expect_refused(with_jobs(running("a", half, memory) + ",\n" + running("b", half, memory)), 6, "/jobs/1/allocation/entries/0/gpus",
                 "1002 bytes");
}

TEST(Check, ARunningJobMaySitOnAFailedNode) {
  const std::string node = R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 2, "state": "failed"}])";
  EXPECT_NO_THROW(
      (void)parse_snapshot(cluster(node, running("a", R"("shape": "two", "entries": [{"node": "n", "gpus": [0, 1]}])")), "f.json"));
}

TEST(Check, SharingIsNeededOnBothSides) {
  const std::string half = R"("shape": "half", "entries": [{"node": "n", "gpus": [0], "share": 0.5}])";
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 2}])", running("a", half)), 4,
                 "/jobs/0/allocation/entries/0/share", "'n'");
  expect_refused(with_jobs(R"({"id": "j", "submit_s": 1, "shapes": [{"gpus": 1, "share": 0.5}]})"), 5, "/jobs/0/shapes/0/share", "sharing");
}

TEST(Check, NodesKeepWithinTheirCaps) {
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 65}])"), 3, "/nodes/0/gpus", "65 is not within 0 to 64");
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 1, "memory_bytes": -5}])"), 3, "/nodes/0/memory_bytes", "-5");
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": [{"index": 1}]}])"), 3, "/nodes/0/gpus/0/index",
                 "1 stands where GPU 0 must");
}

// Few keys and many keys are searched in different ways.
TEST(Check, ARepeatedNameIsFoundAmongFewAndAmongMany) {
  for (const int n : {1, 15, 16, 17, 18, 300}) {
    SCOPED_TRACE(n);
    const auto keys = [n](const std::string& prefix, const std::string& value) {
      std::string text;
      for (int i = 0; i < n; ++i) text += "\"" + prefix + std::to_string(i) + "\"" + value + ", ";
      return text;
    };
    const std::string node = R"("nodes": [{"id": "n", "gpu_type": "A", "gpus": 1, )";
    expect_refused(cluster(node + keys("x_", ": 1") + R"("x_0": 2}])"), 3, "/nodes/0/x_0", "duplicate");
    expect_refused(cluster(node + R"("labels": {)" + keys("k", ": \"v\"") + R"("k0": "w"}}])"), 3, "/nodes/0/labels", "duplicate");
    expect_refused(cluster(node + R"("virtual_clusters": [)" + keys("v", "") + R"("v0"]}])"), 3,
                   "/nodes/0/virtual_clusters/" + std::to_string(n), "'v0' is named twice");
    expect_refused(with_jobs(job(R"(, "constraints": {"labels": {)" + keys("k", ": \"v\"") + R"("k0": "w"}})")), 5,
                   "/jobs/0/constraints/labels/k0", "duplicate");
    expect_refused(with_jobs(job(R"(, "profile": {"colocation": {)" + keys("m", ": 1") + R"("m0": 1}})")), 5,
                   "/jobs/0/profile/colocation/m0", "duplicate");
    Snapshot s = parse_snapshot(cluster(node + keys("x_", ": 1") + R"("state": "ready"}])"), "f.json");
    s.nodes[0].x.emplace_back("x_0", "3");
    expect_error([&] { check_snapshot(s, "f.json"); }, 0, "/nodes/0", "duplicate extension 'x_0'");
  }
}

TEST(Check, RangesAreStatedInTheFilesUnits) {
  expect_refused(with_jobs(job(R"(, "weight": 0)")), 5, "/jobs/0/weight", "0 is not within 0.000001 to 4611686018427.387904");
  Snapshot s = parse_snapshot(with_jobs(job()), "f.json");
  s.jobs[0].submit_us = -1'500'000;
  expect_error([&] { check_snapshot(s, "f.json"); }, 0, "/jobs/0/submit_s", "-1.5 is not within 0 to 288230376151.711744");
  s.jobs[0].submit_us = 0;
  s.jobs[0].shapes[0].share_ppm = 1'500'000;
  expect_error([&] { check_snapshot(s, "f.json"); }, 0, "/jobs/0/shapes/0/share", "1.5 is not within 0.000001 to 1");
  s.jobs[0].shapes[0].share_ppm = kWholeGpu;
  s.nodes[0].cpu_milli = -2'500;
  expect_error([&] { check_snapshot(s, "f.json"); }, 0, "/nodes/0/cpu_cores", "-2.5 is not within");
}

TEST(Check, AnErrorOfAMemberNamesItsPlace) {
  const auto refused = [](const std::string& allocation, const std::string& pointer, const std::string& part) {
    expect_refused(with_jobs(running("a", allocation)), 5, "/jobs/0/allocation" + pointer, part);
  };
  refused(R"("shape": "two", "entries": [{"node": "n0", "gpus": [1]}, {"node": "n0", "gpus": [2], "member": 5}])", "/entries/1/member",
          "ranks 5 to 5, and the last rank of the gang is 1");
  refused(R"("shape": "", "entries": [])", "", "job 'a' is running and holds nothing");
  expect_refused(grouped(R"({"name": "a", "members": 100000001})"), 5, "/jobs/0/shapes/0/groups/0/members", "to 100000000");
}

TEST(Check, TheNearestNameIsSaid) {
  expect_refused(cluster(R"("nodes": [], "queues": [{"id": "top"}, {"id": "tops", "parent": "topp"}])"), 3, "/queues/1/parent",
                 "there is no queue 'topp'; did you mean 'top'?");
  expect_refused(cluster(R"("nodes": [{"id": "n", "gpu_type": "B", "gpus": 1}])"), 3, "/nodes/0/gpu_type",
                 "there is no GPU type 'B'; did you mean 'A'?");
}

TEST(Check, ANulInANameIsSaid) {
  expect_refused(with_jobs(job("", "a\\u0000b")), 5, "/jobs/0/id", "this one has a NUL at byte 2");
  expect_refused(with_jobs(job("", "a\\u001bb")), 5, "/jobs/0/id", "this one has U+001B at byte 2");
  expect_refused(with_jobs(job(R"(, "queue": "q\u0000r")")), 5, "/jobs/0/queue", R"(there is no queue 'q\u0000r')");
}

// In millionths of a GPU it would not fit 64 bits.
TEST(Check, AQuotaIsAtMostAMillionMillionGpus) {
  Snapshot s;
  s.queues.resize(1);
  s.queues[0].id = "q";
  s.queues[0].quotas = {{"*", 1'000'000'000'000, 1'000'000'000'000, 1'000'000'000'000}};
  check_snapshot(s, "mine");
  s.queues[0].quotas[0].guarantee += 1;
  try {
    check_snapshot(s, "mine");
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "mine: /queues/0/quotas/0/guarantee: 1000000000001 is not within 0 to 1000000000000");
  }
}

TEST(Check, ACallersSnapshotIsCheckedAlike) {
  Snapshot s;
  s.gpu_types = {{"A", -1, 0, 0, 0, {}, {}}};
  try {
    check_snapshot(s, "mine");
    FAIL() << "accepted";
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "mine: /gpu_types/0/memory_bytes: -1 is not within 0 to 72057594037927936");
  }
}

}  // namespace
}  // namespace berth::io::io_check_test
