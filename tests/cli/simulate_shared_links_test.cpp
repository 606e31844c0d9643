#include "tests/cli/command.hpp"

namespace berth::test::simulate_shared_links_test {
namespace {

// Three nodes of two GPUs in a line: `a` has one and a half of them, `b` the rest. Steps of 1 s, and 1 s to exchange gradients.
const char* const kJobs = R"({"schema": "berth.trace.v1", "name": "links", "profiles": {
  "p": {"kind": "closed_form", "unit": "steps", "closed_form": {"step": [{"beta_ns": 1000000000}]}, "gradient_bytes": 1000000000}},
  "jobs": [{"id": "a", "submit_s": 0, "run_s": 10, "gpus": 3, "profile": "p", "work": 10},
           {"id": "b", "submit_s": 0, "run_s": 10, "gpus": 3, "profile": "p", "work": 10}]})";

std::string cluster(const std::string& nic) {
  std::string nodes;
  for (const char* id : {"n0", "n1", "n2"}) {
    nodes += std::string(nodes.empty() ? "" : ",") + R"({"id": ")" + id + R"(", "gpu_type": "x", "gpus": 2)" + nic + "}";
  }
  return R"({"schema": "berth.snapshot.v1", "now_s": 0, "gpu_types": [{"id": "x", "memory_bytes": 1000000000}], "nodes": [)" + nodes +
         R"(], "jobs": []})";
}

Answer simulate(const Folder& folder, const std::string& nic, const std::string& more) {
  folder.write("trace.json", kJobs);
  folder.write("cluster.json", cluster(nic));
  return berth("simulate --cluster '" + (folder / "cluster.json") + "' --trace '" + (folder / "trace.json") +
               "' --policy fifo --placement count --json " + more);
}

double mean_jct(const std::string& out) { return std::stod(out.substr(out.find("\"mean_jct_s\":") + 13)); }

const std::string kNic = R"(, "nics": 1, "nic_bytes_per_s": 1000000000)";

}  // namespace

TEST(CliSimulateSharedLinks, GangsOnANodeTakeLonger) {
  const Folder folder;
  const Answer alone = simulate(folder, kNic, "--fidelity rate");
  const Answer shared = simulate(folder, kNic, "--fidelity shared_links --out '" + (folder / "runs.sqlite") + "'");
  ASSERT_EQ(shared.code, 0) << shared.err;
  EXPECT_TRUE(contains(alone.out, R"("fidelity":"rate")")) << alone.out;
  EXPECT_TRUE(contains(shared.out, R"("fidelity":"shared_links")")) << shared.out;
  EXPECT_GT(mean_jct(shared.out), 1.2 * mean_jct(alone.out));
}

// What gangs send counts by their place, and not what others send there.
TEST(CliSimulateSharedLinks, TiersAreBetweenRatesAndSharedLinks) {
  const Folder folder;
  const Answer apart = simulate(folder, kNic, "--fidelity tiers");
  const Answer shared = simulate(folder, kNic, "--fidelity shared_links");
  ASSERT_EQ(apart.code, 0) << apart.err;
  EXPECT_TRUE(contains(apart.out, R"("fidelity":"tiers")")) << apart.out;
  EXPECT_EQ(mean_jct(apart.out), mean_jct(simulate(folder, kNic, "--fidelity rate").out)) << "nothing is stated by groups";
  EXPECT_GT(mean_jct(shared.out), mean_jct(apart.out));
}

TEST(CliSimulateSharedLinks, AClusterWithoutBandwidthsIsRefused) {
  const Folder folder;
  for (const std::string fidelity : {"tiers", "shared_links"}) {
    const Answer refused = simulate(folder, "", "--fidelity " + fidelity);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(contains(refused.err, "--fidelity " + fidelity + ": the cluster states no bandwidth")) << refused.err;
  }
}

}  // namespace berth::test::simulate_shared_links_test
