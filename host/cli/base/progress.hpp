#pragma once

#include <chrono>
#include <string>

namespace berth::cli {

/// Reports on a terminal how far long work is: one line on standard error, written over, and cleared at the end. Work that is over soon
/// shows none. On a pipe, nothing.
class ProgressLine {
 public:
  /// @param silent  how long the work goes on before the line appears
  explicit ProgressLine(std::chrono::milliseconds silent = std::chrono::seconds(1));
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// `percent` of the work is done, and `what` goes on. May be called often.
  void show(int percent, const std::string& what);
  /// Before anything else is printed.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  bool terminal_;
  bool shown_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point next_;  // no line is written before
};

}  // namespace berth::cli
