#pragma once

#include <chrono>
#include <string>

namespace berth::cli {

/// Tells on a terminal how far long work is: one line on standard error, written over and cleared at the end. On a pipe, nothing.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// So many of a hundred are done, and `what` begins.
  void show(int percent, const std::string& what);

 private:
  bool terminal_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace berth::cli
