#include "tests/cli/command.hpp"

namespace berth::test::bound_test {
namespace {

// Two jobs with decreasing gains from each further GPU, and four GPUs.
std::string elastic() {
  std::string jobs;
  for (const char* id : {"a", "b"}) {
    jobs += (jobs.empty() ? "" : ", ") + std::string(R"({"id": ")") + id + R"(", "submit_s": 0, "shapes": [)" +
            R"({"id": "1", "gpus": 1, "rate": 1}, {"id": "2", "gpus": 2, "rate": 1.8}, {"id": "4", "gpus": 4, "rate": 2.4}]})";
  }
  return R"({"schema": "berth.snapshot.v1", "now_s": 0, "gpu_types": [{"id": "A"}], "nodes": [{"id": "n", "gpu_type": "A", "gpus": 4}], "jobs": [)" +
         jobs + "]}";
}

}  // namespace

TEST(CliBound, IsPrintedWithThePricesThatProveIt) {
  const Folder folder;
  folder.write("s.json", elastic());

  const Answer text = berth("bound --objective throughput --snapshot '" + (folder / "s.json") + "'");
  const Answer json = berth("bound --json --objective throughput --snapshot '" + (folder / "s.json") + "'");

  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "throughput: objective value 3600000, upper bound 3600000, gap 0.000 %\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "  price of one A: "));
  EXPECT_TRUE(contains(json.out, R"("objective":"throughput","value":3600000,"bound":3600000,"prices":{"A":)")) << json.out;
}

TEST(CliBound, ThePlanOfPriceCarriesIt) {
  const Folder folder;
  folder.write("s.json", elastic());

  const Answer plan = berth("plan --json --policy price --param objective=throughput --snapshot '" + (folder / "s.json") + "'");

  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_TRUE(contains(plan.out, R"("bound":{"objective":"throughput","value":3600000,"bound":3600000,"prices":{"A":)")) << plan.out;
}

TEST(CliBound, AnUnknownObjectiveIsRefusedWithTheKnownOnes) {
  const Folder folder;
  folder.write("s.json", elastic());

  const Answer answer = berth("bound --objective speed --snapshot '" + (folder / "s.json") + "'");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "goodput")) << answer.err;
}

TEST(CliBound, IsThatOfTheNamedPolicyByItsOwnObjective) {
  const Folder folder;
  folder.write("s.json", elastic());

  const Answer optimus = berth("bound --policy optimus --snapshot '" + (folder / "s.json") + "'");
  const Answer other = berth("bound --policy optimus --objective throughput --snapshot '" + (folder / "s.json") + "'");

  EXPECT_EQ(optimus.out.substr(0, 11), "flow_time: ") << optimus.err;
  EXPECT_TRUE(contains(other.out, ", upper bound 3600000,")) << other.err;
}

TEST(CliBound, WritesTheProgramAndPrintsTheBound) {
  const Folder folder;
  folder.write("s.json", elastic());
  folder.write("x.lp", "old");

  const Answer file = berth("bound --objective throughput --snapshot '" + (folder / "s.json") + "' --lp '" + (folder / "x.lp") + "'");
  const Answer out = berth("bound --objective throughput --snapshot '" + (folder / "s.json") + "' --lp -");

  const std::string lp = content_of(folder / "x.lp");
  EXPECT_EQ(file.code, 0) << file.err;
  EXPECT_TRUE(contains(file.out, "upper bound 3600000,")) << file.out;
  EXPECT_TRUE(contains(lp, "\n + 1800000 x1_1\n")) << lp;
  EXPECT_EQ(out.out, lp);
  EXPECT_TRUE(contains(out.err, "upper bound 3600000,")) << out.err;
}

TEST(CliBound, AProgramReplacesNoInputAndMixesWithNoDocument) {
  const Folder folder;
  folder.write("s.json", elastic());
  const std::string snapshot = folder / "s.json";

  const Answer replaced = berth("bound --snapshot '" + snapshot + "' --lp '" + snapshot + "'");
  const Answer mixed = berth("bound --json --lp - --snapshot '" + snapshot + "'");

  EXPECT_EQ(replaced.code, 2);
  EXPECT_TRUE(contains(replaced.err, "--lp would replace")) << replaced.err;
  EXPECT_EQ(content_of(snapshot), elastic());
  EXPECT_EQ(mixed.code, 2);
  EXPECT_EQ(mixed.out, "");
}

TEST(CliBound, APolicyWithoutOneIsRefusedWithThoseThatHaveOne) {
  const Folder folder;
  folder.write("s.json", elastic());
  folder.write("x.lp", "old");

  for (const char* lp : {"", " --lp '"}) {
    const std::string more = *lp == '\0' ? "" : lp + (folder / "x.lp") + "'";
    const Answer answer = berth("bound --policy fifo --snapshot '" + (folder / "s.json") + "'" + more);
    EXPECT_EQ(answer.code, 2);
    EXPECT_TRUE(contains(answer.err, "'fifo' orders jobs and has no bound (those that have one: afs, ")) << answer.err;
  }
  EXPECT_EQ(content_of(folder / "x.lp"), "old");
}

TEST(CliBound, SharesOfTheTimeAreNoProgramOfAChoice) {
  const Folder folder;
  folder.write("s.json", elastic());

  for (const char* policy : {"gavel-las", "gavel-ftf", "gavel-makespan"}) {
    const std::string line = "bound --policy " + std::string(policy) + " --snapshot '" + (folder / "s.json") + "'";
    const Answer bound = berth(line);
    const Answer program = berth(line + " --lp '" + (folder / "x.lp") + "'");
    EXPECT_TRUE(contains(bound.out, ", upper bound 3600000,")) << bound.err;
    EXPECT_EQ(program.code, 2);
    EXPECT_TRUE(contains(program.err, "docs/shares.md")) << program.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "x.lp"));
  }
}

TEST(CliBound, AnObjectiveIsRefusedByAPolicyWithOneOfItsOwn) {
  const Folder folder;
  folder.write("s.json", elastic());

  const Answer answer = berth("bound --policy sia --objective goodput --snapshot '" + (folder / "s.json") + "'");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "--objective: policy 'sia' has one of its own")) << answer.err;
}

}  // namespace berth::test::bound_test
