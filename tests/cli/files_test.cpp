#include <regex>

#include "tests/cli/command.hpp"

namespace berth::test::files_test {

TEST(CliFiles, AGeneratedSnapshotIsPlannedExplainedAndValidated) {
  for (const std::string workload : {"philly", "helios", "pai", "llm", "ones"}) {
    SCOPED_TRACE(workload);
    const Folder folder;
    const std::string s = folder / "s.json", p = folder / "p.json";
    const std::string files = " --snapshot '" + s + "' --plan '" + p + "'";

    const Answer made = berth("generate --nodes 16 --jobs 60 --seed 7 --elastic --workload " + workload + " --out '" + s + "'");
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_TRUE(contains(made.out, "16 nodes, 128 GPUs, 60 jobs")) << made.out;
    const Answer planned = berth("plan --snapshot '" + s + "' --policy srsf --out '" + p + "'");
    ASSERT_EQ(planned.code, 0) << planned.err;
    const Answer explained = berth("explain" + files);
    EXPECT_EQ(explained.code, 0) << explained.err;
    EXPECT_EQ(explained.out, planned.out);
    const Answer valid = berth("validate" + files);
    EXPECT_EQ(valid.code, 0) << valid.err << valid.out;
    EXPECT_EQ(berth("validate --json" + files).out, "{\"valid\":true,\"violations\":[]}\n");
  }
}

TEST(CliFiles, LikelySlipsInQuotasAreNoted) {
  const Folder folder;
  const std::string cluster =
      R"({"schema": "berth.snapshot.v1", "now_s": 0, "gpu_types": [{"id": "H"}], "nodes": [{"id": "n", "gpu_type": "H", "gpus": 8}],
"jobs": [], "queues": [)";
  std::string queues = R"({"id": "a", "quotas": [{"gpu_type": "H", "guarantee": 9}]})";
  const auto validate = [&](const std::string& options) {
    return berth("validate" + options + " --snapshot '" + folder.write("s.json", cluster + queues + "]}") + "'");
  };
  const Answer text = validate("");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(contains(text.out, "\n  note: queue a: has a guarantee of 9 H GPUs; the cluster has 8\n")) << text.out;
  EXPECT_EQ(validate(" --json").out,
            "{\"valid\":true,\"violations\":[],\"notes\":[\"queue a: has a guarantee of 9 H GPUs; the cluster has 8\"]}\n");
  for (int i = 0; i < 25; ++i) queues += R"(, {"id": "q)" + std::to_string(i) + R"(", "quotas": [{"gpu_type": "*", "guarantee": 9}]})";
  EXPECT_TRUE(contains(validate("").out, "\n  note: 7 more about quotas\n"));
}

TEST(CliFiles, ASeedGivesEqualBytes) {
  const std::string arguments = "generate --nodes 8 --jobs 20 --gpu-types A100-80GB:3,H100-80GB --waiting 0.25 --seed 3 --out -";
  const Answer first = berth(arguments);

  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, berth(arguments).out);
  EXPECT_TRUE(contains(first.err, "8 nodes")) << first.err;
}

TEST(CliFiles, AnInvalidPlanIsAnsweredWithNo) {
  const Folder folder;
  const Answer planned = berth("plan --snapshot '" + golden("racks") + "' --policy priority --json");
  ASSERT_EQ(planned.code, 0) << planned.err;
  // "gang6" needs rack r1; one of its nodes becomes one of the other rack.
  const std::string broken = std::regex_replace(planned.out, std::regex("\"node\":\"n2\""), "\"node\":\"n0\"");
  ASSERT_NE(broken, planned.out);
  const std::string files = " --snapshot '" + golden("racks") + "' --plan '" + folder.write("p.json", broken) + "'";

  const Answer text = berth("validate" + files), json = berth("validate --json --max 1" + files);

  EXPECT_EQ(text.code, 1) << text.err;
  EXPECT_TRUE(contains(text.out, "INVALID\n  ")) << text.out;
  EXPECT_EQ(json.code, 1);
  EXPECT_TRUE(contains(json.out, "{\"valid\":false,\"violations\":[")) << json.out;
}

TEST(CliFiles, OneJobIsExplained) {
  const Folder folder;
  const std::string files = " --snapshot '" + golden("racks") + "' --plan '" + folder / "p.json" + "'";
  ASSERT_EQ(berth("plan --snapshot '" + golden("racks") + "' --policy priority --out '" + folder / "p.json" + "'").code, 0);

  const Answer known = berth("explain --job never" + files), unknown = berth("explain --job missing" + files);

  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_TRUE(contains(known.out, "job never: reject")) << known.out;
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(contains(unknown.err, "no job 'missing'")) << unknown.err;
}

TEST(CliFiles, ATraceIsImportedAndAnInstantOfItRebuilt) {
  const Folder folder;
  const std::string csv = folder.write(
      "pai.csv", "job_id,arrival_s,service_sec,gpu_count\nali-1-w#1,100.0,50.0,4\nali-2-w#2,110.0,0.0,1\nali-3-w#3,120.0,500.0,8\n");

  const Answer trace = berth("import pai '" + csv + "' --out '" + folder / "t.json" + "'");
  const Answer instant = berth("import pai '" + csv + "' --cluster 2x4 --at +130 --estimates none --out '" + folder / "s.json" + "'");

  ASSERT_EQ(trace.code, 0) << trace.err;
  EXPECT_TRUE(contains(trace.out, "2 jobs")) << trace.out;
  EXPECT_TRUE(contains(trace.out, "dropped 1")) << trace.out;
  EXPECT_TRUE(contains(content_of(folder / "t.json"), "berth.trace.v1"));
  ASSERT_EQ(instant.code, 0) << instant.err;
  EXPECT_TRUE(contains(instant.out, "2 nodes, 8 GPUs, 2 jobs (1 running, 1 waiting)")) << instant.out;
  EXPECT_EQ(berth("validate --snapshot '" + folder / "s.json" + "'").code, 0);
}

TEST(CliFiles, AnImportThatLacksAClusterOrAnInstantIsRefused) {
  const Folder folder;
  const std::string csv = folder.write("pai.csv", "job_id,arrival_s,service_sec,gpu_count\nali-1-w#1,100.0,50.0,4\n");

  const Answer no_cluster = berth("import pai '" + csv + "' --at +130 --out /dev/null");
  const Answer no_instant = berth("import pai '" + csv + "' --cluster 2x4 --out /dev/null");
  const Answer no_format = berth("import phily '" + csv + "' --out /dev/null");

  EXPECT_EQ(no_cluster.code, 2);
  EXPECT_TRUE(contains(no_cluster.err, "--cluster")) << no_cluster.err;
  EXPECT_EQ(no_instant.code, 2);
  EXPECT_TRUE(contains(no_instant.err, "--at")) << no_instant.err;
  EXPECT_EQ(no_format.code, 2);
  EXPECT_TRUE(contains(no_format.err, "did you mean 'philly'?")) << no_format.err;
}

TEST(CliFiles, ANameThatEndsInGzGetsGzip) {
  const Folder folder;
  const std::string plain = folder / "s.json", packed = folder / "s.json.gz", generate = "generate --nodes 20 --jobs 100 --out ";
  ASSERT_EQ(berth(generate + quoted(plain)).code, 0);
  ASSERT_EQ(berth(generate + quoted(packed)).code, 0);

  EXPECT_EQ(content_of(packed).substr(0, 2), "\x1f\x8b");
  EXPECT_LT(content_of(packed).size(), content_of(plain).size() / 2);
  EXPECT_EQ(std::system(("gzip -dc '" + packed + "' | cmp - '" + plain + "'").c_str()), 0);
  EXPECT_EQ(berth("plan --policy srsf --no-timing --json --snapshot " + quoted(packed)).out,
            berth("plan --policy srsf --no-timing --json --snapshot " + quoted(plain)).out);
  const Answer twice = berth(generate + quoted(folder / "t.json.gz"));
  EXPECT_EQ(content_of(folder / "t.json.gz"), content_of(packed)) << "equal content, equal bytes" << twice.err;
}

TEST(CliFiles, ADatabaseIsNotPacked) {
  const Folder folder;
  folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [{"id": "a", "submit_s": 0, "run_s": 10, "gpus": 1}]})");
  const std::string given = "simulate --cluster 1x1 --policy fifo --trace '" + (folder / "t.json") + "' ";

  const Answer refused = berth(given + "--out " + quoted(folder / "r.sqlite.gz"));
  const Answer rows = berth(given + "--jobs-out " + quoted(folder / "jobs.csv.gz"));

  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "--out: results are a database, which cannot be packed")) << refused.err;
  EXPECT_EQ(rows.code, 0) << rows.err;
  EXPECT_EQ(content_of(folder / "jobs.csv.gz").substr(0, 2), "\x1f\x8b");
}

}  // namespace berth::test::files_test
