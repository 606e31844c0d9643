#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/traces.hpp"

namespace berth::test::fit_test {
namespace {

// Two jobs of ten epochs, and one that ended with its first.
std::string history() {
  std::string text = "job,dataset_size,initial_loss,loss,accuracy,samples_done,samples_total\n";
  for (const char* job : {"a", "b"}) {
    for (int epoch = 1; epoch <= 10; ++epoch) text += std::string(job) + ",100,,,," + std::to_string(100 * epoch) + ",1000\n";
  }
  return text + "c,100,,,,1000,1000\n";
}

const std::string kModel = R"({"schema":"berth.predictor.v1","weights_micro":[0,500000,-1000000,0,0,10250000],"rows":18,"jobs":2})";

std::string plan(const std::string& options) { return "plan --json --no-timing --snapshot '" + golden("shapes") + "' " + options; }

}  // namespace

TEST(CliFit, WritesTheModelAndSaysHowGoodItIs) {
  const Folder folder;
  const std::string file = quoted(folder.write("h.csv", history()));

  const Answer text = berth("fit " + file + " --out '" + (folder / "m.json") + "' --leave-out --test " + file);
  const Answer json = berth("fit " + file + " --json --leave-out");
  const Answer only_model = berth("fit " + file + " --out -");

  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "18 epochs of 2 jobs; 3 rows that began or ended a job not counted\nbeta = 1 + max(0, ")) << text.out;
  for (const char* row :
       {"\nmodel=0:0:-", "\nfitted  ", "\nconstant alone  ", "\nthe end is known  ", "\ntested  ", "\neach job by the others  "}) {
    EXPECT_TRUE(contains(text.out, row)) << row << text.out;
  }
  EXPECT_EQ(schema_fault(content_of(folder / "m.json"), content_of(BERTH_SOURCE_DIR "/data/schemas/berth.predictor.v1.json")), "");
  EXPECT_EQ(only_model.out, content_of(folder / "m.json"));
  EXPECT_TRUE(contains(only_model.err, "18 epochs")) << only_model.err;
  EXPECT_TRUE(contains(json.out, R"({"rows":18,"jobs":2,"skipped":3,"model":"0:0:-)")) << json.out;
  EXPECT_TRUE(contains(json.out, R"({"job":"b","rows":9,"fitted":{"log_likelihood":)")) << json.out;
}

TEST(CliFit, BadInputNamesFileAndLine) {
  const Folder folder;
  const std::string file = folder.write("h.csv", history() + "d,100,,,,2000,1000\n");

  const Answer bad = berth("fit " + quoted(file)), none = berth("fit '" + (folder / "none") + "'"), mixed = berth("fit h --json --out -");
  const Answer same = berth("fit " + quoted(file) + " --out " + quoted(file));

  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, "h.csv:23: column 'samples_done' (6): ")) << bad.err;
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(mixed.code, 2);
  EXPECT_TRUE(contains(same.err, "would replace")) << same.err;
}

TEST(CliFit, APlanTakesTheModelFromItsFile) {
  const Folder folder;
  const std::string file = folder.write("m.json", kModel);

  const Answer by_file = berth(plan("--policy ones --param model=@'" + file + "'"));
  const Answer by_numbers = berth(plan("--policy ones --param model=0:0.5:-1:0:0:10.25"));
  const Answer compared = berth(plan("--policy ones --compare 'ones@model=@" + file + "@population=8,fifo'"));

  ASSERT_EQ(by_file.code, 0) << by_file.err;
  EXPECT_EQ(by_file.out, by_numbers.out);
  EXPECT_TRUE(contains(by_file.out, R"("model":"0:0.5:-1:0:0:10.25")")) << by_file.out;
  ASSERT_EQ(compared.code, 0) << compared.err;
  EXPECT_TRUE(contains(compared.out, R"("model":"0:0.5:-1:0:0:10.25")")) << compared.out;
}

TEST(CliFit, AModelThatIsNoneIsRefused) {
  const Folder folder;
  const std::string other = folder.write("m.json", R"({"schema":"berth.predictor.v2"})");

  const Answer none = berth(plan("--policy ones --param model=@/none")), empty = berth(plan("--policy ones --param model=@"));
  const Answer stream = berth(plan("--policy ones --param model=@-")), version = berth(plan("--policy ones --param model=@" + other));
  const Answer elsewhere = berth(plan("--policy fifo --param model=@" + other));

  for (const Answer* one : {&none, &empty, &stream, &version, &elsewhere}) EXPECT_EQ(one->code, 2) << one->out;
  EXPECT_TRUE(contains(none.err, "cannot read '/none'")) << none.err;
  EXPECT_TRUE(contains(empty.err, "expected a file behind '@'")) << empty.err;
  EXPECT_TRUE(contains(stream.err, "expected a file behind '@'")) << stream.err;
  EXPECT_TRUE(contains(version.err, "m.json:1: /schema: ")) << version.err;
  EXPECT_TRUE(contains(elsewhere.err, "has no parameter 'model'")) << elsewhere.err;
}

// Pollux's runs: a fit to the other jobs predicts a job better than a constant.
TEST(CliFit, RunsOfPolluxArePredictedByEachOther) {
  const std::string run = trace_file("pollux/traces/cifar10/validation-128.csv");
  if (run.empty()) GTEST_SKIP() << "no traces here (BERTH_TRACES)";
  const Folder folder;
  const std::string traces = run.substr(0, run.rfind("/pollux/traces/")), file = folder / "h.csv";
  ASSERT_EQ(std::system((BERTH_SOURCE_DIR "/tools/pollux-history '" + traces + "' >'" + file + "'").c_str()), 0);

  const Answer answer = berth("fit " + quoted(file) + " --leave-out");

  ASSERT_EQ(answer.code, 0) << answer.err;
  const auto figure = [&](const std::string& row) {
    return std::stod(answer.out.substr(answer.out.find("\n" + row + "  ") + 1 + row.size()));
  };
  EXPECT_TRUE(contains(answer.out, "2112 epochs of 40 jobs")) << answer.out;
  EXPECT_GT(figure("each job by the others"), figure("the same, constant alone") + 2) << answer.out;
}

}  // namespace berth::test::fit_test
