// Shapes and groups of a trace's jobs: the fields of a snapshot, without a cluster.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/io/traces/trace_json.hpp"
#include "host/io/traces/trace_stream.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/problem_of.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::io::trace_shapes_test {
namespace {

/// A trace of two jobs; the second asks for 8 GPUs and has these fields too, from line 3 on.
std::string eight_gpus(const std::string& fields) {
  return R"({"schema":"berth.trace.v1","jobs":[{"id":"a","submit_s":0,"run_s":1,"gpus":1},)"
         "\n"
         R"({"id":"j","submit_s":0,"run_s":1,"gpus":8,)"
         "\n" +
         fields + R"(}],"profiles":{"p":{}}})";
}

std::string problem(const std::string& fields) {
  return test::problem_of([&] { parse_trace(eight_gpus(fields), "f"); });
}

// The pointer and the problem without the file, from a file that is read as it comes.
std::string streamed_problem(const std::string& fields) {
  const test::TempFile file(eight_gpus(fields), ".json");
  const std::string what = test::problem_of([&] { TraceStream(file.path(), [](const TraceJob&) {}); });
  return "f" + what.substr(std::min(what.size(), file.path().size()));
}

constexpr const char* kTree = R"("groups":[{"name":"r","members":0,"require":"pod"},
{"name":"s0","parent":"r","gpus_per_member":4,"communication":[{"kind":"pp","peer":"s1","bytes_per_step":7}]},
{"name":"s1","parent":"r","members":2,"gpus_per_member":2,"role":"stage"}])";

}  // namespace

TEST(TraceShapes, GroupsAreShortForOneShape) {
  const Trace trace = parse_trace(eight_gpus(std::string(R"("gpu_type":"H100",)") + kTree));

  ASSERT_EQ(trace.jobs[1].shapes.size(), 1U);
  const Shape& shape = trace.jobs[1].shapes[0];
  EXPECT_EQ(shape.id, "8xH100");
  EXPECT_EQ(shape.gpu_type, "H100");
  EXPECT_EQ(shape.gpus, 8);
  ASSERT_EQ(shape.groups.size(), 3U);
  EXPECT_EQ(shape.groups[0].require, (LevelRef{TopologyKind::kSwitch, "pod"}));
  EXPECT_EQ(shape.groups[1].communication, (std::vector<Communication>{{CommKind::kPp, "s1", 7}}));
  EXPECT_EQ(shape.groups[2].role, "stage");

  const std::string written = to_json(trace);
  EXPECT_EQ(parse_trace(written), trace);
  EXPECT_EQ(test::schema_fault(written, trace_schema()), "");
  EXPECT_EQ(test::schema_fault(eight_gpus(kTree), trace_schema()), "");
}

TEST(TraceShapes, AStreamReadsTheSameShapes) {
  const Trace trace = parse_trace(eight_gpus(std::string(R"("shapes":[{"gpus":8,"groups":[]},{"id":"t",)") + kTree + "}]"));
  EXPECT_EQ(trace.jobs[1].shapes.at(1).gpus, 8);  // follows from the groups
  const test::TempFile file(to_json(trace), ".json");

  TraceStream stream(file.path(), [](const TraceJob&) {});
  TraceJob job;
  ASSERT_TRUE(stream.next(job));
  EXPECT_EQ(job, trace.jobs[0]);
  ASSERT_TRUE(stream.next(job));
  EXPECT_EQ(job, trace.jobs[1]);
  EXPECT_EQ(read_trace(file.path()), trace);
}

TEST(TraceShapes, BadTreesNameTheirPlaceInTheFile) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("groups":[{"name":"a","parent":"b","members":0},{"name":"b",
"parent":"a","gpus_per_member":8}])",
       "f:3: /jobs/1/groups/0/parent: group 'a' is its own ancestor"},
      {R"("groups":[{"name":"a",
"parent":"x","gpus_per_member":8}])",
       "f:4: /jobs/1/groups/0/parent: there is no group 'x'"},
      {R"("groups":[{"name":"a","gpus_per_member":4}])", "f:2: /jobs/1/gpus: the groups add up to 4 GPUs, not to 8"},
      {R"("groups":[{"name":"a","gpus_per_member":-4}])", "f:3: /jobs/1/groups/0/gpus_per_member: -4 is not within 0 to 2147483647"},
      {R"("groups":[{"name":"a","gpus_per_member":8,"communication":[{"kind":"dp","peer":"b"}]}])",
       "f:3: /jobs/1/groups/0/communication/0/peer: there is no group 'b'"},
      {R"("groups":[{"name":"a","gpus_per_member":8,"communication":[{"kind":"ep","algorithm":"tree"}]}])",
       "f:3: /jobs/1/groups/0/communication/0/algorithm: 'tree' is for the kinds dp and tp, not for ep"},
      {R"("groups":[{"name":"a","gpus_per_member":8,"communication":[{"kind":"dp","peer":"a","algorithm":"sharded"}]}])",
       "f:3: /jobs/1/groups/0/communication/0/algorithm: 'sharded' is among the members of one group, without a peer"},
      {R"("groups":[{"name":"a","gpus_per_member":8,"communication":[{"kind":"tp","algorithm":"star"}]}])",
       "f:3: /jobs/1/groups/0/communication/0/algorithm: \"star\" is none of: ring, tree, in_network, sharded"},
      {R"("groups":[{"name":"a","members":8,"communication":[{"kind":"ep","bytes_per_step":72057594037927936}]}])",
       "f:3: /jobs/1/groups/0/communication: the members send more than 72057594037927936 bytes in one step"},
      {R"("groups":[{"name":"a","gpus_per_member":8,"share":0.5}])",
       "f:3: /jobs/1/groups/0/gpus_per_member: a member with a share takes one GPU, not 8"},
      {R"("shapes":[{"gpus":8,"share":0.5,"groups":[{"name":"a","members":8}]}])",
       "f:3: /jobs/1/shapes/0/share: the groups of a gang say their shares themselves"},
      {R"("shapes":[{"gpus":4}])", "f:2: /jobs/1/gpus: the job asks for 8 GPUs, and its first shape has 4"},
      {R"("shapes":[])", "f:3: /jobs/1/shapes: a job needs at least one shape"},
      {R"("shapes":[{"gpus":8},
{"gpus":8,"id":"0"}])",
       "f:4: /jobs/1/shapes/1/id: '0' is the id of an earlier shape too"},
      {R"("gpu_type":"A","shapes":[{"gpus":8,"gpu_type":"B"}])", "f:3: /jobs/1/shapes/0/gpu_type: 'B', and the job asks for 'A'"},
      {R"("groups":[{"name":"a","gpus_per_member":8}],"shapes":[{"gpus":8}])",
       "f:2: /jobs/1: either 'shapes' or 'groups'; a shape has groups of its own"},
      {R"("profile":"p","work":9,"elastic":true,"shapes":[{"gpus":8}])",
       "f:3: /jobs/1/elastic: the job lists its 'shapes'; none comes from a profile"},
      {R"("profile":"p","work":9,"phases":[{"from":1,"profile":"p"}],"shapes":[{"gpus":8}])",
       "f:3: /jobs/1/phases: a job with phases has no 'shapes' or 'groups'"},
      {R"("profile":"p","shapes":[{"gpus":8},{"gpus":4}])",
       "f:2: /jobs/1/work: shapes of several GPU counts take different times: with a 'profile' the job needs its 'work'"},
  };
  for (const auto& [fields, expected] : cases) {
    EXPECT_EQ(problem(fields), expected);
    EXPECT_EQ(streamed_problem(fields), expected);
  }
}

}  // namespace berth::io::trace_shapes_test
