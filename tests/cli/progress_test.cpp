// The line that reports progress, on a terminal of the test's own.
#include "host/cli/base/progress.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>

namespace berth::cli::progress_test {
namespace {

/// What `act` writes on standard error, which is a terminal meanwhile.
std::string on_terminal(const std::function<void()>& act) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  EXPECT_EQ(::grantpt(terminal), 0);
  EXPECT_EQ(::unlockpt(terminal), 0);
  std::array<char, 100> name{};
  EXPECT_EQ(::ptsname_r(terminal, name.data(), name.size()), 0);
  const int end = ::open(name.data(), O_RDWR | O_NOCTTY), before = ::dup(STDERR_FILENO);
  ::dup2(end, STDERR_FILENO);
  act();
  EXPECT_EQ(::write(end, "|", 1), 1);  // the end, which may come a moment later
  ::dup2(before, STDERR_FILENO);
  ::close(before);
  std::string written;
  for (char c = 0; ::read(terminal, &c, 1) == 1 && c != '|';) written += c;
  ::close(end);
  ::close(terminal);
  return written;
}

constexpr auto kAtOnce = std::chrono::milliseconds(0);
const std::string kCleared = "\r\x1b[K";

}  // namespace

TEST(ProgressLine, IsClearedBeforeAnythingElse) {
  EXPECT_EQ(on_terminal([] {
              ProgressLine line(kAtOnce);
              line.show(0, "fifo");
              line.clear();
              line.clear();
            }),
            kCleared + "[                    ]   0 % fifo" + kCleared);
  EXPECT_EQ(on_terminal([] {
              ProgressLine line(kAtOnce);
              line.show(0, "fifo");
            }),
            kCleared + "[                    ]   0 % fifo" + kCleared)
      << "also at its end";
}

TEST(ProgressLine, IsNotShownForWorkThatIsOverSoon) {
  EXPECT_EQ(on_terminal([] {
              ProgressLine line(std::chrono::hours(1));
              line.show(50, "fifo");
              line.clear();
            }),
            "");
}

}  // namespace berth::cli::progress_test
