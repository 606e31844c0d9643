#include "host/io/trace_json.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"

namespace berth::io {
namespace {

/// A trace whose only job is this JSON object.
std::string with_job(const std::string& job) { return R"({"schema":"berth.trace.v1","jobs":[)" + job + "]}"; }

/// What the error says behind the name.
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
  trace.jobs.resize(2);
  trace.jobs[0].id = "plain";
  trace.jobs[0].run_us = 1;
  TraceJob& job = trace.jobs[1];
  job.id = "full";
  job.user = "u";
  job.virtual_cluster = "v";
  job.model = "m";
  job.status = "failed";
  job.gpu_type = "g";
  job.submit_us = 9'007'199'254'740'993;  // beyond what a double holds
  job.run_us = kMaxTimeUs;
  job.deadline_us = 3'000'000;
  job.time_limit_us = 1;
  job.gpus = kMaxGpusPerJob;
  job.batch = 32;
  job.cpu_milli = 1'500;
  job.memory_bytes = kMaxBytes;
  job.clamped = true;
  job.x = {{"x_row", "17"}};

  EXPECT_EQ(parse_trace(to_json(trace)), trace);
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

}  // namespace berth::io
