// Ctrl-C and its like, at moments that the tests can tell without a clock.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <functional>
#include <regex>
#include <sstream>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "host/results/database.hpp"
#include "tests/cli/command.hpp"
#include "tests/support/json_schema.hpp"

namespace berth::test::interrupt_test {
namespace {

/// The command as a separate process; standard error goes to a file.
class Process {
 public:
  Process(const std::vector<std::string>& arguments, const std::string& err) {
    std::vector<char*> argv{const_cast<char*>(BERTH_COMMAND)};
    for (const std::string& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ != 0) return;
    for (const int one : {SIGINT, SIGTERM, SIGHUP}) std::signal(one, SIG_DFL);  // a test run in the background may ignore them
    ::dup2(::open("/dev/null", O_RDWR), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  ~Process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void interrupt(int signal = SIGINT) const { ::kill(pid_, signal); }
  /// What waitpid says.
  int wait() {
    int status = -1;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return status;
  }
  /// Waits until it catches Ctrl-C, which it does while it decides. @returns false when it ended before.
  bool decides() const {
    const std::regex caught("SigCgt:\\s*([0-9a-f]+)");
    return comes([&] {
      const std::string now = status();
      std::smatch mask;
      return std::regex_search(now, mask, caught) && (std::stoull(mask[1], nullptr, 16) >> (SIGINT - 1) & 1) != 0;
    });
  }
  /// Waits until the condition holds. @returns false when the process ended before.
  bool comes(const std::function<bool()>& so) const {
    for (;; ::usleep(200)) {
      const bool ended = contains(status(), "State:\tZ");
      if (so()) return true;
      if (ended) return false;
    }
  }

 private:
  std::string status() const { return content_of("/proc/" + std::to_string(pid_) + "/status"); }

  pid_t pid_ = -1;
};

bool ended_by(int status, int signal) { return WIFSIGNALED(status) && WTERMSIG(status) == signal; }

std::ptrdiff_t files_in(const Folder& folder) {
  return std::distance(std::filesystem::directory_iterator(folder / ""), std::filesystem::directory_iterator());
}

}  // namespace

TEST(CliInterrupt, WhileDecidingTheBestSoFarIsTheAnswer) {
  const Folder folder;
  const std::string s = folder / "s.json", p = folder / "p.json", kept = folder / "state.json", err = folder / "err";
  ASSERT_EQ(berth("generate --nodes 2000 --jobs 40000 --waiting 0.9 --out '" + s + "'").code, 0);
  const ClusterState state(io::parse_snapshot(content_of(s)));

  // On a busy machine the decision may end before the signal arrives; then the plan is complete, and the test tries
  // again.
  constexpr int kMostTries = 20;
  std::string stopped_by = "done";
  for (int i = 0; i < kMostTries && stopped_by == "done"; ++i) {
    std::filesystem::remove(p);
    Process plan({"plan", "--snapshot", s, "--policy", "srsf", "--backend", "cpu", "--out", p, "--state-out", kept}, err);
    if (!plan.decides()) continue;
    plan.interrupt();
    const int status = plan.wait();
    ASSERT_TRUE(ended_by(status, SIGINT)) << status << content_of(err);
    if (!std::filesystem::exists(p)) continue;  // it had just decided
    const Plan answer = io::parse_plan(content_of(p), state);
    stopped_by = answer.stopped_by;
    EXPECT_EQ(contains(content_of(err), "note: interrupted after "), stopped_by == "cancel") << content_of(err);
    EXPECT_EQ(validate_plan(state, answer), std::vector<std::string>());
    EXPECT_EQ(io::parse_policy_state(content_of(kept)).policy, "srsf");
  }

  EXPECT_EQ(stopped_by, "cancel");
  EXPECT_EQ(files_in(folder), 4);
}

TEST(CliInterrupt, WhileMeasuringWhatIsDoneIsTheAnswer) {
  const Folder folder;

  Process bench({"bench", "--suite", "headline", "--json", folder / "b.json"}, folder / "err");
  ASSERT_TRUE(bench.decides());
  bench.interrupt(SIGTERM);
  const int status = bench.wait();

  EXPECT_TRUE(ended_by(status, SIGTERM)) << status << content_of(folder / "err");
  const std::string json = content_of(folder / "b.json");
  EXPECT_TRUE(contains(json, R"("complete":false)")) << json;
  EXPECT_EQ(schema_fault(json, content_of(BERTH_SOURCE_DIR "/data/schemas/berth.bench.v1.json")), "") << json;
}

// The first policy is simulated by counts, the second with a plan of thousands of jobs for each of thousands of events.
TEST(CliInterrupt, WhileSimulatingWhatIsDoneIsKept) {
  const Folder folder;
  const std::string t = folder / "t.json", file = folder / "results.sqlite";
  std::string trace = R"({"schema": "berth.trace.v1", "name": "t", "jobs": [)";
  for (int i = 10'000; i < 16'000; ++i)
    trace += (i > 10'000 ? "," : "") +
             (R"({"id": "j)" + std::to_string(i) + R"(", "submit_s": 0, "run_s": )" + std::to_string(i) + R"(, "gpus": 4})");
  folder.write("t.json", trace + "]}");

  Process simulate(
      {"simulate", "--cluster", "1x4", "--trace", t, "--policy", "fifo@packing=count", "srtf@packing=consolidate", "sjf", "--out", file},
      folder / "err");
  const auto has_a_run = [&] {
    if (!std::filesystem::exists(file)) return false;
    results::Database now(file);
    return now.number("SELECT count(*) FROM sqlite_schema WHERE name = 'groups'") == 1 && now.number("SELECT count(*) FROM runs") >= 1;
  };
  ASSERT_TRUE(simulate.comes(has_a_run));
  simulate.interrupt();
  const int status = simulate.wait();

  EXPECT_TRUE(ended_by(status, SIGINT)) << status << content_of(folder / "err");
  EXPECT_TRUE(contains(content_of(folder / "err"), "note: interrupted"));
  results::Database kept(file);
  EXPECT_LE(kept.number("SELECT count(*) FROM runs"), 2) << "the third did not begin, perhaps not even the second";
  EXPECT_EQ(kept.number("SELECT completed FROM runs WHERE interrupted = 0"), 6'000);
  EXPECT_EQ(kept.number("SELECT completed + unfinished FROM runs WHERE id = 2 AND interrupted = 1"),
            kept.number("SELECT count(*) FROM jobs WHERE run = 2"));
  EXPECT_LT(kept.number("SELECT completed FROM runs WHERE id = 2"), 6'000);
}

// It never answers, and ignores what it can ignore.
TEST(CliInterrupt, AProgramThatIsSilentEndsWithTheCommand) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    SCOPED_TRACE(signal);
    const Folder folder;
    folder.write("t.json", R"({"schema": "berth.trace.v1", "name": "t", "jobs": [{"id": "a", "submit_s": 0, "run_s": 10, "gpus": 1}]})");
    folder.write("policy.sh", "trap '' INT TERM HUP\nsleep 1000 &\necho $$ $! >'" + (folder / "new") + "'\nmv '" + (folder / "new") +
                                  "' '" + (folder / "pids") + "'\nwait\n");

    Process simulate({"simulate", "--cluster", "1x4", "--trace", folder / "t.json", "--policy", "fifo", "--policy-exec",
                      "mine=sh " + (folder / "policy.sh"), "--policy-timeout", "100h", "--jobs-out", folder / "jobs.csv"},
                     folder / "err");
    ASSERT_TRUE(simulate.comes([&] { return std::filesystem::exists(folder / "pids"); }));
    simulate.interrupt(signal);
    const int status = simulate.wait();

    EXPECT_TRUE(ended_by(status, signal)) << status << content_of(folder / "err");
    EXPECT_TRUE(contains(content_of(folder / "jobs.csv"), "\nfifo,a,completed,")) << "what was done is kept";
    EXPECT_TRUE(contains(content_of(folder / "err"), "note: interrupted")) << content_of(folder / "err");
    std::istringstream pids(content_of(folder / "pids"));
    for (int pid = 0; pids >> pid;) {
      // It is killed by now, but may take a moment to go, or stay a zombie where nothing waits for orphans.
      const auto stat = [&] { return content_of("/proc/" + std::to_string(pid) + "/stat"); };
      const auto is_there = [](const std::string& now) { return !now.empty() && !contains(now, ") Z "); };
      for (int look = 0; look < 50'000 && is_there(stat()); ++look) ::usleep(200);
      EXPECT_FALSE(is_there(stat())) << stat();
    }
  }
}

TEST(CliInterrupt, WhileReadingNothingIsWritten) {
  const Folder folder;
  const std::string s = folder / "pipe", p = folder / "p.json";
  ASSERT_EQ(::mkfifo(s.c_str(), 0600), 0);

  Process plan({"plan", "--snapshot", s, "--policy", "srsf", "--out", p}, folder / "err");
  int writer = -1;
  ASSERT_TRUE(plan.comes([&] { return (writer = ::open(s.c_str(), O_WRONLY | O_NONBLOCK)) >= 0; }));  // once the command reads
  plan.interrupt();
  const int status = plan.wait();
  ::close(writer);

  EXPECT_TRUE(ended_by(status, SIGINT)) << status;
  EXPECT_EQ(content_of(folder / "err"), "");
  EXPECT_EQ(files_in(folder), 2);
}

TEST(CliInterrupt, APipeWithoutAReaderDoesNotHoldIt) {
  const Folder folder;
  const std::string s = folder / "s.json", p = folder / "pipe";
  ASSERT_EQ(berth("generate --nodes 20 --jobs 2000 --out '" + s + "'").code, 0);
  ASSERT_EQ(::mkfifo(p.c_str(), 0600), 0);
  const int reader = ::open(p.c_str(), O_RDONLY | O_NONBLOCK);

  Process plan({"plan", "--snapshot", s, "--policy", "fifo", "--out", p}, folder / "err");
  char first = 0;
  ASSERT_TRUE(plan.comes([&] { return ::read(reader, &first, 1) == 1; }));  // more data follows than a pipe can buffer
  plan.interrupt();
  const int status = plan.wait();
  ::close(reader);

  EXPECT_EQ(first, '{');
  EXPECT_TRUE(ended_by(status, SIGINT)) << status;
}

}  // namespace berth::test::interrupt_test
