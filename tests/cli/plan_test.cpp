#include "berth/plan.hpp"

#include <algorithm>
#include <utility>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "tests/cli/command.hpp"

namespace berth::test::plan_test {
namespace {

const char* const kGolden[] = {"disciplines", "failures", "gang_tree", "quotas", "racks", "victims"};

std::string plan_of(const std::string& scenario, const std::string& rest) { return "plan --snapshot '" + golden(scenario) + "' " + rest; }

}  // namespace

TEST(CliPlan, EveryPolicyPlansEveryScenario) {
  for (const std::string scenario : kGolden) {
    const ClusterState state(io::parse_snapshot(content_of(golden(scenario)), scenario));
    for (const PolicyInfo& policy : policies()) {
      SCOPED_TRACE(scenario + " " + policy.name);
      const Answer answer = berth(plan_of(scenario, "--json --policy " + policy.name));
      ASSERT_EQ(answer.code, 0) << answer.err;
      const Plan plan = io::parse_plan(answer.out, state);
      EXPECT_EQ(plan.policy, policy.name);
      EXPECT_EQ(plan.decisions.size(), static_cast<std::size_t>(state.job_count()));
      EXPECT_TRUE(validate_plan(state, plan).empty());
    }
  }
}

TEST(CliPlan, BackendsAndThreadsGiveEqualPlans) {
  for (const std::string scenario : kGolden) {
    SCOPED_TRACE(scenario);
    const ClusterState state(io::parse_snapshot(content_of(golden(scenario)), scenario));
    const auto plan = [&](const std::string& options) {
      const Answer answer = berth(plan_of(scenario, "--json --policy srsf " + options));
      EXPECT_EQ(answer.code, 0) << answer.err;
      return io::parse_plan(answer.out, state);
    };
    const Plan reference = plan("--backend reference");
    EXPECT_TRUE(same_plan(reference, plan("--backend cpu")));
    EXPECT_TRUE(same_plan(reference, plan("--backend cpu --threads 2")));
    EXPECT_TRUE(same_plan(reference, plan("--backend cuda")));
    EXPECT_TRUE(same_plan(reference, plan("--threads 0")));
  }
}

TEST(CliPlan, WithoutTimingEqualPlansAreEqualBytes) {
  const Answer first = berth(plan_of("racks", "--policy fifo --json --no-timing")),
               second = berth(plan_of("racks", "--policy fifo --json --no-timing"));

  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, second.out);
  EXPECT_FALSE(contains(first.out, "\"timing\""));
  EXPECT_TRUE(contains(berth(plan_of("racks", "--policy fifo --json")).out, "\"load_s\""));
}

TEST(CliPlan, TheHeaderSaysWhenAndWhatCutItShort) {
  const Folder folder;
  const auto head = [&](const std::string& origin, const std::string& rest) {
    const std::string file = folder.write("s.json", "{\"origin\": \"" + origin + "\"," + content_of(golden("racks")).substr(1));
    const std::string out = berth("plan --snapshot '" + file + "' --policy fifo " + rest).out;
    return out.substr(0, out.find('\n'));
  };

  EXPECT_TRUE(contains(head("2020-12-31T23:59:55", ""), "fifo at 2021-01-01T00:00:05: ")) << head("2020-12-31T23:59:55", "");
  EXPECT_TRUE(contains(head("2020-12-31T23:59:55Z", ""), "fifo at 2021-01-01T00:00:05Z: "));
  EXPECT_TRUE(contains(head("last year", ""), "fifo: "));
  EXPECT_TRUE(contains(head("", "--max-iterations 2"), " in use; cut short by --max-iterations after 2 jobs"))
      << head("", "--max-iterations 2");
  EXPECT_FALSE(contains(head("", "--max-iterations 100"), "cut short")) << head("", "--max-iterations 100");
  for (const auto& [policy, unit] : {std::pair{"price", "evaluation"}, std::pair{"ones", "generation"}, std::pair{"ones-plus", "round"}}) {
    const std::string out = berth("plan --snapshot '" + golden("shapes") + "' --max-iterations 1 --policy " + policy).out;
    EXPECT_TRUE(contains(out, std::string("cut short by --max-iterations after 1 ") + unit + "\n")) << out;
  }
}

TEST(CliPlan, TheTableIsPlainOnAPipeAndColouredOnRequest) {
  const Answer plain = berth(plan_of("racks", "--policy priority")), coloured = berth(plan_of("racks", "--policy priority --color always"));

  EXPECT_EQ(plain.code, 0) << plain.err;
  EXPECT_EQ(plain.err, "");
  EXPECT_TRUE(contains(plain.out, "gang6")) << plain.out;
  EXPECT_FALSE(contains(plain.out, "\x1b["));
  EXPECT_TRUE(contains(coloured.out, "\x1b["));
}

TEST(CliPlan, TheSnapshotMayComeFromStandardInputAndThePlanGoToAFile) {
  const Folder folder;
  const Answer direct = berth(plan_of("quotas", "--policy las --json --no-timing"));
  const Answer piped = berth("plan --snapshot - --policy las --no-timing --out '" + folder / "p.json" + "' <'" + golden("quotas") + "'");

  ASSERT_EQ(piped.code, 0) << piped.err;
  EXPECT_EQ(content_of(folder / "p.json"), direct.out);
  EXPECT_FALSE(contains(piped.out, "berth.plan.v1"));
}

TEST(CliPlan, OutDashPrintsJsonAlone) {
  EXPECT_EQ(berth(plan_of("quotas", "--policy las --no-timing --out -")).out,
            berth(plan_of("quotas", "--policy las --no-timing --json")).out);
}

TEST(CliPlan, WhatAPolicyKeepsGoesOutAndComesBack) {
  const Folder folder;
  const std::string state = folder / "s.json";
  const Answer first = berth(plan_of("victims", "--policy las --state-out '" + state + "'"));
  ASSERT_EQ(first.code, 0) << first.err;

  const Answer again = berth(plan_of("victims", "--policy las --state-in '" + state + "' --state-out '" + state + "'"));

  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(io::parse_policy_state(content_of(state)).policy, "las");
  const Answer other = berth(plan_of("victims", "--policy srsf --state-in '" + state + "'"));
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "kept by policy 'las'")) << other.err;
}

TEST(CliPlan, ComparisonShowsBothPolicies) {
  const Answer text = berth(plan_of("disciplines", "--compare fifo,srsf")),
               json = berth(plan_of("disciplines", "--compare fifo,srsf --json"));

  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "fifo") && contains(text.out, "srsf")) << text.out;
  EXPECT_EQ(json.code, 0) << json.err;
  EXPECT_TRUE(contains(json.out, "\"differences\"")) << json.out;
}

TEST(CliPlan, OnePolicyIsComparedWithItselfUnderOtherParameters) {
  const Answer same = berth(plan_of("disciplines", "--compare fifo,fifo --param discipline=greedy --json")),
               other = berth(plan_of("disciplines", "--compare fifo,fifo@discipline=greedy@max_tries=8 --param discipline=strict --json")),
               wrong = berth(plan_of("disciplines", "--compare fifo,fifo@colour=red"));

  EXPECT_TRUE(contains(same.out, "\"differences\":[]")) << same.out << same.err;
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_TRUE(contains(other.out, "runs_only_in_second")) << other.out;
  EXPECT_EQ(wrong.code, 2);
  EXPECT_TRUE(contains(wrong.err, "policy 'fifo' has no parameter 'colour'")) << wrong.err;
}

TEST(CliPlan, PoliciesAreComparedByTheObjectiveOfOne) {
  const Answer text = berth(plan_of("shapes", "--policy price --compare optimus,fifo,price@objective=flow_time")),
               json = berth(plan_of("shapes", "--policy price --compare optimus,fifo --json")),
               plain = berth(plan_of("shapes", "--policy fifo --compare price --json")),
               alone = berth(plan_of("shapes", "--policy price --json"));

  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "flow_time: upper bound ")) << text.out;
  EXPECT_TRUE(contains(text.out, "optimus") && contains(text.out, "gap") && contains(text.out, "gpus_used")) << text.out;
  EXPECT_EQ(json.code, 0) << json.err;
  // The objective value of the first plan is the one that it states.
  const std::size_t value = alone.out.find("\"value\":");
  ASSERT_NE(value, std::string::npos) << alone.out;
  const std::string number = alone.out.substr(value + 8, alone.out.find_first_of(",}", value) - value - 8);
  EXPECT_TRUE(contains(json.out, "\"value\":" + number)) << json.out << number;
  EXPECT_FALSE(contains(plain.out, "\"value\"")) << plain.out;
  EXPECT_TRUE(contains(plain.out, "\"plans\":[{\"policy\":\"fifo\"")) << plain.out;
}

TEST(CliPlan, AParameterReachesThePolicy) {
  const Answer answer = berth(plan_of("disciplines", "--policy fifo --param discipline=greedy --param max_tries=8 --json"));

  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "\"discipline\":\"greedy\"")) << answer.out;
}

TEST(CliPlan, APolicyMayBringItsParameters) {
  const Answer own = berth(plan_of("disciplines", "--policy fifo@discipline=greedy --json --no-timing"));
  const Answer apart = berth(plan_of("disciplines", "--policy fifo --param discipline=greedy --json --no-timing"));
  EXPECT_EQ(own.code, 0) << own.err;
  EXPECT_EQ(own.out, apart.out);
  EXPECT_EQ(berth(plan_of("disciplines", "--policy fifo@discipline=sideways")).code, 2);
}

TEST(CliPlan, SaysWhatIsPromised) {
  const Folder folder;
  const std::string out = folder / "plan.json";
  const Answer text = berth(plan_of("deadlines", "--policy genie@expected=0 --out '" + out + "'"));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "3 deadlines promised, 1 job accepted with a warning\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "big    promised: ends in 50 s at the latest\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "clash  accepted with a warning: nothing is promised\n")) << text.out;
  const std::string explain = "explain --snapshot '" + golden("deadlines") + "' --plan '" + out + "'";
  EXPECT_TRUE(contains(berth(explain).out, "big    promised: ends in 50 s at the latest\n"));
  EXPECT_TRUE(contains(berth(explain + " --job big").out, "deadline       promised: ends in 50 s at the latest\n"));
  EXPECT_TRUE(contains(content_of(out), "{\"job\":\"big\",\"until_s\":150}"));
  EXPECT_FALSE(contains(berth(plan_of("deadlines", "--policy srsf")).out, "promised, "));
}

TEST(CliPlan, NamesTheStepThatIsPromised) {
  const Folder folder;
  const std::string out = folder / "plan.json";
  const Answer text = berth(plan_of("deadline-steps", "--policy edf-admission@expected=0 --out '" + out + "'"));
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "second  promised, step 2 of 3 (value 8): ends in 25 s at the latest\n")) << text.out;
  EXPECT_TRUE(contains(text.out, "passed  promised, step 2 of 2 (value 1): ends in 1 min 40 s at the latest\n")) << text.out;
  const std::string explain = "explain --snapshot '" + golden("deadline-steps") + "' --plan '" + out + "' --job second";
  EXPECT_TRUE(contains(berth(explain).out, "deadline       promised, step 2 of 3 (value 8): ends in 25 s at the latest\n"));
}

TEST(CliPlan, AWorkLimitStopsThePass) {
  const Answer answer = berth(plan_of("racks", "--policy fifo --max-iterations 1 --json"));

  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "\"stopped_by\":\"iterations\"")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "\"iterations\":1,")) << answer.out;
}

TEST(CliPlan, AReaderThatGoesAwayIsNoError) {
  const Answer answer =
      berth("version >/dev/null; { '" BERTH_COMMAND "' " + plan_of("racks", "--policy fifo --json") + "; echo $? >&2; } | true");

  EXPECT_EQ(answer.err, "0\n");
}

TEST(CliPlan, TheAnswerIsNoWhenNoJobCanEverRun) {
  const Folder folder;
  const std::string file = folder.write("s.json", R"({"schema":"berth.snapshot.v1","now_s":0,"gpu_types":[{"id":"a"}],
"nodes":[{"id":"n","gpu_type":"a","gpus":1}],"jobs":[{"id":"j","submit_s":0,"gpus":2}]})");

  const Answer answer = berth("plan --snapshot '" + file + "' --policy fifo");

  EXPECT_EQ(answer.code, 1) << answer.err;
  EXPECT_TRUE(contains(answer.out, "reject")) << answer.out;
}

// Each waiting job has a reason of its own.
TEST(CliPlan, RowsLimitReasonsToo) {
  const Folder folder;
  std::string jobs;
  for (int gpus = 2; gpus <= 40; ++gpus)
    jobs += std::string(jobs.empty() ? "" : ",") + R"({"id": "j)" + std::to_string(gpus) +
            R"(", "submit_s": 1, "shapes": [{"id": "s", "gpus": )" + std::to_string(gpus) + "}]}";
  folder.write("s.json", R"({"schema": "berth.snapshot.v1", "now_s": 5, "gpu_types": [{"id": "g"}],
    "nodes": [{"id": "n", "gpu_type": "g", "gpus": 1}], "jobs": [)" +
                             jobs + "]}");
  const auto lines = [&](const std::string& rows) {
    const Answer answer = berth("plan --policy fifo --snapshot '" + (folder / "s.json") + "' --rows " + rows);
    EXPECT_NE(answer.out, "") << answer.err;
    return std::pair(std::count(answer.out.begin(), answer.out.end(), '\n'), answer.out);
  };

  EXPECT_LE(lines("2").first, 10) << lines("2").second;
  EXPECT_TRUE(contains(lines("2").second, "... and the reasons of 37 more jobs (--rows 0 shows all)\n")) << lines("2").second;
  EXPECT_GE(lines("0").first, 39);
}

}  // namespace berth::test::plan_test
