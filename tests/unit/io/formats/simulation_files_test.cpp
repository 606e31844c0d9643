// berth.overheads.v1 and berth.events.v1: their meaning, and errors with their location.

#include "host/io/formats/simulation_files.hpp"

#include <gtest/gtest.h>

#include "tests/support/problem_of.hpp"

namespace berth::io::simulation_files_test {
namespace {

std::string wrong_overheads(const std::string& fields) {
  return test::problem_of([&] { parse_overheads(R"({"schema": "berth.overheads.v1", )" + fields + "}", "o"); });
}

std::string wrong_event(const std::string& fields) {
  return test::problem_of([&] { parse_events(R"({"schema": "berth.events.v1", "events": [{)" + fields + "}]}", "e"); });
}

}  // namespace

TEST(Overheads, AreByModel) {
  const Overheads read = parse_overheads(R"({"schema": "berth.overheads.v1", "name": "n", "x_by": "us",
    "default": {"costs": {"restart_s": 30}},
    "models": {"resnet": {"start_s": 1.5, "costs": {"checkpoint": {"every_s": 60, "save_s": 2, "restore_s": 3}, "scale_s": 4, "migrate_s": 5}}, "bert": {}}})");

  EXPECT_EQ(read.name, "n");
  EXPECT_EQ(read.x.size(), 1u);
  EXPECT_EQ(read.of("unknown").costs.restart_us, 30 * kSecond);
  EXPECT_EQ(read.of("bert").costs, Costs{});
  EXPECT_EQ(read.of("resnet"), (ModelOverheads{1'500'000, {0, 60 * kSecond, 2 * kSecond, 3 * kSecond, 4 * kSecond, 5 * kSecond}}));
}

TEST(Overheads, SayWhatIsWrongWithThem) {
  EXPECT_EQ(wrong_overheads(R"("default": {"start_s": -1})"), "o:1: /default/start_s: -1 is not within 0 to 288230376151.711744");
  EXPECT_EQ(wrong_overheads(R"("models": {"a": {}, "a": {}})"), "o:1: /models/a: duplicate model 'a'");
  EXPECT_EQ(wrong_overheads(R"("models": {"": {}})"), "o:1: /models/: a model needs a name");
  EXPECT_EQ(wrong_overheads(R"("default": {"costs": {"checkpoint": {"every_s": 5, "save_s": 6}}})"),
            "o:1: /default: saving takes longer than the time between saves");
  EXPECT_EQ(wrong_overheads(R"("default": {"costs": {"checkpoint": {"save_s": 6}}})"), "no error");
  EXPECT_EQ(test::problem_of([] { parse_overheads(R"({"schema": "berth.events.v1"})", "o"); }),
            "o:1: /schema: this reader knows the schema \"berth.overheads.v1\", not \"berth.events.v1\"");
}

TEST(Events, StandByTimeAndThenAsTheyCome) {
  const EventsDocument document = parse_events(R"({"schema": "berth.events.v1", "events": [
    {"at_s": 5, "event": "drain", "node": "b", "until_s": 9},
    {"at_s": 5, "event": "reclaim", "node": "a", "notice_s": 2.5},
    {"at_s": 1, "event": "fail", "node": "a", "gpu": 3},
    {"at_s": 6, "event": "kill", "job": "j"}]})");
  const ClusterEvents& read = document.cluster;

  ASSERT_EQ(read.events.size(), 4u);
  EXPECT_EQ(read.events[0], (ClusterEvent{kSecond, ClusterEvent::What::kFail, "a", 3, "", kNever, 0}));
  EXPECT_EQ(read.events[1], (ClusterEvent{5 * kSecond, ClusterEvent::What::kDrain, "b", -1, "", 9 * kSecond, 0}));
  EXPECT_EQ(read.events[2], (ClusterEvent{5 * kSecond, ClusterEvent::What::kReclaim, "a", -1, "", kNever, 2'500'000}));
  EXPECT_EQ(read.events[3], (ClusterEvent{6 * kSecond, ClusterEvent::What::kKill, "", -1, "j", kNever, 0}));
}

TEST(Events, SayWhatIsWrongWithThem) {
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "melt", "node": "a")"),
            "e:1: /events/0/event: \"melt\" is none of: fail, drain, reclaim, kill, quota");
  EXPECT_EQ(wrong_event(R"("event": "fail", "node": "a")"), "e:1: /events/0: the field 'at_s' is missing");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "kill", "node": "a")"), "e:1: /events/0: 'job' belongs to 'kill', which needs it");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "fail")"), "e:1: /events/0: 'node' belongs to 'fail', 'drain' and 'reclaim', which need it");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "kill", "job": "j", "node": "a")"),
            "e:1: /events/0: 'node' belongs to 'fail', 'drain' and 'reclaim', which need it");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "drain", "node": "a", "gpu": 1)"), "e:1: /events/0: 'gpu' belongs to 'fail'");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "drain", "node": "a", "notice_s": 1)"), "e:1: /events/0: 'notice_s' belongs to 'reclaim'");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "fail", "node": "a", "until_s": 1)"),
            "e:1: /events/0: 'until_s' lies before 'at_s', or at the same time");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "kill", "job": "a", "until_s": 3)"),
            "e:1: /events/0: a job that was killed does not come back: 'until_s' belongs to nodes and GPUs");
}

TEST(Events, OfQueuesStandByTimeWithTheirPositions) {
  const EventsDocument read = parse_events(R"({"schema": "berth.events.v1", "name": "n", "x_by": "us", "events": [
    {"at_s": 7, "event": "quota", "queue": {"id": "b"}},
    {"at_s": 6, "event": "kill", "job": "j"},
    {"at_s": 5, "event": "quota", "queue": {"id": "a", "parent": "b", "weight": 2, "quotas": [{"gpu_type": "*", "guarantee": 3}]}}]})",
                                           "e");

  EXPECT_EQ(read.cluster.name, "n");
  EXPECT_EQ(read.cluster.x.size(), 1u);
  EXPECT_EQ(read.cluster.events.size(), 1u);
  const core::QueueChange a{5 * kSecond, {"a", "b", 2'000'000, {{"*", 3, kUnlimited, kUnlimited}}, {}}, 2};
  EXPECT_EQ(read.queues, (core::QueueChanges{"e", {a, {7 * kSecond, {"b", "", 1'000'000, {}, {}}, 0}}}));
}

TEST(Events, OfQueuesSayWhatIsWrongWithThem) {
  const std::string quota = R"("at_s": 1, "event": "quota")", queue = R"(, "queue": {"id": "a"})";
  EXPECT_EQ(wrong_event(quota + queue), "no error");
  EXPECT_EQ(wrong_event(quota), "e:1: /events/0: 'queue' belongs to 'quota', which needs it");
  EXPECT_EQ(wrong_event(R"("at_s": 1, "event": "drain", "node": "a")" + queue),
            "e:1: /events/0: 'queue' belongs to 'quota', which needs it");
  EXPECT_EQ(wrong_event(quota + queue + R"(, "node": "a")"),
            "e:1: /events/0: 'node' belongs to 'fail', 'drain' and 'reclaim', which need it");
  EXPECT_EQ(wrong_event(quota + queue + R"(, "job": "a")"), "e:1: /events/0: 'job' belongs to 'kill', which needs it");
  EXPECT_EQ(wrong_event(quota + queue + R"(, "gpu": 1)"), "e:1: /events/0: 'gpu' belongs to 'fail'");
  EXPECT_EQ(wrong_event(quota + queue + R"(, "notice_s": 1)"), "e:1: /events/0: 'notice_s' belongs to 'reclaim'");
  EXPECT_EQ(wrong_event(quota + queue + R"(, "until_s": 5)"),
            "e:1: /events/0: a queue stays as it is until another event changes it: 'until_s' belongs to nodes and GPUs");
  EXPECT_EQ(wrong_event(quota + R"(, "queue": {"id": "a", "weight": 0})"),
            "e:1: /events/0/queue/weight: 0 is not within 0.000001 to 4611686018427.387904");
  EXPECT_EQ(wrong_event(quota + R"(, "queue": {"parent": "a"})"), "e:1: /events/0/queue: the field 'id' is missing");
}

}  // namespace berth::io::simulation_files_test
