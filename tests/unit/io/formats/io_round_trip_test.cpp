// A written snapshot reads back equal, whatever its content.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "host/io/formats/schemas.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/unit/io/formats/io_support.hpp"

namespace berth::io::io_round_trip_test {
namespace {

Group full_group(const std::string& name, const std::string& parent) {
  Group g;
  g.name = name;
  g.parent = parent;
  g.role = "decode";
  g.members_min = 1;
  g.members_want = 3;
  g.members_max = 5;
  g.gpus_per_member = 2;
  g.segment = Segment{2, {TopologyKind::kNvlink, "nvl"}};
  g.require = LevelRef{TopologyKind::kFault, "zone"};
  g.prefer = LevelRef{TopologyKind::kPower, "feed"};
  g.spread = Spread{{TopologyKind::kPower, "feed"}, 4};
  g.spares = 1;
  g.communication = {{CommKind::kTp, "", 100, CommAlgorithm::kTree}, {CommKind::kKv, "root", 200}};
  return g;
}

Shape full_shape() {
  Shape s;
  s.id = "big";
  s.gpu_type = "A";
  s.gpus = 6;
  s.local_batch = 32;
  s.learning_rate_pico = 123'456'789;
  s.rate = 12'500'001;
  s.power_mw = 700'500;
  s.mig_profile = "3g.40gb";
  Group root;
  root.name = "root";
  root.members_min = root.members_want = root.members_max = 0;
  s.groups = {root, full_group("leaf", "root")};
  return s;
}

Job full_job() {
  Job j;
  j.id = "j \"quoted\" \\ \xC3\xA9";
  j.user = "u";
  j.tenant = "t";
  j.queue = "child";
  j.virtual_cluster = "vc1";
  j.submit_us = 1;
  j.priority = -7;
  j.weight_ppm = 1'500'000;
  j.kind = JobKind::kService;
  j.state = JobState::kRunning;
  j.time_limit_us = 86'400'000'000;
  j.deadline = {5'000'001, true, -3};
  j.estimate = {4, 5, 6, "user"};
  Shape share;
  share.id = "share";
  share.gpus = 2;
  share.share_ppm = 250'000;
  Shape parts;
  parts.id = "parts";
  parts.gpus = 2;
  Group half;
  half.name = "half";
  half.members_min = half.members_want = half.members_max = 2;
  half.share_ppm = 250'000;
  parts.groups = {half};
  j.shapes = {full_shape(), share, parts};
  j.sharing = true;
  j.constraints.labels = {{"zone", {"b", "a"}}, {"disk", {"ssd"}}};
  j.constraints.required_nodes = {"n0"};
  j.constraints.excluded_nodes = {"gone"};
  j.constraints.cpu_milli_per_gpu = 1'500;
  j.constraints.memory_bytes_per_gpu = 16;
  j.constraints.gpu_memory_bytes = 40;
  j.constraints.longest_wait = {{{TopologyKind::kSwitch, "rack"}, 7}, {{TopologyKind::kPower, "feed"}, 8}};
  j.costs = {1, 2, 3, 4, 5, 6};
  j.preemption = {3, false, 1, 2, 3};
  j.profile = {ProfileKind::kTable,
               "llama",
               "samples",
               {{"A", 2, 32, "rack", 5'000'001}, {"", 1, 0, "", 1}},
               {{{"A", 10, 20}, {"", 1, 0}}, 30, 4'500, 500'000},
               1'000,
               {1, 2'000'000},
               900'000,
               100'000,
               {{"bert", 800'000}}};
  j.progress = {1, 2, 3, 4, 5, -6, -7, 8, 9, 10, 11, 12, {{2, {1, 2'000'000}}, {1, {}}}, 13};
  j.allocation = {"parts", {{"half", 0, "n0", {1, 3}, 250'000, true}}};
  j.lease_end_us = 100;
  j.last_assignment_us = 0;
  j.waiting_since_us = 2;
  j.x = {{"x_note", R"({"a": [1, 2.50, null]})"}};
  return j;
}

// Every field differs from its default.
Snapshot full_snapshot() {
  Snapshot s;
  s.name = "full";
  s.origin_iso = "2020-09-01T00:00:00";
  s.now_us = 99'000'001;
  s.revision = 7;
  s.gpu_types = {{"A", 80, 600, 400'500, 2'500'000, {{"halves", {"3g.40gb", "3g.40gb"}}}, {{"x_a", "1"}}}};
  s.domains = {{"p0", TopologyKind::kSwitch, "pod", "", 400, 5, 2'500'000, 4, {{"x_d", "[ ]"}}},
               {"r0", TopologyKind::kSwitch, "rack", "p0", 0, 0, 1'000'000, 0, {}},
               {"f0", TopologyKind::kPower, "feed", "", 0, 0, 1'000'000, 0, {}},
               {"v0", TopologyKind::kNvlink, "nvl", "", 0, 0, 1'000'000, 0, {}},
               {"z0", TopologyKind::kFault, "zone", "", 0, 0, 1'000'000, 0, {}},
               {"s0", TopologyKind::kSite, "site", "", 0, 0, 1'000'000, 0, {}}};
  Node n;
  n.id = "n0";
  n.gpu_type = "A";
  n.gpus = 4;
  n.gpu_list = {{0, GpuState::kFailed, kNever, 0},
                {1, GpuState::kOk, kNever, 0},
                {2, GpuState::kReleasing, 123'000'000, 1},
                {3, GpuState::kOk, kNever, -1}};
  n.domain = {"p0/r0", "v0", "f0", "z0", "s0"};
  n.cpu_milli = 63'500;
  n.memory_bytes = 1'024;
  n.nics = 8;
  n.nic_bytes_per_s = 50;
  n.labels = {{"disk", "ssd"}, {"zone", "a"}};
  n.virtual_clusters = {"vc1", "vc0"};
  n.sharing = true;
  n.state = NodeState::kDrain;
  n.available_from_us = 1;
  n.available_until_us = 2'000'000;
  n.reclaim_notice_us = 3;
  n.x = {{"x_n", "\"text\""}};
  s.nodes = {n};
  s.queues = {{"child", "root", 250'000, {{"A", 4, 2, 3, 1}, {"*", 0, 0, kUnlimited}}, {{"x_q", "true"}}}, {"root", "", 1'000'000, {}, {}}};
  s.reservations = {{"res", {"n0"}, {{TopologyKind::kPower, "f0"}, {TopologyKind::kSwitch, "p0"}}, 5, 6, {"later"}, {{"x_r", "-0.0"}}}};
  s.jobs = {full_job(), full_job()};
  Job& soft = s.jobs.back();  // a hard deadline has no later steps
  soft.id = "soft";
  soft.state = JobState::kWaiting;
  soft.allocation = {};
  soft.deadline = {5'000'001, false, 4, {{6'000'000, 3}, {6'500'000, 1}}};
  s.history = {{"h", "u", "vc9", 3, 4, 5, "failed"}};
  s.x = {{"x_top", "{}"}};
  return s;
}

TEST(RoundTrip, EveryFieldOfASnapshot) {
  const Snapshot s = full_snapshot();

  EXPECT_EQ(parse_snapshot(to_json(s), "f.json"), s);
}

// A field that is new in a table must be set above; otherwise nothing shows that it is read and written.
TEST(RoundTrip, EveryFieldOfASnapshotIsWritten) {
  const std::string json = to_json(full_snapshot());

  EXPECT_EQ(test::unused_fields(json, snapshot_schema()), "/jobs/gpus /jobs/types");  // short forms are written in full
  EXPECT_EQ(test::schema_fault(json, snapshot_schema()), "");
}

TEST(RoundTrip, WritingIsStable) {
  const std::string once = to_json(full_snapshot());

  EXPECT_EQ(to_json(parse_snapshot(once, "f.json")), once);
}

TEST(RoundTrip, DefaultsAreNotWritten) {
  Snapshot s;
  EXPECT_EQ(to_json(s), "{\"schema\":\"berth.snapshot.v1\",\"now_s\":0,\"gpu_types\":[],\"nodes\":[],\"jobs\":[]}\n");
}

TEST(RoundTrip, ExtensionThatIsNoJsonIsRefused) {
  Snapshot s;
  s.x = {{"x_a", "{"}};
  EXPECT_THROW((void)to_json(s), InvalidArgument);
  s.x = {{"x_a", "1 2"}};
  EXPECT_THROW((void)to_json(s), InvalidArgument);
}

TEST(RoundTrip, NameThatIsNoUtf8IsRefused) {
  Snapshot s;
  s.name = "\xFF";
  EXPECT_THROW((void)to_json(s), InvalidArgument);
}

TEST(RoundTrip, PolicyState) {
  PolicyState s;
  s.policy = "las";
  s.scalars = {{"round", -4}, {"max", INT64_MAX}, {"min", INT64_MIN}};
  s.columns = {{"level", {{"j/1", 2}, {"j\"2", 0}}}, {"empty", {}}};

  EXPECT_EQ(parse_policy_state(to_json(s), "f.json"), s);
  EXPECT_EQ(test::unused_fields(to_json(s), state_schema()), "");
  EXPECT_EQ(test::schema_fault(to_json(s), state_schema()), "");
}

TEST(RoundTrip, PolicyStateOfAnotherVersionIsRefused) {
  expect_error([] { (void)parse_policy_state(R"({"schema": "berth.state.v1", "version": 2, "policy": "x"})", "f.json"); }, 1, "/version",
               "2");
  expect_error(
      [] {
        (void)parse_policy_state(R"({"schema": "berth.state.v1", "version": 1, "policy": "x",
"scalars": {"a": 1.5}})",
                                 "f.json");
      },
      2, "/scalars/a", "1.5");
}

TEST(ShortForms, CountAndTypesBecomeShapes) {
  const Snapshot s = parse_snapshot(with_jobs(R"({"id": "a", "submit_s": 1, "gpus": 4},
{"id": "b", "submit_s": 1, "gpus": {"min": 3, "max": 20, "step": "pow2"}, "types": ["A"]},
{"id": "c", "submit_s": 1, "gpus": {"min": 1, "max": 20, "step": "node"}},
{"id": "d", "submit_s": 1, "gpus": {"min": 2, "max": 3}})"),
                                    "f.json");

  ASSERT_EQ(s.jobs[0].shapes.size(), 1u);
  EXPECT_EQ(s.jobs[0].shapes[0].gpus, 4);
  ASSERT_EQ(s.jobs[1].shapes.size(), 3u);
  EXPECT_EQ(s.jobs[1].shapes[0].id, "16xA");
  EXPECT_EQ(s.jobs[1].shapes[2].gpus, 4);
  EXPECT_EQ(s.jobs[1].shapes[2].gpu_type, "A");
  ASSERT_EQ(s.jobs[2].shapes.size(), 2u);
  EXPECT_EQ(s.jobs[2].shapes[0].gpus, 16);
  ASSERT_EQ(s.jobs[3].shapes.size(), 2u);
  EXPECT_EQ(s.jobs[3].shapes[0].gpus, 3);
}

// The models of ONES (SC'21 artifact).
TEST(ShortForms, BatchAndLearningRateFollowTheGpus) {
  const auto shape = [](std::int32_t gpus, const std::string& rates) {
    const std::string range = fmt::format(R"({{"min": {}, "max": {}, {}}})", gpus, gpus, rates);
    const Snapshot s = parse_snapshot(with_jobs("{\"id\": \"a\", \"submit_s\": 1, \"gpus\": " + range + "}"), "f.json");
    const Shape& only = s.jobs[0].shapes.at(0);
    return std::pair(only.local_batch, only.learning_rate_pico);
  };
  using Rates = std::pair<std::int32_t, std::int64_t>;
  const std::string resnet = R"("local_batch": 256, "learning_rate": 0.005, "max_learning_rate": 0.08)";
  EXPECT_EQ(shape(8, resnet), (Rates{256, 40'000'000'000}));
  EXPECT_EQ(shape(16, resnet), (Rates{256, 80'000'000'000}));
  EXPECT_EQ(shape(24, resnet), (Rates{170, 80'000'000'000}));
  EXPECT_EQ(shape(32, resnet), (Rates{128, 80'000'000'000}));
  EXPECT_EQ(shape(8, R"("local_batch": 16, "learning_rate": 0.000005, "max_learning_rate": 0.00002)"), (Rates{8, 20'000'000}));
  EXPECT_EQ(shape(17, R"("local_batch": 128, "learning_rate": 0.001, "max_learning_rate": 0.016)"), (Rates{120, 16'000'000'000}));
  EXPECT_EQ(shape(7, R"("local_batch": 5, "learning_rate": 0.003, "max_learning_rate": 0.01)"), (Rates{2, 10'000'000'000}));  // 17 samples
  EXPECT_EQ(shape(32, R"("local_batch": 128, "learning_rate": 0.001)"), (Rates{128, 32'000'000'000}));
  EXPECT_EQ(shape(32, R"("local_batch": 128)"), (Rates{128, 0}));
  EXPECT_EQ(shape(32, R"("learning_rate": 0.001, "max_learning_rate": 0.002)"), (Rates{0, 2'000'000'000}));
}

TEST(ShortForms, ImpossibleOnesAreRefused) {
  const auto gpus = [](const std::string& range) { return with_jobs("{\"id\": \"a\", \"submit_s\": 1, \"gpus\": " + range + "}"); };
  expect_refused(gpus(R"({"min": 1, "max": 1000})"), 5, "/jobs/0", "more than 256 shapes");
  expect_refused(gpus(R"({"min": 5, "max": 4})"), 5, "/jobs/0", "min 5 above max 4");
  expect_refused(gpus(R"({"min": 5, "max": 7, "step": "pow2"})"), 5, "/jobs/0", "no power of two");
  expect_refused(gpus(R"({"min": 1, "max": 7, "step": "node"})"), 5, "/jobs/0/gpus", "no multiple of a whole node");
  expect_refused(gpus(R"({"min": 1, "max": 64, "local_batch": 16, "learning_rate": 1, "max_learning_rate": 2})"), 5, "/jobs/0",
                 "a batch of 32 samples, less than one for each of 64 GPUs");
  expect_refused(gpus(R"({"min": 1, "max": 2, "max_learning_rate": 2})"), 5, "/jobs/0", "no 'learning_rate' of at most that");
  expect_refused(gpus(R"({"min": 1, "max": 2, "learning_rate": 3, "max_learning_rate": 2})"), 5, "/jobs/0", "no 'learning_rate' of");
  expect_refused(gpus(R"({"min": 8, "max": 8, "learning_rate": 4000000})"), 5, "/jobs/0", "the learning rate on 8 GPUs is too large");
  expect_refused(gpus("0"), 5, "/jobs/0/gpus", "0 is not within 1");
  expect_refused(with_jobs(job(R"(, "gpus": 1)")), 5, "/jobs/0", "only one of the two forms");
}

TEST(ShortForms, MembersContinueInTheirGroup) {
  const Snapshot s = parse_snapshot(with_jobs(R"({"id": "a", "submit_s": 1, "state": "running", "gpus": 3,
"allocation": {"shape": "3", "entries": [{"node": "n0", "gpus": [0, 1]}, {"node": "n0", "gpus": [4]}]}})"),
                                    "f.json");

  EXPECT_EQ(s.jobs[0].allocation.entries[1].member, 2);
}

}  // namespace
}  // namespace berth::io::io_round_trip_test
