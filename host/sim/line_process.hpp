#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "berth/error.hpp"
#include "berth/units.hpp"

namespace berth::sim {

/// A program from outside did not do what it is there for; says what.
class ProcessError : public Error {
 public:
  using Error::Error;
};

/// A command that is asked on its standard input and answers on its standard output. Its standard error is ours.
///
/// Both ends are served at once, so neither side can wait for the other for ever. It runs in a process group of its own, which is ended
/// with it; Ctrl-C is not for it. Signal handlers stay as they are. One thread at a time.
class LineProcess {
 public:
  /// Runs `/bin/sh -c command`.
  /// @param patience_us  wall clock: how long each answer may take, and the end.
  /// @throws EnvironmentError where no process can be made.
  LineProcess(const std::string& command, TimeUs patience_us);
  ~LineProcess();  ///< ends it at once
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  /// Writes a question, then reads an answer up to the line `last`.
  /// @param padding  so many of the question's last bytes say nothing: an answer may come before they are read
  /// @returns the lines before `last`, each with its line feed.
  /// @throws ProcessError when it ends, is late, answers before it was asked or more than kMostBytes, or does not read.
  const std::string& ask(std::string_view question, std::size_t padding, std::string_view last);

  /// Closes its input and waits for its end. @throws ProcessError when it still says something, is late, or its exit code is not 0.
  void finish();

  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;  ///< of one answer

 private:
  void write_some(std::string_view& left);
  bool read_some();  // false: it has closed its end
  void kill_group();
  void reap();
  bool has_ended();
  std::string how_it_ended();
  [[noreturn]] void fail_closed(std::string_view what);

  TimeUs patience_us_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;  // our ends of its standard input and output
  std::string answer_;
};

}  // namespace berth::sim
