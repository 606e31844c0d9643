#include <fmt/format.h>

#include "host/fit/history.hpp"
#include "host/fit/predictor_json.hpp"
#include "tests/cli/command.hpp"

namespace berth::test::simulated_history_test {
namespace {

constexpr const char* kHead = "job,dataset_size,initial_loss,loss,accuracy,samples_done,samples_total\n";

// 'a' ends in its third epoch; 'b' has one; 'c' and 'd' state too little; 'e' is rejected.
constexpr const char* kTrained = R"({"schema": "berth.trace.v1", "name": "t", "jobs": [
  {"id": "a,1", "submit_s": 0, "run_s": 10, "gpus": 2, "epochs": 2.5, "dataset_size": 1000},
  {"id": "b", "submit_s": 0, "run_s": 20, "gpus": 2, "epochs": 1, "dataset_size": 7},
  {"id": "c", "submit_s": 0, "run_s": 20, "gpus": 1, "epochs": 3},
  {"id": "d", "submit_s": 0, "run_s": 20, "gpus": 1},
  {"id": "e", "submit_s": 0, "run_s": 20, "gpus": 9, "epochs": 3, "dataset_size": 7}]})";

// Jobs of two kinds, alternating: 20 epochs of 1,000 samples, and 5 of 50,000.
std::string two_kinds() {
  std::string jobs;
  for (int j = 0; j < 40; ++j) {
    const bool is_long = j % 2 == 0;
    jobs += fmt::format(R"({}{{"id": "{}", "submit_s": {}, "run_s": {}, "gpus": 2, "model": "{}", "epochs": {}, "dataset_size": {}}})",
                        j == 0 ? "" : ",", j, 10 * j, is_long ? 100 : 60, is_long ? "long" : "short", is_long ? 20 : 5,
                        is_long ? 1'000 : 50'000);
  }
  return R"({"schema": "berth.trace.v1", "name": "t", "jobs": [)" + jobs + "]}";
}

double beta_after(const policy::ProgressModel& model, std::int64_t epochs, std::int64_t dataset_size) {
  return policy::progress_beta(model, policy::progress_features({dataset_size, epochs * 1'000'000, 0, 0, 0}));
}

}  // namespace

TEST(CliSimulatedHistory, HasTheEpochsOfCompletedJobs) {
  const Folder folder;
  const std::string given = "simulate --cluster 2x4 --policy fifo --trace " + quoted(folder.write("trace.json", kTrained)) +
                            " --history-out '" + (folder / "h.csv") + "'";

  const Answer answer = berth(given);

  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(answer.err, "");
  EXPECT_EQ(content_of(folder / "h.csv"), std::string(kHead) + "\"a,1\",1000,,,,1000,2500\n\"a,1\",1000,,,,2000,2500\nb,7,,,,7,7\n");
  ASSERT_EQ(berth(given + " --stream").code, 0);
  EXPECT_TRUE(contains(content_of(folder / "h.csv"), "\nb,7,,,,7,7\n"));
}

// The job's report to policies at the end of that epoch.
TEST(CliSimulatedHistory, HasTheLossesThatWereReported) {
  const Folder folder;
  const std::string given = "simulate --cluster 2x4 --policy fifo --progress noise:0 --trace " +
                            quoted(folder.write("trace.json", kTrained)) + " --history-out '" + (folder / "h.csv") + "'";

  ASSERT_EQ(berth(given + " --seed 3").code, 0);

  const fit::History history = fit::read_history(folder / "h.csv");
  ASSERT_EQ(history.rows.size(), 2U);
  const policy::ProgressReport& first = history.rows[0].report;
  const policy::ProgressReport& second = history.rows[1].report;
  EXPECT_GE(first.initial_loss_micro, 2'000'000);
  EXPECT_LT(first.loss_micro, first.initial_loss_micro);
  EXPECT_LT(second.loss_micro, first.loss_micro);
  EXPECT_GT(first.accuracy_ppm, 0);
  EXPECT_GT(second.accuracy_ppm, first.accuracy_ppm);
}

TEST(CliSimulatedHistory, APredictorIsFittedToItAndTakenByTheNextRun) {
  const Folder folder;
  const std::string trace = quoted(folder.write("trace.json", two_kinds())), history = quoted(folder / "h.csv"),
                    model = quoted(folder / "m.json");

  const Answer first = berth("simulate --cluster 2x4 --policy fifo --trace " + trace + " --history-out " + history);
  const Answer fitted = berth("fit " + history + " --json"), written = berth("fit " + history + " --out " + model);
  const Answer second = berth("simulate --json --cluster 2x4 --estimates none --policy ones --trace " + trace + " --param model=@" + model);

  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(contains(fitted.out, R"("rows":460,"jobs":40,"skipped":40)")) << fitted.out;
  ASSERT_EQ(written.code, 0) << written.err;
  const policy::ProgressModel learnt = fit::parse_predictor(content_of(folder / "m.json"), "m").model;
  EXPECT_NEAR(beta_after(learnt, 10, 1'000), 11, 2) << "10 epochs are to come";
  EXPECT_NEAR(beta_after(learnt, 2, 50'000), 4, 2) << "3 epochs are to come";
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_TRUE(contains(second.out, R"("completed":40,)")) << second.out;
}

TEST(CliSimulatedHistory, SaysWhatIsWrong) {
  const Folder folder;
  const std::string trace = quoted(folder.write("trace.json", kTrained));
  const std::string given = "simulate --cluster 2x4 --trace " + trace + " --history-out ";

  EXPECT_TRUE(contains(berth(given + "- --policy fifo srtf").err, "so it is of one policy"));
  EXPECT_TRUE(contains(berth(given + "- --policy fifo --progress none").err, "with --progress none jobs report nothing"));
  EXPECT_TRUE(contains(berth(given + trace + " --policy fifo").err, "--history-out would replace"));
  EXPECT_TRUE(contains(berth(given + "/no/such/folder/h.csv --policy fifo").err, "/no/such/folder/h.csv"));
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "jobs": [{"id": "d", "submit_s": 0, "run_s": 20, "gpus": 1}]})");
  const Answer none = berth(given + "'" + (folder / "h.csv") + "' --policy fifo");
  EXPECT_EQ(none.code, 0);
  EXPECT_TRUE(contains(none.err, "note: --history-out: no job that completed states epochs")) << none.err;
  EXPECT_EQ(content_of(folder / "h.csv"), kHead);
}

}  // namespace berth::test::simulated_history_test
