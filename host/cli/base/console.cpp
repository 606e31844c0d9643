#include "host/cli/base/console.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <new>
#include <string>

#include "berth/io.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/files/write_pieces.hpp"

namespace berth::cli {
namespace {

// @returns 0 or errno
int write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace

void print(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error != 0 && error != EPIPE) {
    io::fail_file("write", "standard output", error);
  }
}

void write_out(const std::string& path, std::string_view content) {
  write_out(path, [&](const io::WritePiece& write) { write(content); });
}

void write_out(const std::string& path, const std::function<void(const io::WritePiece&)>& produce) {
  if (path == "-") return produce([](std::string_view piece) { print(piece); });
  struct stat info {};
  // A pipe may have no reader, and leaves nothing to remove.
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) return io::write_file(path, produce);
  // A write that has begun is finished before a signal ends the process, so that no temporary file stays.
  sigset_t ends{};
  sigset_t before{};
  sigemptyset(&ends);
  for (const int signal : kEndSignals) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, &before);
  try {
    io::write_file(path, produce);
  } catch (...) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void print_message(const std::string& out, std::string_view text) {
  if (out == "-") {
    (void)write_all(STDERR_FILENO, text);
  } else {
    print(text);
  }
}

void print_error(std::string_view message) noexcept {
  std::string shown;
  try {
    shown = core::escape_control(message, true);
    message = shown;
  } catch (const std::bad_alloc&) {  // then unchanged
  }
  (void)write_all(STDERR_FILENO, "berth: ");
  (void)write_all(STDERR_FILENO, message);
  (void)write_all(STDERR_FILENO, "\n");
}

bool wants_colour(const std::string& when) {
  if (when != "auto") return when == "always";
  const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): no code calls setenv
  const char* terminal = std::getenv("TERM");       // NOLINT(concurrency-mt-unsafe): no code calls setenv
  if (no_colour != nullptr && *no_colour != '\0') return false;
  return ::isatty(STDOUT_FILENO) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace berth::cli
