#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "host/results/database.hpp"
#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::test::sweep_test {
namespace {

const char* const kSweepTrace = R"({"schema": "berth.trace.v1", "name": "five", "jobs": [
  {"id": "a", "submit_s": 0, "run_s": 1000, "gpus": 6, "user": "u"},
  {"id": "b", "submit_s": 100, "run_s": 2000, "gpus": 8, "user": "v"},
  {"id": "c", "submit_s": 2000, "run_s": 500, "gpus": 2, "user": "u"},
  {"id": "d", "submit_s": 5000, "run_s": 500, "gpus": 2, "user": "v"},
  {"id": "e", "submit_s": 9000, "run_s": 1500, "gpus": 4, "user": "u"}]})";

const char* const kDrawn = R"(workload = "helios"
jobs = 300
cluster = ["4x8", "8x8"]
policy = ["fifo", "srtf"]
failures = ["", "node=72h repair=4h"]
seeds = 3
keep = ["series", "groups"]
)";

/// A spec that reads kSweepTrace.
std::string with_trace(const std::string& more) { return "trace = \"trace.json\"\ncluster = \"2x4\"\n" + more; }

struct Sweep {
  explicit Sweep(const std::string& spec) {
    folder.write("trace.json", kSweepTrace);
    folder.write("s.toml", spec);
  }
  Answer run(const std::string& options = "") const { return berth("sweep '" + (folder / "s.toml") + "' " + options); }
  std::string hash(const std::string& store = "s.sqlite") const { return berth("sweep --hash '" + (folder / store) + "'").out; }
  std::string at(const std::string& name) const { return folder / name; }

  Folder folder;
};

std::int64_t number_in(const std::string& store, const std::string& sql) { return results::Database(store).number(sql); }

std::vector<std::string> texts_in(const std::string& store, const std::string& sql) { return results::Database(store).texts(sql); }

}  // namespace

TEST(CliSweep, RunsAreThoseOfSimulate) {
  for (const std::string policy : {"fifo", "srtf", "las@discipline=easy"}) {
    const Sweep sweep(
        "workload = \"philly\"\njobs = 200\ncluster = \"4x8\"\nload = 0.7\nseeds = [5]\nkeep = [\"series\", \"groups\"]\n" +
        ("failures = \"node=72h repair=4h\"\nestimates = \"noise:30\"\noverheads = \"default\"\npolicy = \"" + policy + "\"\n"));
    ASSERT_EQ(sweep.run().code, 0) << sweep.run().err;
    const Answer simulated = berth("simulate --workload philly --jobs 200 --cluster 4x8 --load 0.7 --seed 5 --failures node=72h repair=4h" +
                                   (" --estimates noise:30 --overheads default --policy " + policy + " --out '" + sweep.at("one") + "'"));
    ASSERT_EQ(simulated.code, 0) << simulated.err;
    // The hash of a run of a sweep has the table sweep_runs besides.
    results::Database(sweep.at("s.sqlite")).run("DELETE FROM sweep_runs");
    EXPECT_EQ(sweep.hash(), sweep.hash("one")) << policy;
  }
  // With rows of jobs.
  const Sweep sweep(with_trace("keep = [\"jobs\", \"series\", \"groups\"]\npolicy = \"las\"\nround = \"60s\"\n"));
  ASSERT_EQ(sweep.run().code, 0);
  const Answer simulated =
      berth("simulate --trace '" + sweep.at("trace.json") + "' --cluster 2x4 --policy las --round 60s --out '" + sweep.at("one") + "'");
  ASSERT_EQ(simulated.code, 0) << simulated.err;
  results::Database(sweep.at("s.sqlite")).run("DELETE FROM sweep_runs");
  EXPECT_EQ(number_in(sweep.at("one"), "SELECT count(*) FROM jobs"), 5);
  EXPECT_EQ(sweep.hash(), sweep.hash("one"));
}

TEST(CliSweep, TheHashDoesNotDependOnThreadsShardsOrTheOrderOfKeys) {
  const Sweep sweep(kDrawn);
  ASSERT_EQ(sweep.run("--threads 1").code, 0);
  const std::string hash = sweep.hash();
  EXPECT_EQ(hash.size(), 65U);
  EXPECT_EQ(number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM runs"), 24);

  ASSERT_EQ(sweep.run("--threads 3 --out '" + sweep.at("three") + "'").code, 0);
  EXPECT_EQ(sweep.hash("three"), hash);
  std::string parts;
  for (int i = 0; i < 3; ++i) {
    const std::string part = sweep.at(fmt::format("part{}", i));
    ASSERT_EQ(sweep.run(fmt::format("--shard {}/3 --out '{}'", i, part)).code, 0);
    EXPECT_EQ(number_in(part, "SELECT count(*) FROM runs"), 8);
    parts += " '" + part + "'";
  }
  const Answer merged = sweep.run("--out '" + sweep.at("merged") + "' --merge" + parts);
  EXPECT_TRUE(contains(merged.out, "24 runs in")) << merged.out << merged.err;
  EXPECT_TRUE(contains(merged.out, "24 of them from before")) << merged.out;
  EXPECT_EQ(sweep.hash("merged"), hash);

  sweep.folder.write("s.toml",
                     "keep = [\"series\", \"groups\"]\nseeds = 3\nfailures = [\"node=72h repair=4h\", \"\"]\npolicy = "
                     "[\"srtf\", \"fifo\"]\ncluster = [\"8x8\", \"4x8\"]\njobs = 300\nworkload = \"helios\"\n");
  EXPECT_TRUE(contains(sweep.run().out, "24 of them from before")) << "keys do not depend on the place of a run in the spec";
}

TEST(CliSweep, TheHashSeesResultsAndNoClock) {
  const Sweep sweep(
      with_trace("policy = [\"fifo\", \"las\"]\nresample = \"2000s\"\nseeds = 3\nkeep = [\"jobs\", \"series\", \"groups\"]\n"));
  ASSERT_EQ(sweep.run().code, 0);
  std::string hash = sweep.hash();
  results::Database(sweep.at("s.sqlite")).run("UPDATE runs SET wall_us = 7, load_us = 8, decision_p99_us = 9, written = 'x', berth = 'y'");
  EXPECT_EQ(sweep.hash(), hash);
  for (const char* change :
       {"UPDATE runs SET makespan_us = makespan_us + 1 WHERE id = 3", "UPDATE jobs SET starts = starts + 1 WHERE rowid = 9",
        "UPDATE series SET running_micro = running_micro + 1 WHERE rowid = 9", "DELETE FROM losses WHERE rowid = 2",
        "UPDATE sweep_runs SET counted = counted + 1 WHERE rowid = 1", "UPDATE groups SET jobs = jobs + 1 WHERE rowid = 1"}) {
    results::Database(sweep.at("s.sqlite")).run(change);
    const std::string changed = sweep.hash();
    EXPECT_NE(changed, hash) << change;
    hash = changed;
  }
}

TEST(CliSweep, KilledAtRandomItGoesOnToTheSameContent) {
  const Sweep sweep("workload = \"helios\"\njobs = 3000\ncluster = \"16x8\"\npolicy = [\"fifo\", \"srtf\", \"las\"]\nseeds = 20\n");
  ASSERT_EQ(sweep.run("--out '" + sweep.at("whole") + "'").code, 0);
  std::int64_t before = 0;
  for (int kill = 0; kill < 10; ++kill) {
    const int status = std::system(
        fmt::format("timeout -s KILL 0.{:02} '" BERTH_COMMAND "' sweep '{}' >/dev/null 2>&1", 5 + 7 * kill, sweep.at("s.toml")).c_str());
    (void)status;
    if (!std::filesystem::exists(sweep.at("s.sqlite")) || content_of(sweep.at("s.sqlite")).empty()) continue;
    const bool made = number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM sqlite_schema WHERE name = 'sweep_runs'") == 1;
    const std::int64_t runs = made ? number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM sweep_runs") : 0;
    EXPECT_GE(runs, before) << "stored runs stay";
    before = runs;
  }
  const Answer answer = sweep.run();
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, fmt::format("60 runs in {}, {} of them from before", sweep.at("s.sqlite"), before))) << answer.out;
  EXPECT_EQ(sweep.hash(), sweep.hash("whole"));
  EXPECT_EQ(number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM runs"), 60) << "no run twice, and none half";
}

TEST(CliSweep, OtherProcessesTakePartAndMayBeLost) {
  const Sweep sweep(
      "workload = \"helios\"\njobs = 3000\ncluster = \"16x8\"\npolicy = [\"fifo\", \"srtf\", \"las\"]\nseeds = 20\n"
      "keep = [\"series\", \"groups\"]\n");
  ASSERT_EQ(sweep.run("--out '" + sweep.at("whole") + "'").code, 0);
  // As a launcher starts them. The first to come is killed while it works.
  const auto process = [&](int rank, const std::string& prefix, const std::string& more) {
    return fmt::format("env OMPI_COMM_WORLD_RANK={} OMPI_COMM_WORLD_SIZE=4 PMIX_NAMESPACE=test {} '" BERTH_COMMAND "' sweep '{}' {}", rank,
                       prefix, sweep.at("s.toml"), more);
  };
  const Answer answer = berth("version; " + process(1, "timeout -s KILL 0.3", "") + " & " + process(2, "", "") + " & " +
                              process(3, "timeout -s KILL 0.5", "--threads 2") + " & " + process(0, "", "") + "; wait");
  EXPECT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "60 runs in ")) << answer.out << answer.err;
  EXPECT_EQ(sweep.hash(), sweep.hash("whole"));
  EXPECT_EQ(number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM runs"), 60);
  for (const auto& entry : std::filesystem::directory_iterator(sweep.at(""))) EXPECT_FALSE(contains(entry.path().string(), ".workers"));
}

TEST(CliSweep, AProcessWithAnotherSpecIsRefused) {
  const Sweep sweep("workload = \"helios\"\njobs = 20000\ncluster = \"16x8\"\npolicy = [\"fifo\", \"las\"]\nseeds = 40\n");
  sweep.folder.write("other.toml", "workload = \"helios\"\njobs = 20001\ncluster = \"16x8\"\npolicy = \"fifo\"\n");
  const std::string launch = "env OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=test OMPI_COMM_WORLD_RANK=";
  const Answer answer =
      berth("version; " + launch + "1 '" BERTH_COMMAND "' sweep '" + sweep.at("other.toml") + "' --out '" + sweep.at("s.sqlite") + "' & " +
            launch + "0 '" BERTH_COMMAND "' sweep '" + sweep.at("s.toml") + "'; wait $!; echo code $?");
  EXPECT_TRUE(contains(answer.err, "process 1: the spec or its files are others than those of the first process")) << answer.err;
  EXPECT_TRUE(contains(answer.out, "code 2")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "80 runs in")) << answer.out;
}

TEST(CliSweep, ConnectionsOfOthersDoNoHarm) {
  const Sweep sweep("workload = \"helios\"\njobs = 20000\ncluster = \"16x8\"\npolicy = [\"fifo\", \"las\"]\nseeds = 40\n");
  const std::string launch = "env OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=test OMPI_COMM_WORLD_RANK=";
  sweep.folder.write("intrude.sh", R"sh(cd "$(dirname "$0")"
while ! ls s.sqlite.workers-* >/dev/null 2>&1; do sleep 0.01; done
port=$(sed -n 4p s.sqlite.workers-*)
stat -c %a s.sqlite.workers-*
exec 3<>/dev/tcp/127.0.0.1/$port
exec 4<>/dev/tcp/127.0.0.1/$port; head -c 100000 /dev/urandom >&4
exec 5<>/dev/tcp/127.0.0.1/$port; printf '\0\377\377\377\377\377\377\377\377' >&5
exec 6<>/dev/tcp/127.0.0.1/$port; printf '\4\0\0\0\0\0\0\0\0' >&6
exec 7<>/dev/tcp/127.0.0.1/$port; printf '\0\10\0\0\0\0\0\0\0\377\377\377\377\377\377\377\377' >&7
sleep 0.3
)sh");
  const Answer answer = berth("version; bash '" + sweep.at("intrude.sh") + "' 2>/dev/null & " + launch + "1 '" BERTH_COMMAND "' sweep '" +
                              sweep.at("s.toml") + "' & " + launch + "0 '" BERTH_COMMAND "' sweep '" + sweep.at("s.toml") + "'; wait");
  EXPECT_TRUE(contains(answer.out, "80 runs in")) << answer.out << answer.err;
  EXPECT_TRUE(contains(answer.out, "600\n")) << "only the owner reads the secret: " << answer.out;
  EXPECT_EQ(answer.err, "");
}

TEST(CliSweep, WhereTheFirstProcessCannotBeginTheOthersEnd) {
  const Sweep sweep(kDrawn);
  sweep.folder.write("s.sqlite", std::string(5000, 't'));
  const std::string launch = "env OMPI_COMM_WORLD_SIZE=2 PMIX_NAMESPACE=test OMPI_COMM_WORLD_RANK=";
  const Answer answer = berth("version; " + launch + "1 '" BERTH_COMMAND "' sweep '" + sweep.at("s.toml") + "' & " + launch +
                              "0 '" BERTH_COMMAND "' sweep '" + sweep.at("s.toml") + "'; echo first $?; wait $!; echo other $?");
  EXPECT_TRUE(contains(answer.out, "first 2\nother 2")) << answer.out;
  EXPECT_EQ(answer.err, "berth: " + sweep.at("s.sqlite") + ": is no SQLite file\n");
}

TEST(CliSweep, ASignalKeepsWhatIsDone) {
  const Sweep sweep("workload = \"helios\"\njobs = 50000\ncluster = \"16x8\"\npolicy = [\"fifo\", \"srtf\", \"las\"]\nseeds = 200\n");
  const Answer answer = berth("sweep '" + sweep.at("s.toml") + "' & sleep 1; kill -TERM $!; wait $!; echo code $?");
  EXPECT_TRUE(contains(answer.err, "interrupted:")) << answer.err;
  EXPECT_TRUE(contains(answer.err, "the same command goes on")) << answer.err;
  EXPECT_TRUE(contains(answer.out, "code 143")) << answer.out;
  EXPECT_EQ(number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM runs WHERE interrupted = 1"), 0) << "a run is whole or absent";
}

TEST(CliSweep, TwoSweepsDoNotWriteToOneStore) {
  const Sweep sweep(kDrawn);
  ASSERT_EQ(sweep.run().code, 0);
  const int other = ::open(sweep.at("s.sqlite").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(other, LOCK_EX | LOCK_NB), 0);
  const Answer answer = sweep.run();
  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "another sweep writes to it; wait for its end, or name another store with --out")) << answer.err;
  ::close(other);
  EXPECT_EQ(sweep.run().code, 0);
}

TEST(CliSweep, RefusesStoresOfOtherKinds) {
  const Sweep sweep(with_trace("policy = \"fifo\"\n"));
  const auto problem = [&](const std::string& out) {
    const Answer answer = sweep.run("--out '" + out + "'");
    EXPECT_EQ(answer.code, 2) << out;
    return answer.err;
  };
  sweep.folder.write("text", std::string(5000, 't'));
  EXPECT_TRUE(contains(problem(sweep.at("text")), "is no SQLite file"));
  EXPECT_EQ(content_of(sweep.at("text")), std::string(5000, 't'));
  results::Database(sweep.at("foreign")).run("CREATE TABLE t (a); INSERT INTO t VALUES (1)");
  EXPECT_TRUE(contains(problem(sweep.at("foreign")), "an SQLite file of something else"));
  ASSERT_EQ(sweep.run("--out '" + sweep.at("newer") + "'").code, 0);
  results::Database(sweep.at("newer")).run("PRAGMA user_version = 99");
  EXPECT_TRUE(contains(problem(sweep.at("newer")), "has results in version 99"));
  EXPECT_TRUE(contains(problem("/dev/full"), "an ordinary file"));
  EXPECT_TRUE(contains(problem(sweep.at("no/such/folder")), "cannot open"));
  EXPECT_TRUE(contains(problem(sweep.at("s.toml")), "s.toml"));
  EXPECT_TRUE(contains(berth("sweep --hash '" + sweep.at("none") + "'").err, "cannot read"));
  EXPECT_TRUE(contains(sweep.run("--merge '" + sweep.at("foreign") + "'").err, "foreign: is an SQLite file of something else"));

  const Sweep drawn(kDrawn);
  ASSERT_EQ(drawn.run().code, 0);
  std::string bytes = content_of(drawn.at("s.sqlite"));
  for (std::size_t at = 4096; at < bytes.size(); at += 4096) std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 64, '\x7f');
  drawn.folder.write("damaged", bytes);
  const Answer damaged = drawn.run("--out '" + drawn.at("damaged") + "'");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_TRUE(contains(damaged.err, "is a damaged SQLite file")) << damaged.err;
  const Answer merged = drawn.run("--out '" + drawn.at("new") + "' --merge '" + drawn.at("damaged") + "'");
  EXPECT_TRUE(contains(merged.err, "damaged: is a damaged SQLite file")) << merged.err;
}

TEST(CliSweep, ALockedStoreIsReported) {
  const Sweep sweep(kDrawn);
  ASSERT_EQ(sweep.run().code, 0);
  results::Database other(sweep.at("s.sqlite"));
  other.run("BEGIN IMMEDIATE");
  sweep.folder.write("s.toml", std::string(kDrawn) + "warm_up = \"10%\"\n");  // other runs
  const Answer answer = sweep.run();
  other.run("ROLLBACK");
  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "database is locked")) << answer.err;
}

TEST(CliSweep, AFullDiskIsReported) {
  const Sweep sweep(kDrawn);
  EXPECT_EQ(sweep.run(">/dev/full").code, 2);
  EXPECT_TRUE(contains(sweep.run(">/dev/full").err, "No space left on device"));
  const Answer answer = berth("version >/dev/null; ulimit -f 100; exec '" BERTH_COMMAND "' sweep '" + sweep.at("s.toml") + "' --out '" +
                              sweep.at("small") + "'");
  EXPECT_EQ(answer.code, 2) << answer.err;
  EXPECT_TRUE(contains(answer.err, "small")) << answer.err;
  // Without the limit it goes on.
  EXPECT_EQ(sweep.run("--out '" + sweep.at("small") + "'").code, 0);
  EXPECT_EQ(sweep.hash("small"), sweep.hash());
}

TEST(CliSweep, BadSpecsAreRefusedWithPlaceAndCause) {
  struct Case {
    std::string spec, problem;
  };
  const std::string good = with_trace("policy = \"fifo\"\n");
  for (const Case& one : std::vector<Case>{
           {"policy = ", "s.toml:1: is no TOML"},
           {good + "polices = [\"las\"]\n", "s.toml:4: unknown key 'polices'; did you mean 'policy'?"},
           {good + "seed = 3\n", "unknown key 'seed'; did you mean 'seeds'?"},
           {good + "seeds = 1000000000\n", "asks for 1,000,000,000 runs (1000000000 seeds); a sweep has at most 1,000,000"},
           {good + "seeds = 9223372036854775807\n", "asks for 9,223,372,036,854,775,807 runs"},
           {good + "seeds = 0\n", "s.toml:4: seeds: expected a number from 1"},
           {good + "seeds = [1, 1]\n", "seeds: 1 is given twice"},
           {good + "seeds = 1.5\n", "seeds: expected a number"},
           {with_trace("policy = [\"fifo\", \"fifo\"]\n"), "s.toml:3: policy: 'fifo' is given twice"},
           {with_trace("policy = []\n"), "policy: the list is empty"},
           {with_trace("policy = \"fifos\"\n"), "unknown policy 'fifos'"},
           {with_trace("policy = \"fifo@disciplin=easy\"\n"), "did you mean 'discipline'?"},
           {with_trace(""), "policy: the key is missing"},
           {good + "load = -1\n", "load"},
           {good + "load = inf\n", "load"},
           {good + "estimates = \"nois:3\"\n", "estimates"},
           {good + "fidelity = \"rates\"\n",
            "fidelity: unknown 'rates' (known: rate, tiers, shared_links, iteration); did you mean 'rate'?"},
           {good + "failures = \"nod=3h\"\n", "failures: unknown rate 'nod'"},
           {good + "elastic = \"yes\"\n", "elastic: unknown 'yes'"},
           {good + "until = \"jct\"\n", "until: 'jct': expected METRIC:P%"},
           {good + "until = \"jcts:2%\"\n", "unknown metric 'jcts'; did you mean 'jct'?"},
           {good + "metrics = [\"mean_jtc\"]\n", "metrics: unknown metric 'mean_jtc'; did you mean 'mean_jct'?"},
           {good + "baseline = \"fif\"\n", "baseline: 'fif' is none of the policies; did you mean 'fifo'?"},
           {good + "warm_up = \"120%\"\n", "warm_up: '120%'"},
           {good + "warm_up = \"soon\"\n", "soon"},
           {good + "keep = [\"job\"]\n", "keep: unknown 'job'"},
           {good + "round = 1979-05-27\n", "round: expected a text"},
           {good + "workload = \"helios\"\n", "either trace or workload is required"},
           {good + "[[edit]]\nload = 2\n", "edit: the key 'name' is missing"},
           {good + "[[edit]]\nname = \"x\"\n", "edit: 'x' changes nothing"},
           {good + "[[edit]]\nname = \"x\"\nseeds = 2\n", "unknown key 'seeds'"},
           {good + "[[edit]]\nname = \"x\"\nestimates = \"oracle\"\n", "the run is the same as with edit '-'"},
           {good + "[[edit]]\nname = \"x\"\nload = 2\n[[edit]]\nname = \"x\"\nload = 3\n", "two edits have the name 'x'"},
           {"trace = \"-\"\ncluster = \"2x4\"\npolicy = \"fifo\"\n", "standard input cannot be their file"},
           {"trace = \"none.json\"\ncluster = \"2x4\"\npolicy = \"fifo\"\n", "none.json"},
           {good + "store = \"a\\u0000b\"\n", "store: 'a\\u0000b': a value has no control characters"},
           {std::string(2'000'000, '#'), "a spec has at most"},
           {std::string(100'000, '['), "is no TOML"},
           {"[=]\n", "is no TOML"},
           {"[a.=]\n", "is no TOML"},
           {"[[ #]]\n", "is no TOML"},
           {"x = {=}\n", "is no TOML"},
           {"\xff\xfe", "is no TOML"},
       }) {
    const Sweep sweep(one.spec);
    const Answer answer = sweep.run();
    EXPECT_EQ(answer.code, 2) << one.problem << answer.out;
    EXPECT_TRUE(contains(answer.err, one.problem)) << one.problem << "\n" << answer.err;
    EXPECT_LT(answer.err.size(), 1500U);
  }
}

TEST(CliSweep, AFailedRunDoesNotEndTheOthers) {
  // The trace has no bandwidths.
  const Sweep sweep(with_trace("policy = [\"fifo\", \"srtf\"]\nfidelity = [\"rate\", \"shared_links\"]\n"));
  const Answer answer = sweep.run();
  EXPECT_EQ(answer.code, 2);
  EXPECT_TRUE(contains(answer.err, "2 runs failed: --fidelity shared_links: the cluster states no bandwidth")) << answer.err;
  EXPECT_TRUE(contains(answer.out, "2 runs in ")) << answer.out;
}

TEST(CliSweep, PoliciesOfASeedSeeTheSameJobsAndFailures) {
  const Sweep traced(with_trace("policy = [\"fifo\", \"las\"]\nseeds = 4\nresample = \"2000s\"\nkeep = [\"jobs\"]\n"));
  ASSERT_EQ(traced.run().code, 0) << traced.run().err;
  const std::string jobs =
      "SELECT group_concat(job || ' ' || submit_us || ' ' || gpus) FROM (SELECT * FROM jobs j JOIN runs r ON r.id = j.run "
      "WHERE policy = '{}' ORDER BY seed, job)";
  const auto first = texts_in(traced.at("s.sqlite"), fmt::format(fmt::runtime(jobs), "fifo"));
  EXPECT_EQ(first, texts_in(traced.at("s.sqlite"), fmt::format(fmt::runtime(jobs), "las")));
  EXPECT_GT(number_in(traced.at("s.sqlite"), "SELECT count(DISTINCT jobs) FROM runs"), 1) << "seeds draw other blocks";
}

TEST(CliSweep, WarmUpLeavesOutTheFirstJobs) {
  const auto counted = [](const std::string& warm_up, const std::string& column) {
    const Sweep sweep(with_trace("policy = \"fifo\"\nwarm_up = \"" + warm_up + "\"\n"));
    EXPECT_EQ(sweep.run().code, 0);
    return number_in(sweep.at("s.sqlite"), "SELECT " + column + " FROM sweep_runs");
  };
  EXPECT_EQ(counted("40%", "counted"), 3);  // c, d, e
  EXPECT_EQ(counted("39%", "counted"), 4);
  EXPECT_EQ(counted("2000s", "counted"), 3);
  EXPECT_EQ(counted("2001s", "counted"), 2);
  EXPECT_EQ(counted("5001s", "mean_jct_us"), 1'500'000'000);
  EXPECT_EQ(counted("1h", "completed"), 2);
}

TEST(CliSweep, SeedsAreAddedUntilTheIntervalIsNarrow) {
  const std::string spec = "workload = \"helios\"\njobs = 500\ncluster = \"8x8\"\npolicy = [\"fifo\", \"srtf\"]\nmetrics = [\"jct\"]\n";
  const Sweep sweep(spec);
  const Answer answer = sweep.run("--until jct:20%");
  ASSERT_EQ(answer.code, 0) << answer.err;
  const std::int64_t seeds = number_in(sweep.at("s.sqlite"), "SELECT count(DISTINCT seed) FROM runs");
  EXPECT_GT(seeds, 3);
  EXPECT_EQ(number_in(sweep.at("s.sqlite"), "SELECT count(*) FROM runs"), 2 * seeds) << "both policies have all seeds";
  const std::string hash = sweep.hash();
  ASSERT_EQ(sweep.run("--threads 1 --until jct:20% --out '" + sweep.at("one") + "'").code, 0);
  EXPECT_EQ(sweep.hash("one"), hash);
  EXPECT_TRUE(
      contains(sweep.run("--until jct:20%").out, fmt::format("{0} runs in {1}, {0} of them from before", 2 * seeds, sweep.at("s.sqlite"))));
  ASSERT_EQ(sweep.run("--until jct:15%").code, 0);
  EXPECT_GT(number_in(sweep.at("s.sqlite"), "SELECT count(DISTINCT seed) FROM runs"), seeds);

  const Sweep most(spec + "max_seeds = 4\nuntil = \"jct:1%\"\n");
  const Answer wide = most.run();
  EXPECT_EQ(wide.code, 0);
  EXPECT_TRUE(contains(wide.err, "until: after 4 seeds the interval is still too wide for 1 input")) << wide.err;
  EXPECT_TRUE(contains(Sweep(spec + "seeds = [1, 2]\n").run("--until jct:2%").err, "the spec lists its seeds"));
}

TEST(CliSweep, ShowsMeansIntervalsAndDifferencesOfPairs) {
  const Sweep sweep(
      "workload = \"helios\"\njobs = 500\ncluster = \"8x8\"\npolicy = [\"fifo\", \"srtf\"]\nseeds = 3\nbaseline = \"fifo\"\n"
      "metrics = [\"mean_jct\", \"gpu_utilisation\"]\n[params]\ndiscipline = [\"greedy\", \"easy\"]\n");
  const Answer text = sweep.run();
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out.find("POLICY  DISCIPLINE  SEEDS  MEAN JCT S"), 0U) << text.out;
  EXPECT_TRUE(contains(text.out, "Differences from fifo, seed by seed")) << text.out;
  const Answer json = sweep.run("--json");
  EXPECT_TRUE(contains(json.out, R"({"cell":{"policy":"fifo","params.discipline":"greedy"},"seeds":3,"metrics":{"mean_jct_s":{"mean":)"))
      << json.out;
  EXPECT_TRUE(contains(json.out, R"("differences":{"mean_jct_s":{"mean":-)")) << json.out;
  const std::string schema = content_of(BERTH_SOURCE_DIR "/data/schemas/berth.sweep.v1.json");
  std::istringstream lines(json.out);
  for (std::string line; std::getline(lines, line);) EXPECT_EQ(schema_fault(line, schema), "") << line;
  const std::int64_t sum = number_in(sweep.at("s.sqlite"),
                                     "SELECT sum(s.mean_jct_us) FROM sweep_runs s JOIN runs r ON r.id = s.run WHERE "
                                     "policy = 'fifo' AND params LIKE '%greedy%'");
  EXPECT_TRUE(contains(json.out, fmt::format("\"mean\":{}", static_cast<double>(sum) / 3 / 1e6))) << sum << json.out;
}

TEST(CliSweep, ParametersGoToThePoliciesThatHaveThem) {
  const Sweep sweep(with_trace("policy = [\"fifo\", \"las\"]\n[params]\nthresholds_gpu_s = [\"100\", \"200\", \"300\"]\n"));
  const Answer answer = sweep.run("--dry-run");
  EXPECT_TRUE(contains(answer.out, "\n4 runs, 0 in ")) << answer.out;
  EXPECT_TRUE(contains(answer.out, "policy=fifo params.thresholds_gpu_s=- seed=0")) << answer.out;
  EXPECT_FALSE(std::filesystem::exists(sweep.at("s.sqlite"))) << "a dry run makes no file";
}

TEST(CliSweep, WindowsKeepJobsAndLoadsMayReferToOtherGpus) {
  const Sweep windows(with_trace("policy = \"fifo\"\nwindow = [\"\", \"0s..2000s\", \"100s..\", \"..1d\"]\n"));
  const Answer answer = windows.run("--threads 1");  // runs are stored in the order in which they end
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(texts_in(windows.at("s.sqlite"), "SELECT jobs FROM runs ORDER BY id"), (std::vector<std::string>{"5", "2", "4", "5"}));

  const Sweep drawn("workload = \"helios\"\njobs = 300\nload_gpus = 64\ncluster = [\"32x8\", \"64x8\"]\npolicy = \"fifo\"\n");
  ASSERT_EQ(drawn.run().code, 0) << drawn.run().err;
  EXPECT_EQ(number_in(drawn.at("s.sqlite"), "SELECT count(DISTINCT mean_jct_us) FROM runs"), 1) << "the same jobs, and none waits";

  const auto problem = [](const std::string& more) { return Sweep(with_trace("policy = \"fifo\"\n" + more)).run().err; };
  EXPECT_TRUE(contains(problem("window = \"5s\"\n"), "window: '5s': expected FROM..TO, such as 7d..35d"));
  EXPECT_TRUE(contains(problem("window = \"9s..3s\"\n"), "window: '9s..3s': it ends before it begins"));
  EXPECT_TRUE(contains(problem("window = \"20d..\"\n"), "window: no job is submitted in it"));
  EXPECT_TRUE(contains(problem("load_gpus = 8\n"), "load_gpus: there is no load that would refer to it"));
}

TEST(CliSweep, EditsReplaceKeys) {
  const Sweep sweep(
      with_trace("policy = \"fifo\"\nkeep = [\"jobs\"]\n[[edit]]\nname = \"more\"\nadd_nodes = 1\n[[edit]]\nname = \"less\"\n"
                 "remove_nodes = \"n1\"\n[[edit]]\nname = \"no u\"\nremove_users = [\"u\"]\n[[edit]]\nname = \"twice\"\nload = 1.0\n"));
  const Answer answer = sweep.run("--threads 1");  // in the order of the spec
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_EQ(texts_in(sweep.at("s.sqlite"), "SELECT gpus || ' ' || jobs FROM runs ORDER BY id"),
            (std::vector<std::string>{"8 5", "12 5", "4 5", "8 2", "8 5"}));
  EXPECT_TRUE(contains(answer.out, "fifo    no u")) << answer.out;
  // 30,000 GPU-seconds on 8 GPUs: as much as there is if the submissions span 3,750 s instead of 9,000 s.
  EXPECT_EQ(number_in(sweep.at("s.sqlite"), "SELECT max(submit_us) FROM jobs WHERE run = 5"), 3'750'000'000);
  EXPECT_TRUE(contains(texts_in(sweep.at("s.sqlite"), "SELECT trace FROM runs WHERE id = 5").front(), "five (load=1"));
  EXPECT_TRUE(contains(Sweep(with_trace("policy = \"fifo\"\nremove_nodes = \"n9\"\n")).run().err, "the cluster has no node 'n9'"));
  EXPECT_TRUE(contains(Sweep(with_trace("policy = \"fifo\"\nremove_users = [\"w\"]\n")).run().err, "no job is of 'w'"));
}

}  // namespace berth::test::sweep_test
