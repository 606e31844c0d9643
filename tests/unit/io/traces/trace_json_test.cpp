#include "host/io/traces/trace_json.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::io::trace_json_test {
namespace {

/// A trace whose only job is this JSON object.
std::string with_job(const std::string& job) { return R"({"schema":"berth.trace.v1","jobs":[)" + job + "]}"; }

/// The error text after the name.
std::string problem(const std::string& json) {
  try {
    parse_trace(json, "f");
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST(TraceJson, EveryFieldReadsBack) {
  Trace trace;
  trace.name = "name \"quoted\"";
  trace.source = "source";
  trace.origin_iso = "2020-03-18T04:01:39";
  trace.notes = {"one", "two\n"};
  trace.dropped = {{"gpus <= 0", 7}};
  trace.x = {{"x_mine", R"({"a": [1, 2.50]})"}};
  trace.jobs.resize(3);
  trace.jobs[0].id = "plain";
  trace.jobs[0].run_us = 1;
  TraceJob& job = trace.jobs[1];
  job.id = "full";
  job.user = "u";
  job.virtual_cluster = "v";
  job.queue = "q";
  job.model = "m";
  job.status = "failed";
  job.gpu_type = "g";
  job.submit_us = 9'007'199'254'740'993;  // beyond the precision of a double
  job.run_us = kMaxTimeUs;
  job.deadline_us = 3'000'000;
  job.deadline_hard = true;
  job.deadline_value = -5;
  job.priority = -3;
  job.preemption_class = -7;
  job.grace_us = 7'500'000;
  job.longest_wait = {{{TopologyKind::kSwitch, "rack"}, 7'000'000}, {{TopologyKind::kPower, "feed"}, 0}};
  job.weight_ppm = 1'500'000;
  job.profile = "p/1";
  job.work = 12'345'678;
  job.phases = {{1, "p/1", 0, 1}, {12'345'677, "unused", INT32_MAX, 90'499'999}};
  job.elastic = true;
  job.time_limit_us = 1;
  job.gpus = kMaxGpusPerJob;
  job.batch = 32;
  job.cpu_milli = 1'500;
  job.memory_bytes = kMaxBytes;
  job.epochs_micro = 90'500'000;
  job.dataset_size = 1'281'167;
  job.clamped = true;
  job.x = {{"x_row", "17"}};

  // A job with shapes has no phases. The order is by (submit, id).
  TraceJob& shaped = trace.jobs[2];
  shaped.id = "shaped";
  shaped.submit_us = job.submit_us;
  shaped.deadline_us = job.submit_us;
  shaped.deadline_value = 3;
  shaped.deadline_later = {{job.submit_us + 1, 2}, {job.submit_us + 1'500'000, 1}};
  shaped.run_us = 1;
  shaped.gpus = 13;
  Group root, leaf, one;
  root.name = "root";
  root.members_min = root.members_want = root.members_max = 0;
  leaf.name = "leaf";
  leaf.parent = "root";
  leaf.role = "stage";
  leaf.members_min = 2, leaf.members_want = 3, leaf.members_max = 4;
  leaf.gpus_per_member = 4;
  leaf.segment = Segment{2, {TopologyKind::kNvlink, "nvl"}};
  leaf.require = LevelRef{TopologyKind::kSite, "hall"};
  leaf.prefer = LevelRef{TopologyKind::kPower, "busway"};
  leaf.spread = berth::Spread{{TopologyKind::kFault, "pdu"}, 2};
  leaf.spares = 1;  // 3 members and a spare are two segments
  leaf.communication = {{CommKind::kDp, "", 100, CommAlgorithm::kSharded}, {CommKind::kPp, "one", 200}};
  one.name = "one";
  shaped.shapes.resize(2);
  shaped.shapes[0] = {"tree", "g", 13, kWholeGpu, 2, 3, 4, 5, "mig", {root, leaf, one}};
  shaped.shapes[0].groups[2].share_ppm = 500'000;
  shaped.shapes[1].id = "flat";
  shaped.shapes[1].share_ppm = 250'000;

  const Profile profile{ProfileKind::kTable,
                        "m",
                        "steps",
                        {{"K80", 1, 0, "node", 1}, {"", 2, 4, "", 2'500'000}},
                        {{{"K80", 10, 20}}, 30, 4'500, 500'000},
                        1'000,
                        {500, 1'000},
                        900'000,
                        100'000,
                        {{"other", 0}}};
  Profile other;
  other.unit = "steps";
  trace.profiles = {{"p/1", profile}, {"unused", other}};

  EXPECT_EQ(parse_trace(to_json(trace)), trace);
  // A field that is new in a table must be set above.
  EXPECT_EQ(test::unused_fields(to_json(trace), trace_schema()), "/jobs/groups");  // short for a shape
  EXPECT_EQ(test::schema_fault(to_json(trace), trace_schema()), "");
}

TEST(TraceJson, ProfilesMayStandBehindTheJobsThatNameThem) {
  const Trace trace =
      parse_trace(R"({"schema":"berth.trace.v1","jobs":[{"id":"a","submit_s":0,"run_s":1,"gpus":1,"profile":"p","work":0.5}],)"
                  R"("profiles":{"q":{},"p":{"kind":"table","points":[{"gpus":1,"rate":0.5}]}}})");

  EXPECT_EQ(trace.profiles[0].first, "p");  // by name
  ASSERT_NE(find_profile(trace, "p"), nullptr);
  EXPECT_EQ(find_profile(trace, "p")->points.at(0).rate, 500'000);
  EXPECT_EQ(trace.jobs[0].work, 500'000);
}

TEST(TraceJson, LaterStepsOfADeadlineRoundTripAndAreChecked) {
  const std::string row = R"({"id":"a","submit_s":0,"run_s":1,"gpus":1,"deadline_s":5,"deadline_value":3,"deadline_later":[)";
  const std::string good = with_job(row + R"({"at_s":7.5,"value":2},{"at_s":9,"value":1}]})");
  const Trace trace = parse_trace(good, "f");
  EXPECT_EQ(trace.jobs.at(0).deadline_later, (std::vector<DeadlineStep>{{7'500'000, 2}, {9'000'000, 1}}));
  EXPECT_EQ(parse_trace(to_json(trace)), trace);
  EXPECT_NE(problem(with_job(row + R"({"at_s":5,"value":2}]})")).find("/jobs/0/deadline_later/0/at_s: steps ascend"), std::string::npos);
  EXPECT_NE(problem(with_job(row + R"({"at_s":6,"value":3}]})")).find("/jobs/0/deadline_later/0/value: values fall"), std::string::npos);
  EXPECT_NE(problem(with_job(R"({"id":"a","submit_s":0,"run_s":1,"gpus":1,"deadline_later":[{"at_s":6,"value":3}]})"))
                .find("a deadline without 'deadline_s'"),
            std::string::npos);
}

TEST(TraceJson, WhatAProfileOrADeadlineWouldHaveToExplainIsRefusedAlone) {
  const std::string row = R"({"id":"a","submit_s":0,"run_s":1,"gpus":1,)";
  EXPECT_NE(problem(with_job(row + R"("profile":"p"})")).find("f:1: /jobs/0/profile: the profile 'p' is not among 'profiles'"),
            std::string::npos)
      << problem(with_job(row + R"("profile":"p"})"));
  for (const char* bad : {R"("work":1})", R"("elastic":true})", R"("deadline_hard":true})", R"("deadline_value":1})", R"("weight":0})",
                          R"("priority":2147483648})", R"("preemption_class":2147483648})", R"("preemption_class":0.5})"}) {
    EXPECT_NE(problem(with_job(row + bad)), "no error") << bad;
  }
  const std::string head = R"({"schema":"berth.trace.v1","jobs":[],"profiles":)";
  EXPECT_NE(problem(head + "{\n\"a/b\":{\"kind\":\"table\"}}}").find("f:2: /profiles/a~1b/points: a table needs at least one point"),
            std::string::npos)
      << problem(head + "{\n\"a/b\":{\"kind\":\"table\"}}}");
  for (const char* bad : {R"({"":{}}})", R"({"a":{},"a":{}}})", R"({"a":{"kind":"table","points":[{"gpus":1,"rate":0}]}}})", "[]}"}) {
    EXPECT_NE(problem(head + bad), "no error") << bad;
  }
}

TEST(TraceJson, PhasesStandInTheirOrderWithinTheWork) {
  const auto with_phases = [](const std::string& job, const std::string& phases) {
    return R"({"schema":"berth.trace.v1","profiles":{"p":{"unit":"steps"},"q":{"unit":"steps"},"s":{}},"jobs":[)"
           "\n"
           R"({"id":"a","submit_s":0,"run_s":1,"gpus":1)" +
           job + R"(,"phases":[)" + phases + "]}]}";
  };
  const std::string whole = R"(,"profile":"p","work":10)";
  const auto bad = [&](const std::string& phases) { return problem(with_phases(whole, phases)); };

  EXPECT_EQ(parse_trace(with_phases(whole, R"({"from":2.5,"profile":"q","batch":8},{"from":9.999999,"profile":"p"})")).jobs[0].phases,
            (std::vector<TracePhase>{{2'500'000, "q", 8}, {9'999'999, "p", 0}}));
  EXPECT_EQ(bad(R"({"from":5,"profile":"q"},{"from":5,"profile":"p"})"), "f:2: /jobs/0: phase 2 begins at 5, not behind 5");
  EXPECT_EQ(bad(R"({"from":0,"profile":"q"})"), "f:2: /jobs/0: phase 1 begins at 0, not behind 0");
  EXPECT_EQ(bad(R"({"from":10,"profile":"q"})"), "f:2: /jobs/0: phase 1 begins at 10, and the work ends at 10");
  EXPECT_EQ(bad(R"({"from":1,"profile":""})"), "f:2: /jobs/0: phase 1 names no profile");
  EXPECT_EQ(bad(R"({"from":1,"profile":"q"},{"from":2,"profile":"r"})"),
            "f:2: /jobs/0/phases/1/profile: the profile 'r' is not among 'profiles'");
  EXPECT_EQ(bad(R"({"from":1,"profile":"s"})"),
            "f:2: /jobs/0/phases/0/profile: the profile 's' counts in s, and the job's own 'p' in steps");
  EXPECT_NE(bad(R"({"from":1})").find("/jobs/0/phases/0: the field 'profile' is missing"), std::string::npos) << bad(R"({"from":1})");
  EXPECT_NE(problem(with_phases(R"(,"profile":"p")", R"({"from":1,"profile":"q"})")).find("the job states no 'work'"), std::string::npos);
  std::string many;
  for (int k = 1; k <= kMaxPhases + 1; ++k)
    many += (k == 1 ? "" : ",") + std::string(R"({"from":0.00)") + std::to_string(1'000 + k) + R"(,"profile":"q"})";
  EXPECT_NE(bad(many).find("more than 1000 phases"), std::string::npos) << bad(many);
}

TEST(TraceJson, AnEmptyTraceReadsBack) { EXPECT_EQ(parse_trace(to_json(Trace{})), Trace{}); }

TEST(TraceJson, OrderOfRowsDoesNotMatter) {
  const std::string a = R"({"id":"a","submit_s":2,"run_s":1,"gpus":1})", b = R"({"id":"b","submit_s":1,"run_s":1,"gpus":1})",
                    c = R"({"id":"c","submit_s":1,"run_s":1,"gpus":1})";

  const Trace trace = parse_trace(with_job(a + "," + c + "," + b));

  EXPECT_EQ(trace, parse_trace(with_job(b + "," + a + "," + c)));
  EXPECT_EQ(trace.jobs[0].id, "b");
}

TEST(TraceJson, BadInputNamesItsPlace) {
  EXPECT_NE(problem(with_job("{\"id\":\"a\",\"submit_s\":0,\n\"run_s\":0.0000001,\"gpus\":1}")).find("f:2: /jobs/0/run_s: "),
            std::string::npos);
  EXPECT_NE(problem(with_job(R"({"id":"a","submit_s":0,"run_s":1})")).find("the field 'gpus' is missing"), std::string::npos);
  EXPECT_NE(problem(with_job(R"({"id":"a","submit_s":0,"run_s":1,"gpus":1,"gpu":1})")).find("unknown field 'gpu'"), std::string::npos);
  for (const char* bad :
       {R"({"id":"a","submit_s":0,"run_s":0,"gpus":1})", R"({"id":"a","submit_s":-1,"run_s":1,"gpus":1})",
        R"({"id":"","submit_s":0,"run_s":1,"gpus":1})", R"({"id":"a","submit_s":0,"run_s":1,"gpus":0})",
        R"({"id":"a","submit_s":0,"run_s":1,"gpus":9223372036854775808})", R"({"id":"a\u0007","submit_s":0,"run_s":1,"gpus":1})",
        R"({"id":"a","submit_s":0,"run_s":1e400,"gpus":1})", R"({"id":"a","submit_s":0,"run_s":NaN,"gpus":1})",
        R"({"id":"a","submit_s":0,"run_s":1,"gpus":1,"gpus":1})", R"({"id":"a","submit_s":0,"run_s":1,"gpus":1,"memory_bytes":-1})",
        R"({"id":"a","submit_s":0,"run_s":1,"gpus":1},{"id":"a","submit_s":1,"run_s":1,"gpus":1})"}) {
    EXPECT_NE(problem(with_job(bad)), "no error") << bad;
  }
  for (const char* bad :
       {"", "[]", R"({"schema":"berth.trace.v2","jobs":[]})", R"({"jobs":[]})", R"({"schema":"berth.trace.v1"})",
        R"({"schema":"berth.trace.v1","jobs":[]} x)", R"({"schema":"berth.trace.v1","jobs":[],"origin":"2020-03-18T04:01:39Z"})",
        R"({"schema":"berth.trace.v1","jobs":[)"}) {
    EXPECT_NE(problem(bad), "no error") << bad;
  }
}

}  // namespace berth::io::trace_json_test
