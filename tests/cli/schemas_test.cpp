// Checks the command's output against data/schemas.
#include <vector>

#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/params.hpp"

namespace berth::test::schemas_test {
namespace {

std::string fault(const std::string& document, const std::string& schema) {
  return schema_fault(document, content_of(BERTH_SOURCE_DIR "/data/schemas/" + schema + ".json"));
}

std::string plan_json(const std::string& options) { return berth("plan --json --snapshot '" + golden("shapes") + "' " + options).out; }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  return at == std::string::npos ? "no " + what + " in " + text : text.replace(at, what.size(), by);
}

}  // namespace

TEST(CliSchemas, PlansSideBySideAreAsSaid) {
  const std::string valued = plan_json("--policy price --compare optimus,fifo"), plain = plan_json("--policy fifo --compare price");

  EXPECT_EQ(fault(valued, "berth.contest.v1"), "") << valued;
  EXPECT_TRUE(contains(valued, "\"value\":")) << valued;
  EXPECT_EQ(fault(plain, "berth.contest.v1"), "") << plain;
}

TEST(CliSchemas, PlansAndWhatPoliciesKeepAreAsSaid) {
  for (const std::string& policy : policy_names()) {
    const Folder folder;
    const std::string plan =
        plan_json("--policy " + policy + " --out '" + (folder / "p.json") + "' --state-out '" + (folder / "s.json") + "'");
    EXPECT_EQ(fault(plan, "berth.plan.v1"), "") << plan;
    EXPECT_EQ(fault(content_of(folder / "p.json"), "berth.plan.v1"), "") << policy;
    EXPECT_EQ(fault(content_of(folder / "s.json"), "berth.state.v1"), "") << policy;
  }
}

TEST(CliSchemas, LinksAreAsSaid) {
  const std::string links = berth("explain --links --json --snapshot '" + golden("shared-links") + "'").out;
  EXPECT_EQ(fault(links, "berth.links.v1"), "") << links;
  EXPECT_EQ(fault(replaced(links, "\"load\":", "\"laod\":"), "berth.links.v1"), "/links/0: has no field 'load'");
  EXPECT_EQ(fault(replaced(links, "\"answer\":\"none\"", "\"answer\":\"never\""), "berth.links.v1"),
            "/virtual_clos/2/answer: is none of the constants");
}

TEST(CliSchemas, BoundsAreAsSaid) {
  for (const std::string options : {"", " --param terms=span,restart"}) {
    const std::string bound = berth("bound --json --snapshot '" + golden("shapes") + "'" + options).out;
    EXPECT_EQ(fault(bound, "berth.bound.v1"), "") << bound;
    EXPECT_EQ(contains(bound, "\"terms\":{\"span\":"), !options.empty()) << bound;
  }
}

TEST(CliSchemas, SearchesAreAsSaid) {
  const std::string jobs = "--workload helios --jobs 200 --load-gpus 64 --policy fifo --target 'p90_wait<1h' --seeds 2 --json ";
  for (const std::string options : {"--node 8 --price 2", "--node 8xA --node 4xB --price A=3 --price B=1 --power 300:50 --power-price 0.1",
                                    "--fixed 1x8xA --node 8xA --to 1 --confidence 90%"}) {
    const std::string document = berth("capacity " + jobs + options).out;
    EXPECT_EQ(fault(document, "berth.capacity.v1"), "") << document;
  }
  const Folder folder;
  std::string trace = R"({"schema": "berth.trace.v1", "name": "t", "jobs": [)";
  for (int j = 0; j < 200; ++j) {
    trace += (j > 0 ? ", " : "") + (R"({"id": "j)" + std::to_string(1000 + j)) + R"(", "submit_s": )" + std::to_string(2000 * j) +
             R"(, "run_s": )" + std::to_string(j % 4 == 0 ? 30'000 : 500) + R"(, "gpus": 4})";
  }
  folder.write("t.json", trace + "]}");
  for (const std::string options : {"--policy fifo --space discipline=strict,greedy,easy", "--policy las --budget 20",
                                    "--policy gandiva --overheads default --space quantum_s=1,2"}) {
    const std::string document =
        berth("tune --cluster 1x8 --window 1d --validate 2 --json --trace '" + (folder / "t.json") + "' " + options).out;
    EXPECT_EQ(fault(document, "berth.tune.v1"), "") << document;
  }
}

TEST(CliSchemas, SimulationsAreAsSaid) {
  const Folder folder;
  folder.write("trace.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 6, "user": "u", "deadline_s": 5}, {"id": "b", "submit_s": 1, "run_s": 20, "gpus": 9}]})");
  for (const std::string by : {"", " --by user", " --by vc", " --by queue"}) {
    const std::string line =
        berth("simulate --json --cluster 2x4 --policy srtf --overheads default --trace '" + (folder / "trace.json") + "'" + by).out;
    EXPECT_EQ(fault(line, "berth.simulation.v1"), "") << line;
    EXPECT_EQ(contains(line, "\"groups\":"), !by.empty()) << line;
  }
  const std::string made =
      berth(
          "simulate --json --cluster 2x4 --policy fifo --estimates none --progress noise:5 --round 60s --at-events"
          " --elastic --placement count --failures node=720h kill=1h --fidelity iteration --network a=0.5 b=0.25 eta=0 --trace '" +
          (folder / "trace.json") + "'")
          .out;
  EXPECT_EQ(fault(made, "berth.simulation.v1"), "") << made;
  EXPECT_TRUE(contains(made, R"("params":{"packing":"count"},"estimates":"none","overheads":"none","progress":"noise:5",)"
                             R"("node_failure_s":2592000,"kill_gpu_s":3600,"round_s":60,"at_events":true,"elastic":true,)"
                             R"("fidelity":"iteration","gpu_jobs":1,"network":{"a_s":0.5,"b_ns":0.25,"eta_ns":0})"))
      << made;
}

TEST(CliSchemas, WhatIsNotAsSaidIsFound) {
  const std::string contest = plan_json("--policy price --compare fifo"), schema = "berth.contest.v1";

  EXPECT_EQ(fault(replaced(contest, ".v1", ".v2"), schema), "/schema: is not the constant");
  EXPECT_EQ(fault(replaced(contest, "\"value\":", "\"vlaue\":"), schema), "/plans/0/vlaue: no such field");
  EXPECT_EQ(fault(replaced(contest, "\"starts\":", "\"starts\":-"), schema), "/plans/0/starts: is too small");
  EXPECT_EQ(fault(replaced(contest, "\"policy\":\"price\",", ""), schema), "/plans/0: has no field 'policy'");
  EXPECT_EQ(fault(replaced(contest, "\"flow_time\"", "7"), schema), "/objective: is of another type");
  EXPECT_EQ(fault(replaced(contest, "\"objective\":\"flow_time\",", ""), schema), ": has no field 'objective'");
}

}  // namespace berth::test::schemas_test
