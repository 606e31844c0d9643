#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::test::fit_steps_test {
namespace {

struct StepRefusal {
  const char *file, *options, *problem;
};

// step = 0.01 batch + 0.1, plus 0.2 (g - 1) / g inside a node, twice that between nodes.
std::string steps(double wrong = 1) {
  std::string text = "gpu_type,placement,local_bsz,step_time\n";
  for (const int batch : {10, 20, 40}) {
    const double compute = 0.01 * batch + 0.1;
    text += fmt::format("H,1,{},{}\nH,2,{},{}\nH,11,{},{}\n", batch, compute, batch, compute + 0.1, batch, compute + 0.2 * wrong);
  }
  return text;
}

}  // namespace

TEST(CliFitSteps, SaysTheCostsAndTheErrors) {
  const Folder folder;
  const std::string file = quoted(folder.write("steps.csv", steps()));
  const Answer answer = berth("fit --profile " + file + " --predict gpus=2,nodes=2,batch=30 --predict gpus=4,batch=30");
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "\nH: 9 measurements of 9 settings, 4 coefficients\n")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "\na sample                 0.01\n")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "R2 1.0000; error 0.0 % in the mean")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "2 GPUs on 2 nodes  3             -           -              not determined by the others\n"))
      << answer.out;
  EXPECT_TRUE(contains(answer.out, "gpus=2,nodes=2,batch=30  0.6                100")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "extrapolated: 4 GPUs on a node, measured up")) << answer.out;
  const Answer json = berth("fit --json --profile " + file + " --predict gpus=2,nodes=2,batch=30");
  EXPECT_TRUE(contains(json.out, R"("sample_s":0.01,"fixed_s":0.1,"input_core_s":0,"node_volume_s":0.1,)")) << json.out;
  EXPECT_TRUE(contains(json.out, R"({"asked":"gpus=2,nodes=2,batch=30","step_s":0.6,"rate":100})")) << json.out;
}

// The profile is what a job of a snapshot states.
TEST(CliFitSteps, AJobRunsAtTheRatesOfItsProfile) {
  const Folder folder;
  const std::string file = quoted(folder.write("steps.csv", steps()));
  ASSERT_EQ(berth("fit --profile " + file + " --out " + quoted(folder / "profile.json")).code, 0);
  const std::string snapshot = folder.write(
      "s.json",
      R"({"schema": "berth.snapshot.v1", "now_s": 0, "gpu_types": [{"id": "H"}], "nodes": [{"id": "n0", "gpu_type": "H", "gpus": 2}],
      "jobs": [{"id": "a", "submit_s": 0, "shapes": [{"id": "s", "gpus": 2, "gpu_type": "H", "local_batch": 20}],
                "progress": {"work_total": 8000}, "profile": )" +
          content_of(folder / "profile.json") + R"(}, {"id": "b", "submit_s": 1, "gpus": 2}]})");
  // 40 samples take 0.4 s: 8,000 take 80 s.
  const Answer plan = berth("plan --policy fifo --param discipline=easy --json --no-timing --snapshot " + quoted(snapshot));
  EXPECT_TRUE(contains(plan.out, R"("start_s":80)")) << plan.out << plan.err;
}

TEST(CliFitSteps, ALargeErrorIsRefused) {
  const Folder folder;
  std::string text = steps();
  text += "H,11,80,9\nH,1,80,0.9\nH,2,80,1\n";
  const std::string file = quoted(folder.write("steps.csv", text));
  const Answer answer = berth("fit --profile " + file + " --out " + quoted(folder / "none.json"));
  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_TRUE(contains(answer.out, "refused: the largest error is above 20.0 % (--max-error)")) << answer.out;
  EXPECT_FALSE(std::filesystem::exists(folder / "none.json"));
  EXPECT_EQ(berth("fit --profile " + file + " --max-error 95% --out -").code, 0);
}

TEST(CliFitSteps, BadInputIsRefused) {
  const Folder folder;
  const StepRefusal refusals[] = {
      {"batch,gpus\n1,1\n", "", "no column 'step_s'"},
      {"step_s,batch\n1,1\n", "", "no column 'gpus'"},
      {"step_s,gpus\n0,1\n", "", "steps.csv:2: column 'step_s' (1): expected seconds above 0, at most 1000000"},
      {"step_s,gpus\n1000001,1\n", "", "steps.csv:2: column 'step_s' (1): expected seconds above 0, at most 1000000"},
      {"step_s,gpus\n-1,1\n", "", "steps.csv:2: column 'step_s'"},
      {"step_s,gpus\nnan,1\n", "", "steps.csv:2: column 'step_s'"},
      {"step_s,gpus,nodes\n1,2,3\n", "", "steps.csv:2: column 'nodes'"},
      {"step_s,placement\n1,4x\n", "", "expected the GPUs of each node as digits from 1 to 9, such as 44"},
      {"step_s,gpus,batch\n1,1,0\n", "", "expected samples above 0"},
      {"step_s,gpus,batch\n1,1,\n1,2,8\n", "", "expected a batch in all rows or in none"},
      {"step_s,gpus,cores\n1,1,0\n", "", "expected CPU cores for each GPU, above 0"},
      {"step_s,gpus\n", "", "it has no measurement"},
      {"step_s,gpus\n1,1\n1,2\n", "", "--profile: 2 settings are measured: at least 3 are needed"},
      {nullptr, " --predict gpus=x", "'x': expected a whole number from 1"},
      {nullptr, " --predict gpus=2,nodse=2", "did you mean 'nodes'?"},
      {nullptr, " --predict gpus=2,batch=1,gpus=4", "gpus stands there twice"},
      {nullptr, " --predict gpus=2", "batch is required, as batches were measured"},
      {nullptr, " --predict gpus=2,nodes=3,batch=1", "2 GPUs are on 2 nodes at most"},
      {nullptr, " --predict gpus=2,batch=1,gpu_type=I", "gpu_type is one of H"},
      {nullptr, " --max-error many", "--max-error: 'many': expected a part such as 20% or 0.2"},
      {nullptr, " --leave-out", "--profile: it takes no HISTORY, --test or --leave-out"},
  };
  for (const StepRefusal& one : refusals) {
    const std::string file = folder.write("steps.csv", one.file == nullptr ? steps() : one.file);
    const Answer answer = berth("fit --profile " + quoted(file) + one.options);
    EXPECT_EQ(answer.code, 2) << one.problem << answer.out;
    EXPECT_TRUE(contains(answer.err, one.problem)) << one.problem << ": " << answer.err;
  }
  EXPECT_TRUE(contains(berth("fit").err, "HISTORY is required, or --profile FILE"));
  EXPECT_TRUE(contains(berth("fit h.csv --predict gpus=1").err, "--predict and --max-error are for --profile"));
  EXPECT_EQ(berth("fit --profile " + quoted(folder.write("ok.csv", steps())) + " >/dev/full").code, 2);
}

}  // namespace berth::test::fit_steps_test
