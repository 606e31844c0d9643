#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/json/json_list.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/io/traces/trace_stream.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::trace_stream_test {
namespace {

using test::TempFile;

const std::string kJobs = R"({"schema":"berth.trace.v1","notes":["jobs","[\"jobs\": ["],
"jobs" : [
{"id":"b \" ]}, {","submit_s":2,"run_s":5,"gpus":1,"x_a":[1,{"jobs":[2]}]} ,

{"id":"a","submit_s":1,"run_s":5,"gpus":1}
], "name":"n"})";

// Elements as "index@line:text;", then the rest.
std::string split(const std::string& text, std::size_t piece) {
  std::string out;
  JsonListSplitter splitter("jobs", [&](const std::string& element, std::int64_t index, int line) {
    out += std::to_string(index) + "@" + std::to_string(line) + ":" + element + ";";
  });
  for (std::size_t at = 0; at < text.size(); at += piece) splitter.feed(std::string_view(text).substr(at, piece));
  return out + splitter.finish();
}

std::string problem(const std::string& text) {
  const TempFile file(text, ".json");
  const std::string what = test::problem_of([&] { read_trace(file.path()); });
  return what.rfind(file.path(), 0) == 0 ? what.substr(file.path().size()) : what;
}

}  // namespace

TEST(TraceStream, ElementsAndTheRestAreSeparatedWhateverTheChunks) {
  EXPECT_EQ(split(R"({"a":[{"jobs":[1]}],"jobs":[ 1, {"x":[2,3]},"],"],"b":2})", 100),
            R"(0@1:1;1@1:{"x":[2,3]};2@1:"],";{"a":[{"jobs":[1]}],"jobs":[],"b":2})");
  EXPECT_EQ(split(R"({"jobs":[]})", 1), R"({"jobs":[]})");
  EXPECT_EQ(split(R"({"jobs":[1,]})", 1), R"(0@1:1;1@1:;{"jobs":[]})");
  EXPECT_EQ(split("{\"jobs\":[\n1,\n\n2", 1), "0@2:1;1@4:2;{\"jobs\":[\n\n\n");
  for (const std::size_t piece : {1U, 2U, 3U, 7U}) EXPECT_EQ(split(kJobs, piece), split(kJobs, 1000)) << piece;
}

TEST(TraceStream, AFileIsReadAsItsTextWouldBe) {
  const TempFile plain(kJobs, ".json"), packed(test::gzipped(kJobs), ".json");

  const Trace trace = parse_trace(kJobs);

  EXPECT_EQ(trace.jobs.at(0).id, "a");
  EXPECT_EQ(read_trace(plain.path()), trace);
  EXPECT_EQ(read_trace(packed.path()), trace);
}

TEST(TraceStream, ErrorsHaveTheLinesAndPointersOfTheWhole) {
  const std::string head = "{\"schema\":\"berth.trace.v1\",\n\"jobs\":[\n{\"id\":\"a\",\"submit_s\":1,\"run_s\":5,\"gpus\":1}";
  EXPECT_EQ(problem(head + ",\n{\"id\":\"b\",\n\"run_s\":-1}]}"), ":5: /jobs/1/run_s: -1 is not within 0.000001 to 288230376151.711744");
  EXPECT_EQ(problem(head + ",\n{\"id\":\"b\",\n\"submit_s\":1,\"run_s\":5,\"gpus\":0}]}"),
            ":5: /jobs/1/gpus: 0 is not within 1 to 100000000");
  EXPECT_EQ(problem(head + ",\n{\"id\":\"a\",\"submit_s\":1,\"run_s\":5,\"gpus\":1}]}"), ":4: /jobs/1: the job id 'a' occurs twice");
  EXPECT_EQ(problem(head + ",]}"), ":3: /jobs/1: expected a job between the commas");
  EXPECT_EQ(problem(head + ",\n{\"id\":"), ":4: /jobs/1/id: the file ends in the middle of a value");
  EXPECT_EQ(problem(head), ":3: /jobs/0: the file ends in the middle of a value");
  EXPECT_EQ(problem(head + "],\n\"naem\":1}"), ":4: /naem: unknown field 'naem'; did you mean 'name'?");
  EXPECT_EQ(problem(head + "]} x"), ":3: the document ends before this: x");
  EXPECT_EQ(problem(""), ":1: the file is empty");
}

TEST(TraceStream, ItIsWrittenInChunksToTheSameText) {
  Trace trace;
  trace.jobs.resize(20'000);
  for (std::size_t i = 0; i < trace.jobs.size(); ++i) {
    trace.jobs[i].id = "a-rather-long-id-so-that-it-takes-more-than-one-piece-" + std::to_string(i);
    trace.jobs[i].run_us = kSecond;
  }
  int pieces = 0;
  std::string text;

  write_json(trace, [&](std::string_view piece) {
    text += piece;
    ++pieces;
  });

  EXPECT_GT(pieces, 1);
  EXPECT_EQ(text, to_json(trace));
  EXPECT_EQ(parse_trace(text).jobs.size(), trace.jobs.size());
}

TEST(TraceStream, JobsComeAsTheyStandThereAndFromTheFirstAgain) {
  Trace trace;
  trace.name = "n";
  trace.profiles.emplace_back("p", Profile{});
  for (int j = 0; j < 20'000; ++j) {
    TraceJob job;
    job.id = "j" + std::to_string(100'000 + j);
    job.submit_us = j * kSecond;
    job.run_us = kSecond;
    job.profile = "p";
    trace.jobs.push_back(job);
  }
  const std::string text = to_json(trace);
  const TempFile plain(text, ".json"), packed(test::gzipped(text), ".json");
  for (const std::string& path : {plain.path(), packed.path()}) {
    std::int64_t seen = 0;
    TraceStream stream(path, [&](const TraceJob& job) { EXPECT_EQ(job, trace.jobs[static_cast<std::size_t>(seen++)]); });

    for (int time = 0; time < 2; ++time) {
      TraceJob job;
      for (const TraceJob& wanted : trace.jobs) {
        ASSERT_TRUE(stream.next(job));
        ASSERT_EQ(job, wanted);
      }
      EXPECT_FALSE(stream.next(job));
      stream.rewind();
    }
    EXPECT_EQ(stream.jobs(), 20'000);
    EXPECT_EQ(stream.head().name, "n");
    EXPECT_EQ(stream.head().profiles.size(), 1u);
    EXPECT_TRUE(stream.head().jobs.empty());
  }
}

TEST(TraceStream, WhatStandsInAnotherOrderIsRefused) {
  const auto refused = [](const std::string& jobs) {
    const TempFile file("{\"schema\":\"berth.trace.v1\",\n\"jobs\":[\n" + jobs + "]}", ".json");
    const std::string what = test::problem_of([&] { TraceStream stream(file.path(), [](const TraceJob&) {}); });
    return what.substr(std::min(what.size(), file.path().size()));
  };
  const std::string a = R"({"id":"a","submit_s":1,"run_s":5,"gpus":1})", b = R"({"id":"b","submit_s":1,"run_s":5,"gpus":1})";

  EXPECT_EQ(refused(b + ",\n" + a), ":4: /jobs/1: job 'a' stands behind 'b', but jobs that are read as they come stand by (submit, id)");
  EXPECT_EQ(refused(a + ",\n" + a), ":4: /jobs/1: job 'a' stands behind 'a', but jobs that are read as they come stand by (submit, id)");
  EXPECT_EQ(refused(a + ",\n{\"id\":\"b\"}"), ":4: /jobs/1: the field 'submit_s' is missing");
  EXPECT_EQ(refused(R"({"id":"a","submit_s":1,"run_s":5,"gpus":1,"profile":"q"})"),
            ":3: /jobs/0/profile: the profile 'q' is not among 'profiles'");
}

}  // namespace berth::io::trace_stream_test
