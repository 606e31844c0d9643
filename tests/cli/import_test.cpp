#include <zlib.h>

#include "tests/cli/command.hpp"

namespace berth::test::import_test {
namespace {

const char* const kRows = "job_id,arrival_s,service_sec,gpu_count\nali-1-w#1,100.0,50.0,4\nali-3-w#3,120.0,500.0,8\n";

std::string packed(const Folder& folder, const std::string& name, const std::string& content) {
  const gzFile out = ::gzopen((folder / name).c_str(), "wb");
  ::gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
  ::gzclose(out);
  return folder / name;
}

}  // namespace

TEST(CliImport, WhatWasImportedIsReadAgain) {
  const Folder folder;
  const std::string csv = folder.write("pai.csv", kRows), trace = folder / "t.json", instant = " --cluster 2x4 --at +130 --out ";
  ASSERT_EQ(berth("import pai " + quoted(csv) + " --out " + quoted(trace)).code, 0);
  const std::string gz = packed(folder, "t.json.gz", content_of(trace));

  const Answer direct = berth("import pai " + quoted(csv) + instant + "-");
  const Answer again = berth("import trace " + quoted(trace) + instant + "-");
  const Answer unpacked = berth("import trace " + quoted(gz) + instant + "-");
  const Answer rewritten = berth("import trace " + quoted(trace) + " --out -");

  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(contains(direct.out, "ali-3-w#3")) << direct.out;
  EXPECT_EQ(again.out, direct.out);
  EXPECT_EQ(unpacked.out, direct.out);
  EXPECT_EQ(rewritten.out, content_of(trace));
}

TEST(CliImport, ABadTraceIsNamedWithItsPointer) {
  const Folder folder;
  const std::string file = folder.write("t.json", R"({"schema":"berth.trace.v1","jobs":[{"id":"a","submit_s":0,"run_s":0,"gpus":1}]})");

  const Answer bad = berth("import trace " + quoted(file) + " --out -");
  const Answer two = berth("import trace " + quoted(file) + " " + quoted(file) + " --out -");

  EXPECT_EQ(bad.code, 2);
  EXPECT_TRUE(contains(bad.err, file + ":1: /jobs/0/run_s: ")) << bad.err;
  EXPECT_EQ(two.code, 2);
  EXPECT_TRUE(contains(two.err, "one file")) << two.err;
}

TEST(CliImport, AnInstantWithoutJobsIsWarnedAboutWithTheSpanOfTheTrace) {
  const Folder folder;
  const std::string jobs = R"("jobs":[{"id":"a","submit_s":100,"run_s":5,"gpus":1},{"id":"b","submit_s":120.5,"run_s":5,"gpus":1}]})";
  const std::string dated = folder.write("d.json", R"({"schema":"berth.trace.v1","origin":"2020-03-18T04:01:39",)" + jobs);
  const std::string plain = folder.write("p.json", R"({"schema":"berth.trace.v1",)" + jobs);

  const Answer after = berth("import trace " + quoted(plain) + " --cluster 1x4 --at +9000 --out -");
  const Answer date = berth("import trace " + quoted(dated) + " --cluster 1x4 --at '2020-03-18 04:01:40' --out -");
  const Answer within = berth("import trace " + quoted(plain) + " --cluster 1x4 --at +101 --out -");

  EXPECT_EQ(after.code, 0) << after.err;
  EXPECT_TRUE(contains(after.err, "berth: warning: no job runs or waits at +9000 s; jobs are submitted from +100 s to +120.5 s\n"))
      << after.err;
  EXPECT_TRUE(contains(date.err, "at +1 s (2020-03-18T04:01:40); jobs are submitted from +100 s (2020-03-18T04:03:19) to +120.5 s"))
      << date.err;
  EXPECT_EQ(within.code, 0) << within.err;
  EXPECT_FALSE(contains(within.err, "warning")) << within.err;
}

TEST(CliImport, AnInstantBeforeTheTraceIsRefusedInTheWordsOfTheOption) {
  const Folder folder;
  const std::string file = folder.write(
      "t.json", R"({"schema":"berth.trace.v1","origin":"2026-01-01T10:00:00","jobs":[{"id":"a","submit_s":0,"run_s":5,"gpus":1}]})");
  const std::string import = "import trace " + quoted(file) + " --cluster 1x4 --out - --at ";

  const Answer before = berth(import + "'2020-01-01 12:00:00'"), none = berth(import + "'2026-02-30 12:00:00'");

  EXPECT_EQ(before.code, 2);
  EXPECT_TRUE(contains(before.err, "--at '2020-01-01 12:00:00' lies before the trace, which begins at 2026-01-01T10:00:00")) << before.err;
  EXPECT_EQ(none.code, 2);
  EXPECT_TRUE(contains(none.err, "time '2026-02-30 12:00:00': its month has no such day")) << none.err;
}

TEST(CliImport, AClusterThatIsNeitherSizesNorAFileIsRefusedWithBothForms) {
  const Folder folder;
  const std::string csv = folder.write("pai.csv", kRows);

  const Answer answer = berth("import pai " + quoted(csv) + " --cluster 48 --at +130 --out -");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "--cluster: cannot read '48'")) << answer.err;
  EXPECT_TRUE(contains(answer.err, "NODESxGPUS such as 32x8")) << answer.err;
}

TEST(CliImport, StandardOutputIsNamed) {
  const Folder folder;
  const std::string csv = folder.write("pai.csv", kRows);

  const Answer trace = berth("import pai " + quoted(csv) + " --out -");
  const Answer instant = berth("import pai " + quoted(csv) + " --cluster 2x4 --at +130 --out -");
  const Answer generated = berth("generate --nodes 2 --jobs 2 --out -");

  EXPECT_TRUE(contains(trace.err, "\nstandard output: berth.trace.v1")) << trace.err;
  EXPECT_TRUE(contains(instant.err, "\nstandard output: berth.snapshot.v1")) << instant.err;
  EXPECT_EQ(generated.err.rfind("standard output: 2 nodes", 0), 0u) << generated.err;
}

TEST(CliImport, AThroughputFileThatIsMissingIsNamed) {
  const Folder folder;
  const std::string rows = folder.write("w.trace", "A\tcmd\tdir\t-n\t1\t100\t1\t1\t-1\t0\n");
  const std::string throughputs = folder.write("t.json", R"j({"v100": {"('A', 1)": {"null": 2}}, "k80": {"('A', 1)": {"null": 1}}})j");

  const Answer without = berth("import gavel " + quoted(rows) + " --out -");
  const Answer with = berth("import gavel " + quoted(rows) + " " + quoted(throughputs) + " --cluster 1x1xV100+1x1xK80 --at +0 --out -");

  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(contains(without.err, "gavel: no file of throughputs")) << without.err;
  ASSERT_EQ(with.code, 0) << with.err;
  EXPECT_TRUE(contains(with.out, "\"1xV100\"") && contains(with.out, "\"1xK80\"")) << with.out;
}

TEST(CliImport, AKaiSnapshotIsPlanned) {
  const Folder folder;
  const std::string json = folder.write("s.json", R"({"rawObjects": {
    "nodes": [{"metadata": {"name": "n"}, "status": {"capacity": {"nvidia.com/gpu": "2"}}}],
    "queues": [{"metadata": {"name": "q"}}],
    "podGroups": [{"metadata": {"name": "g", "namespace": "ns"}, "spec": {"queue": "q", "minMember": 1}}],
    "pods": [{"metadata": {"name": "p", "namespace": "ns", "annotations": {"pod-group-name": "g"}},
              "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "2"}}}]}, "status": {"phase": "Pending"}}]}})");
  const std::string snapshot = folder / "snapshot.json";

  const Answer imported = berth("import kai " + quoted(json) + " --out " + quoted(snapshot));
  const Answer planned = berth("plan --snapshot " + quoted(snapshot) + " --policy fifo --json");
  const Answer at = berth("import kai " + quoted(json) + " --at +5 --out -");
  const Answer two = berth("import kai " + quoted(json) + " " + quoted(json) + " --out -");

  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(contains(imported.err, "note: ")) << imported.err;
  EXPECT_TRUE(contains(planned.out, "\"ns/g\"")) << planned.out;
  EXPECT_EQ(at.code, 2);
  EXPECT_TRUE(contains(at.err, "--at and --cluster are for traces")) << at.err;
  EXPECT_TRUE(contains(two.err, "kai takes one file")) << two.err;
}

// docs/kueue.md shows what these commands print.
TEST(CliImport, TheKueueClusterOfTheDocumentsIsPlannedAsTheySay) {
  const Folder folder;
  const std::string snapshot = folder / "snapshot.json", demo = BERTH_SOURCE_DIR "/data/demo/kueue.yaml";
  const std::string page = content_of(BERTH_SOURCE_DIR "/docs/kueue.md");

  const Answer imported = berth("import kueue " + quoted(demo) + " --out " + quoted(snapshot));
  const Answer queues = berth("explain --snapshot " + quoted(snapshot) + " --queues");
  const Answer planned = berth("plan --snapshot " + quoted(snapshot) + " --policy fifo --param discipline=greedy");
  const Answer at = berth("import kueue " + quoted(demo) + " --at +5 --out -");
  const Answer cluster = berth("import kueue " + quoted(demo) + " --cluster 2x8 --out -");

  ASSERT_EQ(imported.code, 0) << imported.err;
  EXPECT_TRUE(contains(imported.err, "1 admitted workload without a place in the objects")) << imported.err;
  EXPECT_GT(queues.out.size(), 100u);
  EXPECT_TRUE(contains(page, queues.out)) << queues.out;
  EXPECT_GT(planned.out.size(), 100u);
  EXPECT_TRUE(contains(page, planned.out)) << planned.out;
  EXPECT_EQ(at.code, 2);
  EXPECT_TRUE(contains(at.err, "--at is for traces")) << at.err;
  EXPECT_EQ(cluster.code, 2);
  EXPECT_TRUE(contains(cluster.err, "--cluster is for files without nodes: these have some")) << cluster.err;
}

TEST(CliImport, KueueQuotasAreReadOnAClusterThatIsNamed) {
  const Folder folder;
  const std::string objects = R"({"kind": "List", "items": [
      {"kind": "ResourceFlavor", "metadata": {"name": "fast"}, "spec": {"nodeLabels": {"type": "H100"}}},
      {"kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": {"resourceGroups": [{"flavors": [{"name": "fast", "resources": [
          {"name": "nvidia.com/gpu", "nominalQuota": 8}]}]}]}}]})";
  const std::string file = packed(folder, "k.json.gz", objects);

  const Answer on = berth("import kueue " + quoted(file) + " --cluster 2x8xH100 --out -");
  const Answer without = berth("import kueue " + quoted(file) + " --out -");

  ASSERT_EQ(on.code, 0) << on.err;
  EXPECT_TRUE(contains(on.out, R"({"id":"q","quotas":[{"gpu_type":"H100","guarantee":8,"limit":8}]}])")) << on.out;
  EXPECT_TRUE(contains(on.err, "note: there is no job in it\n")) << on.err;
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(contains(without.err, "or --cluster")) << without.err;
}

TEST(CliImport, JobsWithoutARateMeasuredOnTheClustersTypesAreReported) {
  const Folder folder;
  const std::string profiles = R"({"schema":"berth.trace.v1","profiles":{"p":{"kind":"table","unit":"steps","points":[
      {"gpus":1,"gpu_type":"V100","rate":2},{"gpus":1,"gpu_type":"K80","rate":1}]}},"jobs":[{"id":"a","submit_s":0,"run_s":50,"profile":"p",)";
  const std::string file = folder.write("t.json", profiles + R"("gpus":1},{"id":"b","submit_s":0,"run_s":50,"gpus":1,"profile":"p"},
      {"id":"c","submit_s":0,"run_s":50,"gpus":1}]})");
  const std::string two = folder.write("two.json", profiles + R"("gpus":2}]})");
  const std::string at = " --at +1 --out - --cluster ";

  const Answer other = berth("import trace " + quoted(file) + at + "1x4xA100"),
               one = berth("import trace " + quoted(file) + at + "1x2xA100+1x2xK80");
  const Answer wide = berth("import trace " + quoted(two) + at + "1x4xK80");

  ASSERT_EQ(other.code, 0) << other.err;
  EXPECT_TRUE(contains(other.err,
                       "  note: 2 jobs without a rate measured at their GPU count on this cluster's GPU types (measured: K80, V100; the "
                       "cluster has A100)\n"))
      << other.err;
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_FALSE(contains(one.err, "without a rate")) << one.err;
  EXPECT_TRUE(contains(
      wide.err, "1 job without a rate measured at their GPU count on this cluster's GPU types (measured: none; the cluster has K80)"))
      << wide.err;
}

TEST(CliImport, AKaiSnapshotWithoutJobsIsReported) {
  const Folder folder;

  const Answer none = berth("import kai " + quoted(folder.write("none.json", R"({"rawObjects": null})")) + " --out -");

  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_TRUE(contains(none.err, "note: there is no job in it\n")) << none.err;
}

TEST(CliImport, AKaiQueueAboveItselfIsRefusedWhereItStands) {
  const Folder folder;
  const std::string file =
      folder.write("kk.json", "{\"rawObjects\": {\"queues\": [\n{\"metadata\": {\"name\": \"q\"},\n\"spec\": {\"parentQueue\": \"q\"}}]}}");

  const Answer answer = berth("import kai " + quoted(file) + " --out -");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "berth: " + file + ":3: /rawObjects/queues: queue 'q' is its own ancestor\n")) << answer.err;
}

}  // namespace berth::test::import_test
