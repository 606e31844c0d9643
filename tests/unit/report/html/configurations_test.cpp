#include "host/report/html/configurations.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/report/html/comparison.hpp"
#include "tests/support/folder.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::report::configurations_test {
namespace {

using results::ResultsFile;
using results::ResultsReader;
using results::Run;
using test::Folder;

struct Stored {
  std::string policy;
  std::uint64_t seed = 0;
  std::int64_t jct_us = 0;
  std::string cluster = "2x4", load = "";
  std::vector<std::pair<std::string, std::string>> params = {};
};

ReportInput input_of(const Folder& folder, const std::vector<Stored>& all, const std::string& baseline = "") {
  const Trace trace = sim::trace_of({sim::job("a", 0, 10, 6)});
  {
    ResultsFile file(folder / "r");
    for (const Stored& one : all) {
      Run run;
      run.policy = one.policy;
      run.cluster = one.cluster;
      run.trace = &trace;
      run.settings.request.seed = one.seed;
      run.settings.request.params = one.params;
      run.figures.jct_us.mean = one.jct_us;
      if (!one.load.empty()) run.details["load"] = one.load;
      file.add(run);
    }
  }
  ResultsReader reader(folder / "r");
  return read_report_input(reader, "r", {}, baseline);
}

}  // namespace

TEST(ReportConfigurations, AreRunsThatDifferBySeedOnly) {
  const Folder folder;
  const ReportInput input = input_of(folder, {{"fifo", 2, 20}, {"srtf", 1, 5}, {"fifo", 1, 10}});

  ASSERT_EQ(input.configurations.size(), 2U);
  EXPECT_EQ(input.configurations[0].label, "fifo");
  EXPECT_EQ(input.configurations[0].runs, (std::vector<std::size_t>{2, 0})) << "by seed";
  ASSERT_EQ(input.scenarios.size(), 1U);
  EXPECT_EQ(input.scenarios[0].label, "t on 2x4");
  EXPECT_TRUE(input.varying.empty());
  const ComparedFigures figures = compare_configurations(input);
  EXPECT_EQ(figures[0][0].value.mean, 15);
  EXPECT_FALSE(figures[0][0].difference.has_value());
  ASSERT_TRUE(figures[1][0].difference.has_value());
  EXPECT_EQ(figures[1][0].difference->runs, 1) << "only seed 1 is in both";
  EXPECT_EQ(figures[1][0].difference->mean, -5);
}

TEST(ReportConfigurations, SettingsBesidesThePolicyMakeScenarios) {
  const Folder folder;
  const ReportInput input = input_of(folder, {{"fifo", 1, 1, "2x4", "0.5"}, {"fifo", 1, 2, "4x4", "0.5"}, {"fifo", 1, 3, "2x4", "0.9"}});

  ASSERT_EQ(input.scenarios.size(), 3U);
  EXPECT_EQ(input.scenarios[0].label, "t on 2x4, load 0.5");
  EXPECT_EQ(input.scenarios[1].label, "t on 4x4, load 0.5");
  EXPECT_EQ(input.varying, (std::vector<std::string>{"cluster", "load"}));
}

TEST(ReportConfigurations, ParametersAreInLabelsUnlessThePolicyNamesThem) {
  const Folder folder;
  const ReportInput input = input_of(folder, {{"fifo", 1, 1, "2x4", "", {{"discipline", "easy"}}},
                                              {"fifo", 1, 2, "2x4", "", {{"discipline", "strict"}}},
                                              {"fifo@discipline=greedy", 1, 3, "2x4", "", {{"discipline", "greedy"}}}});

  ASSERT_EQ(input.configurations.size(), 3U);
  EXPECT_EQ(input.scenarios.size(), 1U);
  EXPECT_EQ(input.configurations[0].label, "fifo discipline=easy");
  EXPECT_EQ(input.configurations[2].label, "fifo@discipline=greedy");
}

TEST(ReportConfigurations, TheBaselineIsTheFirstOrTheOneAskedFor) {
  const Folder folder, other, third;
  const std::vector<Stored> runs{{"fifo", 1, 1}, {"srtf", 1, 2}};
  EXPECT_EQ(input_of(folder, runs).scenarios[0].baseline, 0U);
  EXPECT_EQ(input_of(other, runs, "srtf").scenarios[0].baseline, 1U);
  EXPECT_THROW(input_of(third, runs, "las"), InvalidArgument);
}

TEST(ReportConfigurations, InputsOfSweepsAreSettings) {
  const Folder folder;
  input_of(folder, {{"fifo", 1, 1}, {"fifo", 1, 2}});
  results::Database(folder / "r")
      .run(
          "DROP TABLE IF EXISTS sweep_runs; CREATE TABLE sweep_runs (key TEXT PRIMARY KEY, run INTEGER, inputs TEXT);"
          R"(INSERT INTO sweep_runs (key, run, inputs) VALUES ('a', 1, '{"seed": 1, "edit": "x", "n": 2}'), ('b', 2, '{"seed": 1, "edit": "y", "n": 2}'))");
  ResultsReader reader(folder / "r");

  const ReportInput input = read_report_input(reader, "r", {}, "");

  EXPECT_EQ(input.varying, std::vector<std::string>{"edit"});
  EXPECT_EQ(input.configurations.size(), 2U);
}

}  // namespace berth::report::configurations_test
