#include "host/cli/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "host/cli/base/console.hpp"

namespace berth::cli {

ProgressLine::ProgressLine(std::chrono::milliseconds silent) : terminal_(::isatty(STDERR_FILENO) == 1), next_(begin_ + silent) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (shown_) print_message("-", "\r\x1b[K");
  shown_ = false;
}

void ProgressLine::show(int percent, const std::string& what) {
  if (!terminal_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  constexpr auto kEvery = std::chrono::milliseconds(100);
  constexpr int kWidth = 20;
  next_ = now + kEvery;
  shown_ = true;
  percent = std::clamp(percent, 0, 100);
  const int full = percent * kWidth / 100;
  std::string rest;
  if (percent > 0) {
    const double spent = std::chrono::duration<double>(now - begin_).count();
    rest = fmt::format(", about {:.0f} s left", spent * (100 - percent) / percent);
  }
  print_message("-", fmt::format("\r\x1b[K[{:=<{}}{: <{}}] {:3} % {}{}", "", full, "", kWidth - full, percent, what, rest));
}

}  // namespace berth::cli
