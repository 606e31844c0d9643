#include "tests/unit/io/slurm/slurm_support.hpp"

namespace berth::test::slurm_versions_test {
namespace {

io::SlurmImport of_version(const char* parser, const std::vector<SlurmRow>& jobs) {
  return imported(document("jobs", jobs, meta_of(parser)) + nodes22({node22("n1"), node22("n2")}));
}

bool says_without(const io::SlurmImport& import) {
  return std::any_of(import.notes.begin(), import.notes.end(),
                     [](const std::string& note) { return note.find(" without what ") != note.npos; });
}

}  // namespace

TEST(SlurmVersions, FieldsThatAreMissingThoughTheVersionPrintsThemAreReportedOnce) {
  const SlurmRow trimmed = job22(7).without("array_task_string").without("tasks").without("shared");

  const io::SlurmImport import = of_jobs({job22(5), trimmed, trimmed.with("job_id", "8"), job22(9).without("het_job_id")});

  EXPECT_TRUE(
      noted(import, "2 jobs without what data parser v0.0.38 prints: array_task_string, tasks, shared; taken for not set (first: 7)"));
  EXPECT_TRUE(noted(import, "1 job without what data parser v0.0.38 prints: het_job_id; taken for not set (first: 9)"));
  EXPECT_EQ(import.notes.size(), 2u);
}

TEST(SlurmVersions, OfNodesToo) {
  const io::SlurmImport import =
      imported(jobs22({}) + nodes22({node22("n1"), node22("n2").without("active_features").without("state_flags")}));

  EXPECT_TRUE(noted(import, "1 node without what data parser v0.0.38 prints: state_flags, active_features; taken for not set (first: n2)"));
}

TEST(SlurmVersions, WhatAVersionDoesNotPrintIsNotMissed) {
  const SlurmRow old = job22(7);

  EXPECT_FALSE(says_without(of_version("v0.0.38", {old})));
  EXPECT_TRUE(noted(of_version("v0.0.40", {old}), "v0.0.40 prints: minimum_switches; "));
  EXPECT_FALSE(says_without(of_version("v0.0.41", {old.with("minimum_switches", "0")})));
  EXPECT_FALSE(says_without(of_version("v0.0.42", {old.with("required_switches", "0")})));
  EXPECT_TRUE(noted(of_version("v0.0.43", {old.with("required_switches", "0")}), "v0.0.43 prints: segment_size; "));
  EXPECT_FALSE(says_without(of_version("v0.0.42+complex", {old.with("required_switches", "0")})));
}

TEST(SlurmVersions, OfAVersionThatIsNotKnownTheFieldsOfAllAreMissed) {
  const io::SlurmImport import = of_version("v0.0.99", {job22(7).without("tasks")});

  EXPECT_TRUE(noted(import, "1 job without what every known data parser prints: tasks; taken for not set (first: 7)"));
}

TEST(SlurmVersions, TheCountOfSwitchesHasTwoNames) {
  EXPECT_TRUE(noted(of_version("v0.0.41", {job22(7).with("minimum_switches", "2")}),
                    "1 job: its count of switches is not kept, as the topology has none (first: 7)"));
  EXPECT_TRUE(noted(of_version("v0.0.42", {job22(7).with("required_switches", "2")}),
                    "1 job: its count of switches is not kept, as the topology has none (first: 7)"));
}

TEST(SlurmVersions, AnUnknownVersionIsReportedOnceForAllDocuments) {
  const std::string meta = meta_of("v0.0.99");
  const SlurmRow node = node22("n1");

  const io::SlurmImport import = imported(document("jobs", {job22(7)}, meta) + document("nodes", {node}, meta));

  EXPECT_EQ(std::count(import.notes.begin(), import.notes.end(), "data parser v0.0.99: read as v0.0.43, the newest one known"), 1);
}

}  // namespace berth::test::slurm_versions_test
