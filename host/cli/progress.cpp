#include "host/cli/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "host/cli/console.hpp"

namespace berth::cli {

ProgressLine::ProgressLine() : terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (terminal_) tell("-", "\r\x1b[K");
}

void ProgressLine::show(int percent, const std::string& what) {
  if (!terminal_) return;
  constexpr int kWidth = 20;
  const int full = percent * kWidth / 100;
  std::string rest;
  if (percent > 0) {
    const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    rest = fmt::format(", about {:.0f} s left", spent * (100 - percent) / percent);
  }
  tell("-", fmt::format("\r\x1b[K[{:=<{}}{: <{}}] {:3} % {}{}", "", full, "", kWidth - full, percent, what, rest));
}

}  // namespace berth::cli
