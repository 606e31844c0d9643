#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <regex>
#include <sstream>
#include <vector>

#include "host/results/database.hpp"
#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::test::report_test {
namespace {

using results::Database;
using results::Statement;

constexpr const char* kHostile = R"(</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"')";

void write_trace(const Folder& folder, const std::string& name = "t") {
  std::string jobs;
  for (int i = 0; i < 40; ++i) {
    jobs += fmt::format(R"({}{{"id": "j{}", "submit_s": {}, "run_s": {}, "gpus": {}}})", i == 0 ? "" : ", ", i, 3 * i, 50 + 37 * i % 101,
                        1 + i % 5);
  }
  folder.write("t.json", R"({"schema": "berth.trace.v1", "name": ")" + name + R"(", "jobs": [)" + jobs + "]}");
}

std::string simulated(const Folder& folder, const std::string& options) {
  const Answer answer =
      berth("simulate --cluster 2x4 --trace '" + (folder / "t.json") + "' --out '" + (folder / "r.sqlite") + "' " + options);
  EXPECT_EQ(answer.code, 0) << answer.err;
  return folder / "r.sqlite";
}

Answer report(const std::string& store, const std::string& options) { return berth("report '" + store + "' " + options); }

// Rows of a CSV text without quoted line ends, by column.
std::vector<std::map<std::string, std::string>> rows_of(const std::string& csv) {
  std::istringstream lines(csv);
  std::vector<std::string> head;
  std::vector<std::map<std::string, std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream parts(line + ",");
    for (std::string cell; std::getline(parts, cell, ',');) cells.push_back(cell);
    if (head.empty()) {
      head = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), head.size()) << line;
    for (std::size_t c = 0; c < std::min(head.size(), cells.size()); ++c) {
      if (c == 0) rows.emplace_back();
      rows.back()[head[c]] = cells[c];
    }
  }
  return rows;
}

}  // namespace

TEST(CliReport, TableEqualsTheStore) {
  const Folder folder;
  write_trace(folder);
  std::string store;
  for (const int seed : {1, 2, 3})
    store = simulated(folder, fmt::format("--policy fifo srtf --estimates noise:60 --failures node=1h repair=60s --seed {}", seed));
  const std::string page = report(store, "--out -").out;

  Database database(store);
  std::size_t compared = 0;
  const std::regex cell(R"re(<td data-metric="mean_jct" data-value="([0-9.]+)">)re");
  std::vector<std::string> shown;
  for (std::sregex_iterator one(page.begin(), page.end(), cell), end; one != end; ++one) shown.push_back((*one)[1]);
  ASSERT_EQ(shown.size(), 2U) << page.substr(0, 4000);
  for (const std::string policy : {"fifo", "srtf"}) {
    // Rounded half up, as SQLite's integer division rounds down.
    const std::int64_t mean =
        database.number("SELECT (2 * sum(mean_jct_us) + count(*)) / (2 * count(*)) FROM runs WHERE policy = '" + policy + "'");
    EXPECT_EQ(std::llround(std::stod(shown[compared]) * 1e6), mean) << policy;
    ++compared;
  }
  for (const auto& row : rows_of(report(store, "--format csv").out)) {
    if (row.at("policy") != "srtf" || row.at("metric") != "makespan") continue;
    EXPECT_EQ(row.at("runs"), "3");
    EXPECT_EQ(row.at("pairs"), "3");
    const std::int64_t difference = database.number(
        "SELECT sum(s.makespan_us - f.makespan_us) FROM runs s, runs f WHERE s.seed = f.seed AND s.policy = 'srtf' AND f.policy = 'fifo'");
    EXPECT_LE(std::abs(3 * std::llround(std::stod(row.at("difference")) * 1e6) - difference), 1);
  }
}

// Of three jobs of 10 s on 4 GPUs, two are in time and one within its second step, and genie says so before.
TEST(CliReport, DeadlinesAreThoseOfTheStore) {
  const Folder folder;
  folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "due", "jobs": [
    {"id": "a", "submit_s": 0, "run_s": 10, "gpus": 4, "deadline_s": 10, "deadline_value": 5, "deadline_hard": true},
    {"id": "b", "submit_s": 0, "run_s": 10, "gpus": 4, "deadline_s": 25, "deadline_value": 3},
    {"id": "c", "submit_s": 0, "run_s": 10, "gpus": 4, "deadline_s": 26, "deadline_value": 2,
     "deadline_later": [{"at_s": 31, "value": 1}]},
    {"id": "d", "submit_s": 0, "run_s": 10, "gpus": 4}]})");
  const Answer run = berth("simulate --cluster 1x4 --trace '" + (folder / "t.json") + "' --out '" + (folder / "r.sqlite") +
                           "' --policy genie@expected=0 fifo");
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string store = folder / "r.sqlite";

  const std::vector<std::map<std::string, std::string>> rows = rows_of(report(store, "--format csv --part deadlines").out);
  ASSERT_EQ(rows.size(), 2U);
  const std::map<std::string, std::string>& genie = rows[0];
  const std::pair<const char*, const char*> expected[] = {
      {"hard", "1"},     {"hard_missed", "0"},     {"soft", "2"},   {"soft_missed", "1"}, {"value", "10"},  {"value_met", "9"},
      {"promised", "3"}, {"promised_missed", "0"}, {"warned", "0"}, {"warned_met", "0"},  {"refused", "0"}, {"best_effort", "1"},
      {"met_later", "1"}};
  for (const auto& [column, value] : expected) EXPECT_EQ(genie.at(column), value) << column;
  EXPECT_EQ(rows[1].at("promised"), "0");
  std::vector<std::string> late;
  for (const auto& row : rows_of(report(store, "--format csv --part late").out)) late.push_back(row.at("seconds"));
  // Of genie: b 5 s before its deadline, a at it, c 4 s after it. fifo is the same here.
  EXPECT_EQ(late, (std::vector<std::string>{"-5", "0", "4", "-5", "0", "4"}));
  const std::string page = report(store, "--out -").out;
  EXPECT_NE(page.find("id=\"deadlines-table\""), std::string::npos);
  EXPECT_NE(page.find("<td data-value=\"9\">9</td><td data-value=\"1\">1</td>"), std::string::npos);
  EXPECT_NE(page.find("id=\"percentiles-late\""), std::string::npos);
  EXPECT_NE(report(store, "--format json").out.find("\"value_met\":9"), std::string::npos);
  EXPECT_EQ(report(store, "--format svg --part late").code, 0);
  const std::string schema = content_of(BERTH_SOURCE_DIR "/data/schemas/berth.report.v1.json");
  EXPECT_EQ(schema_fault(report(store, "--format json").out, schema), "");

  // Files from before the table have counts of what was met only. Without deadlines there is no section.
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(store.c_str(), &raw), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(raw, "DROP TABLE deadlines", nullptr, nullptr, nullptr), SQLITE_OK);
  const auto old = rows_of(report(store, "--format csv --part deadlines").out);
  EXPECT_EQ(old[0].at("soft_missed"), "1");
  EXPECT_EQ(old[0].at("value"), "");
  EXPECT_EQ(report(store, "--out -").code, 0);
  ASSERT_EQ(sqlite3_exec(raw, "UPDATE runs SET soft_deadlines = 0, hard_deadlines = 0", nullptr, nullptr, nullptr), SQLITE_OK);
  EXPECT_EQ(report(store, "--out -").out.find("deadlines-table"), std::string::npos);
  sqlite3_close(raw);
}

TEST(CliReport, DistributionsAndSeriesAreThoseOfTheStore) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  Database database(store);

  std::vector<std::string> jct = database.texts("SELECT jct_us FROM jobs WHERE jct_us IS NOT NULL ORDER BY jct_us");
  const auto ranks = rows_of(report(store, "--format csv --part jct").out);
  ASSERT_EQ(ranks.size(), jct.size());
  for (std::size_t k = 0; k < jct.size(); ++k) EXPECT_EQ(std::llround(std::stod(ranks[k].at("seconds")) * 1e6), std::stoll(jct[k]));
  const auto series = rows_of(report(store, "--format csv --part queue").out);
  EXPECT_EQ(static_cast<std::int64_t>(series.size()), database.number("SELECT count(*) FROM series"));
  __int128 sum = 0;
  for (const auto& row : series) sum += std::llround(std::stod(row.at("waiting")) * 1e6);
  EXPECT_EQ(static_cast<std::int64_t>(sum), database.number("SELECT sum(waiting_micro) FROM series"));
}

// All GPU-time from the first submission to the last end is in exactly one part.
TEST(CliReport, GpuHoursAddUp) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy srtf --overheads default");
  Database database(store);
  double sum = 0;
  std::map<std::string, double> parts;
  for (const auto& row : rows_of(report(store, "--format csv --part gpu-hours").out))
    sum += parts[row.at("part")] = std::stod(row.at("gpu_seconds"));
  const double all = static_cast<double>(database.number("SELECT 8 * (max(until_us) - min(from_us)) FROM series")) / 1e6;

  EXPECT_NEAR(sum, all, all / 1e4);
  EXPECT_EQ(parts["down"], 0);
  EXPECT_EQ(std::llround(parts["restart"] * 1e6), database.number("SELECT gpu_us FROM losses WHERE cause = 'restart'"));
  EXPECT_GT(parts["restart"], 0);
}

TEST(CliReport, StaysAreInTheFileAndThePage) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo srtf --stays");
  Database database(store);

  EXPECT_EQ(database.number("SELECT count(*) FROM nodes"), 4);
  // The GPU-time of a run is that of its stays.
  for (const int run : {1, 2}) {
    std::int64_t gpu_us = 0;
    Statement stays(database, fmt::format("SELECT gpus, until_us - from_us FROM stays WHERE run = {}", run));
    while (stays.step()) gpu_us += __builtin_popcountll(static_cast<std::uint64_t>(stays.number(0))) * stays.number(1);
    EXPECT_EQ(gpu_us, database.number(fmt::format("SELECT gpu_us FROM runs WHERE id = {}", run)));
  }
  EXPECT_TRUE(contains(report(store, "--out -").out, "\"nodes\":[")) << "in the data of the page";
  const Answer streamed = berth("simulate --cluster 2x4 --workload helios --jobs 10 --policy fifo --stays --out '" + (folder / "s") + "'");
  EXPECT_EQ(streamed.code, 2);
  EXPECT_TRUE(contains(streamed.err, "--stays")) << streamed.err;
  EXPECT_EQ(berth("simulate --cluster 2x4 --trace '" + (folder / "t.json") + "' --policy fifo --stays").code, 2);
}

TEST(CliReport, CommandsAndInputsAreExact) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo --param 'packing=count'");
  Database database(store);
  const std::string command = database.texts("SELECT value FROM details WHERE name = 'command'").at(0);
  const Folder other;
  EXPECT_TRUE(contains(command, "berth simulate --cluster 2x4 --trace ")) << command;

  const std::string hash = database.texts("SELECT sha256 FROM inputs WHERE option = '--trace'").at(0);
  EXPECT_EQ(std::system(("echo '" + hash + "  " + (folder / "t.json") + "' | sha256sum -c --status").c_str()), 0) << hash;
  EXPECT_EQ(database.number("SELECT bytes FROM inputs"), static_cast<std::int64_t>(std::filesystem::file_size(folder / "t.json")));
  const std::string page = report(store, "--out -").out;
  EXPECT_TRUE(contains(page, hash));
  EXPECT_TRUE(contains(page, "packing=count"));
}

TEST(CliReport, NamesAreNeverMarkup) {
  const Folder folder;
  write_trace(folder, R"(</script><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"')");
  const std::string store = simulated(folder, "--policy fifo srtf --stays");
  {
    Database database(store);
    for (const std::string& change :
         {std::string("UPDATE jobs SET job = job || ?"), std::string("UPDATE runs SET policy = policy || ?, cluster = ?"),
          std::string("UPDATE nodes SET name = name || ?"), std::string("UPDATE details SET value = ?"),
          std::string("UPDATE inputs SET path = ?, option = ?, sha256 = ?")}) {
      Statement update(database, change);
      for (const char c : change) {
        if (c == '?') update.bind(std::string_view(kHostile));
      }
      update.step();
    }
  }
  const Answer answer = report(store, "--out -");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::string& page = answer.out;

  EXPECT_FALSE(contains(page, "<img"));
  EXPECT_FALSE(contains(page, "alert(1)</script>"));
  std::size_t ends = 0;
  for (std::size_t at = page.find("</script"); at != std::string::npos; at = page.find("</script", at + 1)) ++ends;
  EXPECT_EQ(ends, 2U) << "the data's and the script's own";
  for (const char* part : {"comparison", "jct", "wait", "queue", "gpu-hours", "capacity"}) {
    const std::string svg = report(store, std::string("--format svg --part ") + part).out;
    EXPECT_FALSE(contains(svg, "<script") || contains(svg, "<img")) << part;
    EXPECT_TRUE(contains(svg, "</svg>")) << part;
  }
}

TEST(CliReport, BytesThatAreNoTextAreShown) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  Database(store).run("UPDATE runs SET trace = CAST(x'61ff1b5be280ae62' AS TEXT)");

  const Answer answer = report(store, "--format json");

  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "a\xEF\xBF\xBD\\\\u001b[\\\\u202eb")) << answer.out;
  EXPECT_EQ(report(store, "--out -").code, 0);
}

TEST(CliReport, WrongFilesAreRefusedAndLeftAsTheyAre) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo --stays");
  const std::string whole = content_of(store);
  const auto expect = [&](const std::string& name, const std::string& said) {
    const std::string before = content_of(folder / name);
    const Answer answer = report(folder / name, "--out '" + (folder / "o.html") + "'");
    EXPECT_EQ(answer.code, 2) << name << answer.out;
    EXPECT_TRUE(contains(answer.err, said)) << name << ": " << answer.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "o.html")) << name;
    EXPECT_EQ(content_of(folder / name), before) << name;
    EXPECT_FALSE(std::filesystem::exists(folder / (name + "-wal"))) << name;
  };
  expect("missing", "No such file");
  EXPECT_FALSE(std::filesystem::exists(folder / "missing")) << "it is not created";
  folder.write("text", "not a database, but longer than a header of SQLite, which has one hundred bytes: so it is read as one indeed\n");
  expect("text", "no SQLite file");
  folder.write("empty", "");
  expect("empty", "is empty");
  std::filesystem::create_directory(folder / "d");
  EXPECT_TRUE(contains(report(folder / "d", "--out -").err, "is no regular file"));
  Database(folder / "foreign").run("CREATE TABLE t (a)");
  expect("foreign", "something else, not of results");
  Database(folder / "newer").run("CREATE TABLE runs (a); PRAGMA application_id = 0x42727468; PRAGMA user_version = 99");
  expect("newer", "version 99; this program knows version");
  expect("newer", "use a newer berth");
  Database(folder / "older").run("CREATE TABLE runs (a); PRAGMA application_id = 0x42727468; PRAGMA user_version = 1");
  expect("older", "version 1;");
  Database(folder / "hollow")
      .run("CREATE TABLE runs (id INTEGER); INSERT INTO runs VALUES (1); PRAGMA application_id = 0x42727468; PRAGMA user_version = 4");
  expect("hollow", "hollow");
  // Damaged in any page: refused, or read where the damage is in what is not needed. Never a crash.
  const std::size_t pages = whole.size() / 4096, stride = std::max<std::size_t>(1, pages / 40);
  for (std::size_t page = 1; page < pages; page += stride) {
    std::string damaged = whole;
    for (std::size_t i = 0; i < 4096 && page * 4096 + i < damaged.size(); ++i) damaged[page * 4096 + i] = static_cast<char>(i * 37 + page);
    folder.write("damaged", damaged);
    const int code = report(folder / "damaged", "--out -").code;
    EXPECT_TRUE(code == 0 || code == 2) << page << ": " << code;
  }
  folder.write("cut", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(report(folder / "cut", "--out -").code, 2);
}

TEST(CliReport, ALockedFileIsSaidToBeLocked) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  Database holder(store);
  holder.run("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");

  const Answer answer = report(store, "--out -");

  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "another program has locked it")) << answer.err;
}

TEST(CliReport, ReadsWhileAnotherWrites) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  Database writer(store);
  writer.run("BEGIN IMMEDIATE; DELETE FROM runs");

  EXPECT_EQ(report(store, "--out -").code, 0);
  writer.run("COMMIT");
  const Answer without = report(store, "--out -");
  EXPECT_EQ(without.code, 2);
  EXPECT_TRUE(contains(without.err, "has no runs")) << without.err;
}

// As another user, where the tests run as root, who writes everywhere.
TEST(CliReport, ReadsAFileInAFolderThatMayNotBeWritten) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  std::filesystem::create_directory(folder / "locked");
  std::filesystem::copy_file(store, folder / "locked/a b%20?#.sqlite");
  std::filesystem::permissions(folder / ".", std::filesystem::perms(0755));
  std::filesystem::permissions(folder / "locked/a b%20?#.sqlite", std::filesystem::perms(0444));
  std::filesystem::permissions(folder / "locked", std::filesystem::perms(0555));
  const std::string as_other = ::geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  const auto read = [&] {
    return std::system((as_other + "'" BERTH_COMMAND "' report '" + (folder / "locked/a b%20?#.sqlite") + "' --format csv >'" +
                        (folder / "out") + "' 2>'" + (folder / "err") + "'")
                           .c_str());
  };
  if (!as_other.empty() && std::system((as_other + "test -x '" BERTH_COMMAND "'").c_str()) != 0)
    GTEST_SKIP() << "others cannot reach the command";

  EXPECT_EQ(read(), 0) << content_of(folder / "err");
  EXPECT_TRUE(contains(content_of(folder / "out"), ",fifo,mean_jct,"));
  // What is in a log must not be left out.
  std::filesystem::permissions(folder / "locked", std::filesystem::perms(0755));
  folder.write("locked/a b%20?#.sqlite-wal", std::string(4152, 'x'));
  std::filesystem::permissions(folder / "locked", std::filesystem::perms(0555));
  EXPECT_NE(read(), 0);
  EXPECT_TRUE(contains(content_of(folder / "err"), "copy both there")) << content_of(folder / "err");
  std::filesystem::permissions(folder / "locked", std::filesystem::perms(0755));
}

TEST(CliReport, WrongOptionsAreUsageErrors) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  for (const auto& [options, said] : std::vector<std::pair<std::string, std::string>>{
           {"", "--out is required"},
           {"--format pdf --out -", "--format"},
           {"--format csv --part nothing", "--part: there is no 'nothing'"},
           {"--format svg --metric nothing", "--metric: there is no 'nothing'"},
           {"--format svg --metric " + std::string(200, 'x'), "xxx..."},
           {"--out - --baseline srtf", "--baseline: no run has the policy 'srtf'"},
           {"--out - --run 7", "has no run 7"},
           {"--out - --gantt-rows -1", "--gantt-rows"},
           {"--out '" + store + "'", "--out"},
       }) {
    const Answer answer = report(store, options);
    EXPECT_EQ(answer.code, 2) << options;
    EXPECT_TRUE(contains(answer.err, said)) << options << ": " << answer.err;
  }
  EXPECT_EQ(report(store, "--out /dev/full").code, 2);
  EXPECT_EQ(report(store, "--format csv >/dev/full").code, 2);
}

TEST(CliReport, RepeatedAndInterruptedRunsAreNamed) {
  const Folder folder;
  write_trace(folder);
  simulated(folder, "--policy fifo");
  const std::string store = simulated(folder, "--policy fifo srtf");
  const std::string same = report(store, "--format json").out;
  EXPECT_TRUE(contains(same, "1 run left out: later runs of the same configuration and seed have the same results")) << same;
  Database(store).run("UPDATE runs SET mean_jct_us = mean_jct_us + 1 WHERE id = 1; UPDATE runs SET interrupted = 1 WHERE policy = 'srtf'");

  const std::string other = report(store, "--format json").out;

  EXPECT_TRUE(contains(other, "1 run left out, although the results differ")) << other;
  EXPECT_TRUE(contains(other, "1 run not compared: interrupted before the end")) << other;
  EXPECT_FALSE(contains(other, "\"label\":\"srtf\"")) << other;
}

TEST(CliReport, LinksAreThoseOfExplain) {
  const Folder folder;
  write_trace(folder);
  const std::string store = simulated(folder, "--policy fifo");
  const std::string links = berth("explain --links --json --snapshot '" + golden("shared-links") + "'").out;
  folder.write("links.json", links);
  const std::string page = report(store, "--out - --links '" + (folder / "links.json") + "'").out;
  EXPECT_TRUE(contains(page, "<table id=\"links-table\">"));
  const std::size_t at = links.find("\"link\":\"") + 8;
  EXPECT_TRUE(contains(page, "<th scope=\"row\">" + links.substr(at, links.find('"', at) - at) + "</th>")) << "the first link";
  EXPECT_FALSE(contains(report(store, "--out -").out, "links-table\">"));

  for (const auto& [text, said] : std::vector<std::pair<std::string, std::string>>{
           {"", "is no JSON"},
           {"{", "is no JSON"},
           {"[]", "/schema: is not 'berth.links.v1'"},
           {R"({"schema": "berth.plan.v1"})", "/schema: is not 'berth.links.v1'"},
           {R"({"schema": "berth.links.v1", "links": 3})", "/links: is no list"},
           {R"({"schema": "berth.links.v1", "links": [{"link": 3}]})", "/links/0/link: is no text"},
           {R"({"schema": "berth.links.v1", "links": [{"link": "a", "load": -1}]})", "/links/0/load: is no number from 0 on"},
           {R"({"schema": "berth.links.v1", "links": [{"link": "a", "load": 1, "gangs": [1]}]})", "/links/0/gangs"}}) {
    folder.write("wrong.json", text);
    const Answer answer = report(store, "--out - --links '" + (folder / "wrong.json") + "'");
    EXPECT_EQ(answer.code, 2) << text;
    EXPECT_TRUE(contains(answer.err, said)) << text << ": " << answer.err;
  }
  EXPECT_EQ(report(store, "--out - --links /no/such/file").code, 2);
  EXPECT_EQ(report(store, "--format csv --links '" + (folder / "links.json") + "'").code, 2);
  folder.write("hostile.json",
               R"({"schema": "berth.links.v1", "links": [{"link": "<img src=x>", "load": 7, "gangs": ["</table><script>"]}]})");
  const std::string safe = report(store, "--out - --links '" + (folder / "hostile.json") + "'").out;
  EXPECT_TRUE(contains(safe, "&lt;img src=x&gt;"));
  EXPECT_FALSE(contains(safe, "<img"));
}

TEST(CliReport, JsonIsAsSaid) {
  const Folder folder;
  write_trace(folder);
  simulated(folder, "--policy fifo srtf --seed 1 --failures node=1h repair=60s");
  const std::string store = simulated(folder, "--policy fifo srtf --seed 2 --failures node=1h repair=60s");
  const std::string schema = content_of(BERTH_SOURCE_DIR "/data/schemas/berth.report.v1.json");

  EXPECT_EQ(schema_fault(report(store, "--format json").out, schema), "");
  EXPECT_EQ(schema_fault(report(store, "--format json --baseline srtf --run 1 2").out, schema), "");
}

}  // namespace berth::test::report_test
