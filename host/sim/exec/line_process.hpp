#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <string_view>

#include "berth/error.hpp"
#include "berth/units.hpp"

namespace berth::sim {

/// An external program failed; the message says how.
class ProcessError : public Error {
 public:
  using Error::Error;
};

/// Waiting for the program was given up, because its user asked for that.
class ProcessStopped : public Error {
 public:
  using Error::Error;
};

/// A command that is asked on its standard input and answers on its standard output. Its standard error is ours.
///
/// Both ends are served at once, so neither side can block the other for ever. It runs in its own process group, which
/// ends with it and does not receive Ctrl-C. Signal handlers stay unchanged. One thread at a time.
class LineProcess {
 public:
  /// Runs `/bin/sh -c command`.
  /// @param timeout_us  wall clock: how long each answer may take, and the end.
  /// @param stopped     asked while it waits; true ends the waiting with ProcessStopped. Empty: never. Must not throw.
  /// @throws EnvironmentError where no process can be made.
  LineProcess(const std::string& command, TimeUs timeout_us, std::function<bool()> stopped = {});
  ~LineProcess();  ///< ends it and its process group at once
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  /// Writes a question, then reads an answer up to the line `last`.
  /// @param padding  number of final bytes of the question without information: an answer may come before they are read
  /// @returns the lines before `last`, each with its line feed.
  /// @throws ProcessError when it ends, is late, answers before it was asked or more than kMostBytes, or does not read;
  ///         ProcessStopped.
  const std::string& ask(std::string_view question, std::size_t padding, std::string_view last);

  /// Closes its input and waits for its end. @throws ProcessError when it still says something, is late, or its exit code is not 0;
  ///         ProcessStopped.
  void finish();

  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;  ///< maximum size of one answer

 private:
  void write_some(std::string_view& left);
  bool read_some();  // false: it has closed its end
  void kill_group();
  void reap();
  bool has_ended();
  std::string how_it_ended();
  [[noreturn]] void fail_closed(std::string_view what);
  void check_stopped() const;

  TimeUs timeout_us_;
  std::function<bool()> stopped_;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;  // our ends of its standard input and output
  std::string answer_;
};

}  // namespace berth::sim
