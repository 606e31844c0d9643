#include "host/sim/exec/line_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigtimedwait, which <csignal> need not have
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <system_error>
#include <utility>

#include "host/core/base/decimal.hpp"
#include "host/core/base/escape_control.hpp"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace berth::sim {
namespace {

using ProcessClock = std::chrono::steady_clock;

constexpr int kGlanceMs = 20;       // how often to look whether it has ended
constexpr int kFarewellMs = 200;    // between the end of its output and its own
constexpr std::size_t kShown = 80;  // bytes of what it says in messages

std::string failure_of(int error) { return std::generic_category().message(error); }

int ms_until(ProcessClock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - ProcessClock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 1 << 30));
}

void close_end(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

std::string begin_of(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), kShown));
  return "'" + core::escape_control(line) + (line.size() < text.size() && line.size() == kShown ? "...'" : "'");
}

/// A write to a closed pipe raises a signal, which a library must not take from its host program: it is blocked for
/// this thread.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const int error = errno;
    const timespec at_once{};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{}, before_{};
  bool was_pending_ = false;
};

/// Its two ends become standard input and output of a shell, which gets default signal settings, whatever ours are.
int start_shell(const std::string& command, int its_in, int its_out, pid_t& pid) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t settings;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&settings);
  posix_spawn_file_actions_adddup2(&files, its_in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, its_out, STDOUT_FILENO);
  sigset_t usual, none;
  sigemptyset(&none);
  sigemptyset(&usual);
  for (const int one : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP}) sigaddset(&usual, one);
  posix_spawnattr_setsigdefault(&settings, &usual);
  posix_spawnattr_setsigmask(&settings, &none);
  posix_spawnattr_setpgroup(&settings, 0);
  posix_spawnattr_setflags(&settings, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::string shell = "sh", flag = "-c", text = command;
  const std::array<char*, 4> arguments{shell.data(), flag.data(), text.data(), nullptr};
  const int error = posix_spawn(&pid, "/bin/sh", &files, &settings, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&settings);
  return error;
}

}  // namespace

LineProcess::LineProcess(const std::string& command, TimeUs timeout_us, std::function<bool()> stopped)
    : timeout_us_(timeout_us), stopped_(std::move(stopped)) {
  std::array<int, 2> in{-1, -1}, out{-1, -1};
  int error = 0;
  if (::pipe2(in.data(), O_CLOEXEC) != 0 || ::pipe2(out.data(), O_CLOEXEC) != 0) error = errno;
  if (error == 0) error = start_shell(command, in[0], out[1], pid_);
  close_end(in[0]);
  close_end(out[1]);
  in_ = in[1];
  out_ = out[0];
  if (error != 0) {
    close_end(in_);
    close_end(out_);
    throw EnvironmentError("cannot run '" + command + "': " + failure_of(error));
  }
  for (const int fd : {in_, out_}) ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

LineProcess::~LineProcess() {
  close_end(in_);
  close_end(out_);
  if (pid_ < 0) return;
  kill_group();
  reap();
}

void LineProcess::kill_group() { ::kill(-pid_, SIGKILL); }

void LineProcess::reap() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

// It is not reaped yet, so that its process and group number is not used again meanwhile.
bool LineProcess::has_ended() {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

std::string LineProcess::how_it_ended() {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_code == CLD_EXITED ? fmt::format("ended with exit code {}", info.si_status)
                                    : fmt::format("was ended by signal {}", info.si_status);
}

// One of its ends is closed: most likely it has ended, and its exit status says more.
void LineProcess::fail_closed(std::string_view what) {
  const auto deadline = ProcessClock::now() + std::chrono::milliseconds(kFarewellMs);
  while (!has_ended() && ms_until(deadline) > 0) ::poll(nullptr, 0, kGlanceMs);
  throw ProcessError(has_ended() ? how_it_ended() + " instead of an answer" : std::string(what));
}

void LineProcess::check_stopped() const {
  if (stopped_ && stopped_()) throw ProcessStopped("stopped while it waited for a program");
}

void LineProcess::write_some(std::string_view& left) {
  ssize_t n = 0;
  {
    const NoPipeSignal guard;
    n = ::write(in_, left.data(), left.size());
  }
  if (n >= 0) {
    left.remove_prefix(static_cast<std::size_t>(n));
  } else if (errno == EPIPE) {
    fail_closed("has closed its standard input");
  } else if (errno != EAGAIN && errno != EINTR) {
    throw EnvironmentError("cannot write to it: " + failure_of(errno));
  }
}

bool LineProcess::read_some() {
  std::array<char, 1 << 16> bytes;
  const ssize_t n = ::read(out_, bytes.data(), bytes.size());
  if (n > 0) answer_.append(bytes.data(), static_cast<std::size_t>(n));
  if (n < 0 && errno != EAGAIN && errno != EINTR) throw EnvironmentError("cannot read from it: " + failure_of(errno));
  return n != 0;
}

const std::string& LineProcess::ask(std::string_view question, std::size_t padding, std::string_view last) {
  const auto deadline = ProcessClock::now() + std::chrono::microseconds(timeout_us_);
  answer_.clear();
  if (!read_some()) fail_closed("has closed its standard output");
  if (!answer_.empty()) throw ProcessError("says " + begin_of(answer_) + " before it is asked");
  std::string_view left = question;
  std::size_t line = 0, seen = 0;  // begin of the line being read, and how far it was searched for its end
  bool answered = false;
  while (!left.empty() || !answered) {
    std::array<pollfd, 2> ends{{{out_, POLLIN, 0}, {left.empty() ? -1 : in_, POLLOUT, 0}}};
    // A signal may come between the look and the wait, so no wait is long.
    check_stopped();
    const int ready = ::poll(ends.data(), ends.size(), std::min(ms_until(deadline), kGlanceMs));
    if (ready < 0 && errno != EINTR) throw EnvironmentError("cannot wait for it: " + failure_of(errno));
    if (ready == 0 && ProcessClock::now() >= deadline) {
      throw ProcessError(fmt::format("{} within {}", left.size() > padding ? "has not read the question" : "has not answered",
                                     core::seconds_text(timeout_us_)));
    }
    if (ready <= 0) continue;
    if (ends[1].revents != 0) write_some(left);
    if (ends[0].revents == 0) continue;
    const bool open = read_some();
    if (!answer_.empty() && left.size() > padding) throw ProcessError("says " + begin_of(answer_) + " before it is asked");
    if (answered && answer_.size() > line) break;
    for (std::size_t end = 0; !answered && (end = answer_.find('\n', seen)) != std::string::npos; line = seen = end + 1) {
      answered = std::string_view(answer_).substr(line, end - line) == last;
    }
    if (!answered) seen = answer_.size();
    if (!open && !answered) fail_closed("has closed its standard output");
    if (answer_.size() > kMostBytes) throw ProcessError(fmt::format("answers with more than {} MiB", kMostBytes >> 20));
  }
  if (answer_.size() > line) throw ProcessError(fmt::format("says {} after '{}'", begin_of(answer_.substr(line)), last));
  answer_.resize(line - last.size() - 1);
  return answer_;
}

void LineProcess::finish() {
  const auto deadline = ProcessClock::now() + std::chrono::microseconds(timeout_us_);
  close_end(in_);
  answer_.clear();
  bool ended = false;
  for (bool open = true; !ended;) {
    ended = has_ended();  // before the last read of its output
    while (open && answer_.empty()) {
      const std::size_t before = answer_.size();
      open = read_some();
      if (answer_.size() == before) break;
    }
    if (!answer_.empty()) throw ProcessError("says " + begin_of(answer_) + " before it is asked");
    if (ended) break;
    check_stopped();
    if (ms_until(deadline) == 0) throw ProcessError("does not end within " + core::seconds_text(timeout_us_) + " of the end of its input");
    pollfd end{open ? out_ : -1, POLLIN, 0};
    ::poll(&end, 1, kGlanceMs);
  }
  const std::string how = how_it_ended();
  kill_group();  // with all processes that it started and left
  reap();
  if (how != "ended with exit code 0") throw ProcessError(how);
}

}  // namespace berth::sim
