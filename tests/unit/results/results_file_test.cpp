#include "host/results/results_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <future>
#include <iterator>
#include <regex>
#include <thread>

#include "berth/error.hpp"
#include "host/io/traces/importers.hpp"
#include "host/results/schema.hpp"
#include "host/sim/base/overheads.hpp"
#include "host/sim/base/working_gpus.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/unit/io/traces/trace_support.hpp"

namespace berth::results::results_file_test {
namespace {

using test::Folder;

Run run_of(const Trace& trace, const std::string& policy) {
  const Snapshot cluster = io::uniform_cluster(2, 4);
  sim::MeasuresRequest wanted;
  wanted.groups.fill(true);
  wanted.jobs = wanted.series = true;
  Run run;
  run.policy = policy;
  run.cluster = "2x4";
  run.trace = &trace;
  run.jobs = static_cast<std::int64_t>(trace.jobs.size());
  run.settings.request.policy = policy;
  run.settings.request.params = {{"discipline", "greedy"}};
  run.settings.overheads = sim::named_overheads("default");
  run.settings.request.seed = 7;
  sim::FiguresOf figures;
  sim::MeasuresOf measures(sim::facts_of(trace), sim::working_gpus(cluster), wanted);
  run.settings.series = measures.series();
  run.totals = sim::simulate(trace, cluster, run.settings, [&](const sim::JobOutcome& job) {
    figures.add(job);
    measures.add(job);
  });
  run.figures = figures.finish(run.totals);
  run.measures = measures.finish(run.totals);
  return run;
}

Trace three_jobs() {
  Trace trace = sim::trace_of({sim::job("a", 0, 10, 6, "it's"), sim::job("b", 1, 20, 8), sim::job("c", 2, 5, 9)});
  trace.jobs[0].deadline_us = 5 * kSecond;
  return trace;
}

std::string message_of(const std::string& path) {
  try {
    const ResultsFile file(path);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace

TEST(ResultsFile, RunsAreAddedToWhatIsThere) {
  const Folder folder;
  const Trace trace = three_jobs();
  EXPECT_EQ(ResultsFile(folder / "r").add(run_of(trace, "fifo")), 1);
  {
    ResultsFile file(folder / "r");
    EXPECT_EQ(file.add(run_of(trace, "srtf")), 2);
    EXPECT_EQ(file.add(run_of(trace, "sjf")), 3);
  }

  Database database(folder / "r");
  const auto number = [&](const std::string& query) { return database.number("SELECT " + query); };
  EXPECT_EQ(number("count(*) FROM runs WHERE policy = 'srtf' AND id = 2 AND trace = 't' AND cluster = '2x4' AND seed = 7"), 1);
  EXPECT_EQ(number("count(*) FROM runs WHERE json_extract(params, '$.discipline') = 'greedy'"), 3);
  EXPECT_EQ(number("makespan_us FROM runs WHERE id = 1"), 30 * kSecond);
  EXPECT_EQ(number("soft_missed FROM runs WHERE id = 1"), 1);
  EXPECT_EQ(number("rejected FROM runs WHERE id = 1"), 1);
  EXPECT_EQ(number("count(*) FROM jobs"), 9);
  EXPECT_EQ(number("jct_us FROM jobs WHERE run = 1 AND job = 'b' AND outcome = 'completed'"), 29 * kSecond);
  EXPECT_EQ(number("rho_ppm FROM jobs WHERE run = 1 AND user = 'it''s'"), 701'754) << "10 s of 10 s times 6 / 8 GPUs times 1.9 jobs";
  EXPECT_EQ(number("count(*) FROM jobs WHERE job = 'c' AND jct_us IS NULL AND rho_ppm IS NULL AND reason <> ''"), 3);
  EXPECT_EQ(number("sum(gpus_allocated_micro * (until_us - from_us)) FROM series WHERE run = 1"), (60 + 160) * 1'000'000 * kSecond);
  EXPECT_EQ(number("mean_jct_us FROM groups WHERE run = 1 AND grouping = 'size' AND name = '5-8'"), 39 * kSecond / 2);
  EXPECT_EQ(number("sum(gpu_us) FROM groups WHERE run = 1 AND grouping = 'user'"), 220 * kSecond);
  EXPECT_EQ(number("count(*) FROM losses WHERE run = 3"), sim::kLosses);
  EXPECT_EQ(database.number("PRAGMA user_version"), 4);
}

TEST(ResultsFile, ARunSaysHowItWasMade) {
  const Folder folder;
  const Trace trace = three_jobs();
  auto by_rate = run_of(trace, "fifo"), followed = by_rate;
  by_rate.settings.progress = "noise:5";
  by_rate.settings.events_too = true;
  followed.settings.iterations = sim::IterationSettings{2, {3, 4, 5}, {}};
  ResultsFile file(folder / "r");
  file.add(by_rate);
  file.add(followed);

  Database database(folder / "r");
  const auto runs = [&](const std::string& where) { return database.number("SELECT count(*) FROM runs WHERE " + where); };
  EXPECT_EQ(runs("id = 1 AND progress = 'noise:5' AND at_events = 1 AND fidelity = 'rate'"), 1);
  EXPECT_EQ(runs("id = 1 AND gpu_jobs IS NULL AND network_a_us IS NULL AND network_b_fs IS NULL AND network_eta_fs IS NULL"), 1);
  EXPECT_EQ(runs("id = 2 AND progress = 'epochs' AND at_events = 0 AND fidelity = 'iteration' AND gpu_jobs = 2"), 1);
  EXPECT_EQ(runs("id = 2 AND network_a_us = 3 AND network_b_fs = 4 AND network_eta_fs = 5"), 1);
}

TEST(ResultsFile, HasARowForEachQueueOfTheCluster) {
  const Folder folder;
  const Trace trace = three_jobs();
  auto run = run_of(trace, "fifo");
  sim::QueueFigures one{"q", 1, 2, 3, 4, 5, 6, 7, 8, {}, 9, 10, 11, 12, 13, 14, 15};
  one.reclaim_us = {16, 17, 0, 0, 18, 19};
  run.measures.queues = {one, {}};
  ResultsFile file(folder / "r");
  file.add(run);
  file.add(run_of(trace, "fifo"));

  Database database(folder / "r");
  EXPECT_EQ(database.number("SELECT count(*) FROM queues"), 2);
  EXPECT_EQ(database.number("SELECT count(*) FROM queues WHERE name = 'q' AND run = 1 AND gpu_us = 1 AND guaranteed_gpu_us = 2 AND "
                            "fair_gpu_us = 3 AND borrowed_gpu_us = 4 AND shortfall_gpu_us = 5 AND fair_shortfall_gpu_us = 6 AND "
                            "starved_us = 7 AND reclaims = 8 AND lapsed = 9 AND displaced = 10 AND displaced_for = 11 AND lost_gpu_us = 12 "
                            "AND hours = 13 AND hours_below_half = 14 AND worst_hour_ppm = 15 AND mean_reclaim_us = 16 AND "
                            "median_reclaim_us = 17 AND max_reclaim_us = 18 AND p95_reclaim_us = 19"),
            1);
}

// The columns of earlier versions have other names, and none of them was released.
TEST(ResultsFile, AFileOfAnotherVersionIsRefusedAndLeftAsItIs) {
  const Folder folder;
  for (const int version : {1, 3, 5}) {
    const std::string path = folder / fmt::format("v{}", version);
    Database(path).run(fmt::format("CREATE TABLE runs (a); PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, version));

    EXPECT_EQ(message_of(path),
              path + fmt::format(": has results in version {}; this program knows version 4: write to another file", version));
    EXPECT_EQ(Database(path).number("SELECT count(*) FROM sqlite_schema"), 1);
  }
}

// Two create the file at once, and add to it alternately.
TEST(ResultsFile, SeveralMayHaveItOpen) {
  const Folder folder;
  const Trace trace = three_jobs();
  const auto run = run_of(trace, "fifo");
  const auto add_some = [&] {
    ResultsFile file(folder / "r");
    for (int i = 0; i < 5; ++i) file.add(run);
  };
  auto other = std::async(std::launch::async, add_some);
  add_some();
  other.get();

  Database database(folder / "r");
  EXPECT_EQ(database.number("SELECT count(*) FROM runs"), 10);
  EXPECT_EQ(database.number("SELECT min(n) FROM (SELECT count(*) AS n FROM jobs GROUP BY run)"), 3);
}

TEST(ResultsFile, AnAdditionWaitsForAWriter) {
  const Folder folder;
  const Trace trace = three_jobs();
  ResultsFile file(folder / "r");
  std::promise<void> writing;
  const auto other = std::async(std::launch::async, [&] {
    Database database(folder / "r");
    Transaction transaction(database);
    writing.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    transaction.commit();
  });
  writing.get_future().wait();

  EXPECT_EQ(file.add(run_of(trace, "fifo")), 1);
}

TEST(ResultsFile, NothingIsLeftOfARunThatCannotBeWritten) {
  const Folder folder;
  const Trace trace = three_jobs();
  ResultsFile file(folder / "r");
  file.add(run_of(trace, "fifo"));
  auto twice = run_of(trace, "fifo");
  twice.measures.groups[0].push_back(twice.measures.groups[0].front());  // one group, two rows: the key rejects it

  EXPECT_THROW(file.add(twice), EnvironmentError);
  EXPECT_EQ(file.add(run_of(trace, "fifo")), 2) << "and the file can be written as before";
  Database database(folder / "r");
  EXPECT_EQ(database.number("SELECT count(*) FROM jobs"), 6);
}

TEST(ResultsFile, RefusesWhatIsNoResults) {
  const Folder folder;
  folder.write("text", std::string(200, 'x'));
  EXPECT_EQ(message_of(folder / "text"), (folder / "text") + ": is no SQLite file");
  Database(folder / "other").run("CREATE TABLE notes (a); INSERT INTO notes VALUES (1)");
  EXPECT_EQ(message_of(folder / "other"), (folder / "other") + ": is an SQLite file of something else, not of results");
  EXPECT_EQ(Database(folder / "other").number("SELECT count(*) FROM sqlite_schema"), 1) << "left as it was";
  folder.write("empty", "");
  EXPECT_EQ(message_of(folder / "empty"), "none");
  EXPECT_THROW(ResultsFile(folder / "no/such/folder"), EnvironmentError);
}

TEST(ResultsFile, ThePageNamesEveryField) {
  const Folder folder;
  { const ResultsFile file(folder / "r"); }
  std::ifstream page(test::source_dir() + "/docs/formats/results.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  const std::regex spread("^(mean|median|p90|p99|max)_");
  Database database(folder / "r");
  int fields = 0;
  for (const std::string table : {"meta", "runs", "losses", "jobs", "series", "groups"}) {
    const std::size_t begin = text.find("\n## `" + table + "`"), end = text.find("\n## ", begin + 1);
    ASSERT_NE(begin, std::string::npos) << table;
    const std::string part = text.substr(begin, end - begin);
    for (const std::string& name : database.texts("SELECT name FROM pragma_table_info('" + table + "')")) {
      const std::string of_spread = "`..._" + std::regex_replace(name, spread, "") + "`";
      EXPECT_TRUE(part.find("`" + name + "`") != std::string::npos || part.find(of_spread) != std::string::npos) << table << "." << name;
      ++fields;
    }
  }
  EXPECT_GT(fields, 100);
}

}  // namespace berth::results::results_file_test
