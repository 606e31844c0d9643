// The command's report about a machine, never its speed.
#include <vector>

#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::test::bench_test {
namespace {

std::string bench_fault(const std::string& document) {
  return schema_fault(document, content_of(BERTH_SOURCE_DIR "/data/schemas/berth.bench.v1.json"));
}

}  // namespace

TEST(CliBench, TheQuickSuiteHasEverySection) {
  const Folder folder;

  const Answer answer = berth("bench --suite headline --quick --threads 2 --seed 3 --json '" + (folder / "b.json") + "'");

  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  for (const char* part : {"berth bench --suite headline --quick, seed 3\n",
                           "\nmachine ",
                           "\nbuild ",
                           "\ngpu ",
                           "\nclocks ",
                           "\nSide by side: ",
                           "\nsearch, 256 GPUs, 0.01 s   % below bound ",
                           "\n8 scenarios, 16 nodes      jobs placed ",
                           " equal\n",
                           "\ndecide las, 16 nodes       GPUs in use ",
                           "\nCoupled search: ones-plus",
                           "\n64    40    price ",
                           "\n256   160   2 threads ",
                           "\nMany scenarios: ",
                           "\n8          40    16     1 thread ",
                           "\nSingle decisions: ",
                           "\nlas ",
                           "P99 us",
                           "\nMany replays: ",
                           "MEAN JCT s",
                           "mean JCT, s",
                           "\nLosing sizes\n"}) {
    EXPECT_TRUE(contains(answer.out, part)) << part << answer.out;
  }
  EXPECT_FALSE(contains(answer.out, "interrupted")) << answer.out;
  const std::string json = content_of(folder / "b.json");
  EXPECT_EQ(bench_fault(json), "") << json;
  EXPECT_TRUE(contains(json, R"("quick":true,"seed":3,"complete":true,)")) << json;
}

TEST(CliBench, OneThreadIsNotComparedWithItself) {
  const Answer answer = berth("bench --suite headline --quick --threads 1");

  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, " 1 thread ")) << answer.out;
  EXPECT_FALSE(contains(answer.out, " 2 threads  ")) << answer.out;
}

TEST(CliBench, JsonOnStandardOutputIsAlone) {
  const Answer answer = berth("bench --suite headline --quick --json -");

  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(bench_fault(answer.out), "") << answer.out;
  EXPECT_TRUE(contains(answer.err, "\nLosing sizes\n")) << answer.err;
}

TEST(CliBench, AnUnknownSuiteIsRefusedWithTheKnownOnes) {
  const Answer unknown = berth("bench --suite headlines"), none = berth("bench");

  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.out, "");
  EXPECT_TRUE(contains(unknown.err, "--suite: unknown suite 'headlines' (known: headline); did you mean 'headline'?")) << unknown.err;
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "--suite is required")) << none.err;
}

// Before a minute of measuring: the requested suite is the long one.
TEST(CliBench, AFileThatCannotBeWrittenIsRefusedAtOnce) {
  const Folder folder;
  folder.write("file", "");

  for (const std::string& path : {folder / "none/b.json", folder / "file/b.json", folder / ""}) {
    const Answer answer = berth("bench --suite headline --json '" + path + "'");
    EXPECT_EQ(answer.code, 2) << path;
    EXPECT_EQ(answer.out, "") << path;
    EXPECT_TRUE(contains(answer.err, "cannot write '" + path + "'")) << answer.err;
  }
}

}  // namespace berth::test::bench_test
