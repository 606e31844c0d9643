#include "tests/cli/command.hpp"

namespace berth::test {
namespace {

// Two jobs that gain less from each further GPU, and four GPUs.
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
  EXPECT_TRUE(contains(text.out, "throughput: no plan is worth more than 3600000; this one is worth 3600000, 0.000 % less\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "  price of one A: "));
  EXPECT_TRUE(contains(json.out, R"("objective":"throughput","bound":3600000,"value":3600000,"prices":{"A":)")) << json.out;
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

}  // namespace berth::test
