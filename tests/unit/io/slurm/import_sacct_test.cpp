#include <gtest/gtest.h>

#include <algorithm>

#include "host/io/traces/importers.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::import_sacct_test {
namespace {

using test::TempFile;

const std::string kHeader = "JobID|User|Partition|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES\n";

Trace import(const std::string& text) {
  const TempFile file(text, ".txt");
  return import_trace("sacct", {file.path()});
}

// A row of a job of 2 GPUs that was submitted at 10:00:00.
std::string row(const std::string& id, const std::string& state,
                const std::string& rest = "2026-01-01T10:05:00|2026-01-01T11:05:00|3600|120") {
  return id + "|ann|main|" + state + "|2026-01-01T10:00:00|" + rest + "|billing=4,cpu=4,gres/gpu:h100=2,gres/gpu=2,mem=16G,node=1\n";
}

// Without the name of the file, which is temporary.
std::string problem(const std::string& text) {
  const TempFile file(text, ".txt");
  const std::string what = test::problem_of([&] { import_trace("sacct", {file.path()}); });
  return what.compare(0, file.path().size(), file.path()) == 0 ? what.substr(file.path().size()) : what;
}

using Drops = DropCounts;

bool noted(const Trace& trace, const std::string& part) {
  return std::any_of(trace.notes.begin(), trace.notes.end(), [&](const std::string& note) { return note.find(part) != note.npos; });
}

}  // namespace

TEST(ImportSacct, AJobThatEndedIsTaken) {
  const Trace trace = import(kHeader + row("12_4", "COMPLETED"));

  ASSERT_EQ(trace.jobs.size(), 1u);
  const TraceJob& job = trace.jobs[0];
  EXPECT_EQ(job.id, "12_4");
  EXPECT_EQ(job.user, "ann");
  EXPECT_EQ(job.virtual_cluster, "main");
  EXPECT_EQ(job.status, "completed");
  EXPECT_EQ(job.gpu_type, "h100");
  EXPECT_EQ(job.gpus, 2);
  EXPECT_EQ(job.submit_us, 0);
  EXPECT_EQ(job.run_us, 3'600 * kSecond);
  EXPECT_EQ(job.time_limit_us, 7'200 * kSecond);
  EXPECT_EQ(job.cpu_milli, 4'000);
  EXPECT_EQ(job.memory_bytes, std::int64_t{16} << 30);
  EXPECT_EQ(trace.origin_iso, "2026-01-01T10:00:00");
}

TEST(ImportSacct, ColumnsMayStandInAnyOrderAndOthersMayHoldQuotes) {
  const Trace trace = import(
      "AllocTRES|JobName|End|Start|Submit|State|JobIDRaw|\n"
      "gres/gpu=1|a \"quoted, name|2026-01-01T00:01:00|2026-01-01T00:00:30|2026-01-01T00:00:00|TIMEOUT|7|\n");

  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].id, "7");
  EXPECT_EQ(trace.jobs[0].run_us, 30 * kSecond);  // end - start
  EXPECT_EQ(trace.jobs[0].gpu_type, "");
}

TEST(ImportSacct, WhatIsNoFinishedGpuJobIsCountedByCause) {
  const std::string none = "Unknown|Unknown|0|120", open = "2026-01-01T10:05:00|Unknown|100|120";
  const Trace trace =
      import(kHeader + row("1", "CANCELLED by 1001", none) + row("2", "RUNNING", open) + row("3", "PENDING", none) +
             row("4.batch", "COMPLETED") + row("4.extern", "COMPLETED") + row("5", "FAILED", "2026-01-01T10:05:00|Unknown||120") +
             "6|bob|cpu|COMPLETED|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T10:00:09|9||cpu=1,mem=1G,node=1\n");

  EXPECT_TRUE(trace.jobs.empty());
  EXPECT_EQ(trace.dropped, Drops({{"job step (part of a job)", 2},
                                  {"never started", 1},
                                  {"no GPUs allocated", 1},
                                  {"no end time", 1},
                                  {"state PENDING", 1},
                                  {"state RUNNING", 1}}));
}

TEST(ImportSacct, OfARequeuedJobTheLastRunCounts) {
  const std::string first = row("1", "PREEMPTED"), other = row("2", "COMPLETED");
  const std::string last = "1|ann|main|NODE_FAIL|2026-01-01T12:00:00|2026-01-01T12:00:00|2026-01-01T12:10:00|600|120|gres/gpu=2\n";

  const Trace trace = import(kHeader + first + other + last), reversed = import(kHeader + last + other + first);

  ASSERT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.jobs[1].run_us, 600 * kSecond);
  EXPECT_EQ(trace.jobs[1].status, "node_fail");
  EXPECT_EQ(trace.jobs, reversed.jobs);
  EXPECT_EQ(trace.dropped, Drops({{"an earlier run of a requeued job", 1}}));
}

TEST(ImportSacct, ARowThatStandsThereAgainIsOneAndAnotherOfTheSameRunIsRefused) {
  const std::string once = row("1", "COMPLETED"), other = row("1", "FAILED");

  const std::string later = row("1", "COMPLETED", "2026-01-01T12:05:00|2026-01-01T13:05:00|3600|120");  // not part of a trace

  const Trace trace = import(kHeader + once + row("2", "COMPLETED") + once + later);

  EXPECT_EQ(trace.jobs.size(), 2u);
  EXPECT_EQ(trace.dropped, Drops({{"the same job again", 2}}));
  EXPECT_EQ(problem(kHeader + once + other), ":3: duplicate job '1' with the same submission but other values");
}

TEST(ImportSacct, RowsThatContradictThemselvesAreReported) {
  const Trace trace = import(kHeader + row("1", "COMPLETED", "2026-01-01T11:00:00|2026-01-01T10:30:00|60|120") +
                             row("2", "COMPLETED", "2026-01-01T11:00:00|2026-01-01T10:30:00||120") +
                             row("3", "COMPLETED", "2026-01-01T11:00:00|2026-01-01T10:30:00||120") +
                             row("4", "COMPLETED", "2026-01-01T09:59:59|2026-01-01T10:30:00|1000|120") +
                             row("5", "COMPLETED", "2026-01-01T10:00:00|2026-01-01T10:00:10|11|120") +
                             row("6", "COMPLETED", "2026-01-01T10:00:00|2026-01-01T10:00:10|10|120"));

  ASSERT_EQ(trace.jobs.size(), 4u);
  EXPECT_EQ(trace.jobs[0].run_us, 60 * kSecond);
  EXPECT_EQ(trace.dropped, Drops({{"ends before it starts", 2}}));
  EXPECT_TRUE(noted(trace, "1 row whose end lies before the start: the elapsed time is taken (first: job 1, line 2)"));
  EXPECT_TRUE(noted(trace, "2 rows whose end lies before the start, without elapsed time: left out (first: job 2, line 3)"));
  EXPECT_TRUE(noted(trace, "1 row whose start lies before the submission (first: job 4, line 5)"));
  EXPECT_TRUE(noted(trace, "1 row whose elapsed time is longer than from start to end: it is taken (first: job 5, line 6)"));
}

TEST(ImportSacct, GpusOfWhichNotAllAreOfOneTypeMayBeOfAny) {
  const std::string begin = "|COMPLETED|1|1|2|", header = "JobID|State|Submit|Start|End|AllocTRES\n";
  const Trace trace =
      import(header + "1" + begin + "gres/gpu=4,gres/gpu:h100=3\n2" + begin + "gres/gpu:a100=1,gres/gpu:h100=3\n3" + begin +
             "gres/gpu:h100=3\n4" + begin + "gres/gpu:a100=0,gres/gpu:h100=3,gres/gpu=3\n5" + begin + "gres/gpu:a100=4,gres/gpu=2\n");

  std::string found;
  for (const TraceJob& job : trace.jobs) found += job.id + ":" + std::to_string(job.gpus) + job.gpu_type + " ";
  EXPECT_EQ(found, "1:4 2:4 3:3h100 4:3h100 5:4 ");
  EXPECT_TRUE(noted(trace,
                    "3 rows whose GPUs are of several types, or not all of the type that is named: the larger count is taken, of any type "
                    "(first: job 1, line 2)"));
}

TEST(ImportSacct, MissingColumnsAreReported) {
  EXPECT_TRUE(noted(import("JobID|State|Submit|Start|End|Elapsed|AllocTRES\n"),
                    "columns that are not in the file: 'User', 'Partition', 'TimelimitRaw'"));
  EXPECT_FALSE(noted(import(kHeader), "columns"));
}

TEST(ImportSacct, DurationsAreReadInBothForms) {
  const std::string header = "JobID|State|Submit|Start|End|Elapsed|Timelimit|AllocTRES\n";
  const std::string times = "|COMPLETED|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-09T10:00:00|";
  const Trace trace = import(header + "1" + times + "1-02:03:04|2-00:00:00|gres/gpu=1\n2" + times + "00:00:05|UNLIMITED|gres/gpu=1\n3" +
                             times + "02:03.500|Partition_Limit|gres/gpu=1\n");

  ASSERT_EQ(trace.jobs.size(), 3u);
  EXPECT_EQ(trace.jobs[0].run_us, (86'400 + 2 * 3'600 + 3 * 60 + 4) * kSecond);
  EXPECT_EQ(trace.jobs[0].time_limit_us, 2 * 86'400 * kSecond);
  EXPECT_EQ(trace.jobs[1].time_limit_us, kNever);
  EXPECT_EQ(trace.jobs[2].run_us, 123 * kSecond);
}

TEST(ImportSacct, UnixSecondsAreTakenAsUtc) {
  const Trace trace = import("JobID|State|Submit|Start|End|AllocTRES\n1|COMPLETED|1767261600|1767261700|1767261760|gres/gpu=1\n");

  EXPECT_EQ(trace.origin_iso, "2026-01-01T10:00:00");
  EXPECT_EQ(trace.jobs.at(0).run_us, 60 * kSecond);
}

TEST(ImportSacct, WithoutAnyGpusItSaysWhichSettingIsMissing) {
  const Trace trace =
      import(kHeader + "6|bob|cpu|COMPLETED|2026-01-01T10:00:00|2026-01-01T10:00:00|2026-01-01T10:00:09|9||cpu=1,mem=1G,node=1\n");

  EXPECT_NE(trace.notes.back().find("AccountingStorageTRES=gres/gpu"), std::string::npos);
}

TEST(ImportSacct, BadRowsAreRefusedWithTheirPlace) {
  EXPECT_EQ(problem(kHeader + row("1", "DONE")), ":2: job '1' has the state 'DONE', which Slurm does not have");
  EXPECT_EQ(problem(kHeader + row("1", "COMPLETED", "yesterday|Unknown|3600|120")),
            ":2: column 'Start' (6): expected a local time 'YYYY-MM-DD HH:MM:SS', found 'yesterday'");
  EXPECT_EQ(problem(kHeader + row("1", "COMPLETED", "2026-01-01T10:05:00|2026-01-01T11:05:00|-5|120")),
            ":2: column 'ElapsedRaw' (8): expected a whole number from 0 to 288230376151, found '-5'");
  EXPECT_EQ(problem(kHeader + "1|ann\n"), ":2: 2 fields, and the header has 10");
  EXPECT_EQ(problem(kHeader + row("1", "COMPLETED", "2026-02-30T10:05:00|Unknown|3600|120")),
            ":2: column 'Start' (6): expected a day that its month has, found '2026-02-30T10:05:00'");
  EXPECT_EQ(
      problem("JobID|State|Start|End\n"),
      ":1: no column 'Submit', 'AllocTRES' in the header 'JobID|State|Start|End'; needed are JobID (or JobIDRaw), State, Submit, Start, "
      "End and AllocTRES: 'sacct -a -X -P -o JobID,User,Partition,State,Submit,Start,End,ElapsedRaw,TimelimitRaw,AllocTRES' prints them "
      "and all that is of use");
  for (const std::string bad : {"90", "1-2-3:04", "1:2:3:4", "1:x", "-1:30", ":30", "2000000:00"}) {
    EXPECT_EQ(problem("JobID|State|Submit|Start|End|Elapsed|AllocTRES\n1|COMPLETED|1|1|2|" + bad + "|gres/gpu=1\n"),
              ":2: column 'Elapsed' (6): expected a duration [DAYS-[HOURS:]]MINUTES:SECONDS, found '" + bad + "'");
  }
  EXPECT_EQ(problem("JobID|State|Submit|Start|End|AllocTRES\n1|COMPLETED|1|1|2|gres/gpu=x\n"),
            ":2: column 'AllocTRES' (6): expected a list of resources such as cpu=4,gres/gpu=2, found 'gres/gpu=x'");
}

TEST(ImportSacct, ItsJsonIsReadToo) {
  const std::string old_form = R"({"meta":{},"errors":[],"jobs":[
{"job_id":9,"array":{"job_id":7,"task_id":3},"het":{"job_id":0,"job_offset":null},"user":"ann","partition":"main",
 "state":{"current":"COMPLETED","reason":"None"},"steps":[{"time":{"elapsed":1}}],
 "time":{"submission":1767261600,"start":1767261700,"end":1767261760,"elapsed":55,"limit":60},
 "tres":{"allocated":[{"type":"cpu","name":null,"count":4},{"type":"mem","name":null,"count":100},{"type":"gres","name":"gpu","count":2},
  {"type":"gres","name":"gpu:h100","count":2}]}},
{"job_id":10,"state":{"current":"RUNNING"},"time":{"submission":1,"start":2,"end":0,"elapsed":5},"tres":{"allocated":[]}}]})";
  const std::string new_form = R"({"jobs":[
{"job_id":12,"array":{"job_id":0,"task_id":{"set":false,"infinite":false,"number":0}},"het":{"job_id":12,"job_offset":{"set":true,"infinite":false,
 "number":1}},"user":"ann","partition":"main","state":{"current":["TIMEOUT"]},
 "time":{"submission":1767261600,"start":1767261700,"end":1767261760,"elapsed":60,"limit":{"set":true,"infinite":false,"number":1}},
 "tres":{"allocated":[{"type":"gres","name":"gpu","count":1}]}}]})";

  const Trace first = import(old_form), second = import(new_form);

  ASSERT_EQ(first.jobs.size(), 1u);
  EXPECT_EQ(first.jobs[0].id, "7_3");
  EXPECT_EQ(first.jobs[0].gpus, 2);
  EXPECT_EQ(first.jobs[0].gpu_type, "h100");
  EXPECT_EQ(first.jobs[0].run_us, 55 * kSecond);
  EXPECT_EQ(first.jobs[0].time_limit_us, 3'600 * kSecond);
  EXPECT_EQ(first.jobs[0].memory_bytes, std::int64_t{100} << 20);
  EXPECT_EQ(first.dropped, Drops({{"no GPUs allocated", 1}}));
  ASSERT_EQ(second.jobs.size(), 1u);
  EXPECT_EQ(second.jobs[0].id, "12+1");
  EXPECT_EQ(second.jobs[0].status, "timeout");
  EXPECT_EQ(second.jobs[0].time_limit_us, 60 * kSecond);
}

TEST(ImportSacct, JsonRowsThatAreOddAreNamedByTheirLines) {
  const std::string times = R"("time":{"submission":1767261600,"start":1767261500,"end":1767261760,"elapsed":60,"limit":60})";
  const std::string gpus =
      R"("tres":{"allocated":[{"type":"gres","name":"gpu:a100","count":1},{"type":"gres","name":"gpu:h100","count":2}]})";
  const auto job = [&](const std::string& id, const std::string& state) {
    return "{\"job_id\":" + id + R"(,"user":"ann","partition":"main","array":{},"het":{},"state":{"current":")" + state + "\"}," + times +
           "," + gpus + "}";
  };

  const Trace trace = import("{\"jobs\":[\n" + job("1", "COMPLETED") + "]}");
  const Trace trimmed =
      import(R"({"jobs":[{"job_id":10,"partition":"a","state":{"current":"FAILED"},"time":{},"tres":{"allocated":[]}}]})");

  ASSERT_EQ(trace.jobs.size(), 1u);
  EXPECT_EQ(trace.jobs[0].gpus, 3);
  EXPECT_EQ(trace.jobs[0].gpu_type, "");
  EXPECT_TRUE(noted(trace, "1 row whose start lies before the submission (first: job 1, line 2)"));
  EXPECT_TRUE(noted(trace, "1 row whose GPUs are of several types"));
  EXPECT_TRUE(
      noted(trimmed, "1 row without what every known data parser prints: array, het, user; taken for not set (first: job 10, line 1)"));
  EXPECT_EQ(problem("{\"jobs\":[\n" + job("1", "COMPLETED") + ",\n" + job("2", "DONE") + "]}"),
            ":3: /jobs/1: job '2' has the state 'DONE', which Slurm does not have");
}

TEST(ImportSacct, JsonOfSomethingElseIsRefused) {
  EXPECT_EQ(problem(R"({"jobs":[{"job_id":1}]})"),
            ":1: /jobs/0: no job of sacct: it lacks state, time, tres (what squeue prints is for 'berth import slurm')");
  EXPECT_EQ(problem(R"({"schema":"berth.cluster.v1","nodes":[],"jobs":[]})"),
            ":1: /schema: a document with the schema \"berth.cluster.v1\" is no output of sacct");
  const std::string none = ":1: no job, and no 'meta' that says it is of sacct: expected what 'sacct --json' prints";
  EXPECT_EQ(problem(R"({"jobs":[]})"), none);
  EXPECT_EQ(problem(R"({"meta":{"plugin":{"type":"openapi/v0.0.38"}},"jobs":[]})"), none);
  EXPECT_EQ(problem(R"({"meta":{"plugin":{"type":"openapi/dbv0.0.38"}},"jobs":[]})"), "no error");
  EXPECT_EQ(problem(R"({"jobs":[],"last_update":5,"meta":{}})"),
            ":1: /last_update: this is what squeue prints; 'berth import slurm' reads it");
  EXPECT_EQ(problem(R"({"jobs":[],"jobs":[]})"), ":1: /jobs: a second list of jobs");
  EXPECT_EQ(problem(R"({"jobs":[{"tres":{"allocated":[{"type":"gres","name":"gpu","count":-4}]}}]})"),
            ":1: /jobs/0/tres/allocated/0/count: -4 is not within 0 to 72057594037927936");
  EXPECT_EQ(problem("{}"), ":1: no list of jobs: expected what 'sacct --json' prints");
  EXPECT_EQ(problem(R"({"jobs":[{"job_id")"), ":1: /jobs/0/job_id: the file ends in the middle of a value");
}

}  // namespace berth::io::import_sacct_test
