// A program that answers questions; tests/cli/policy_exec_test.cpp has its errors through the command.
#include "host/sim/exec/line_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigpending, which <csignal> need not have

#include <regex>

namespace berth::sim::line_process_test {

TEST(LineProcess, AnswersOneQuestionAtATime) {
  LineProcess echo("while read word; do echo \"$word $word\"; echo end; done", 60 * kSecond);

  EXPECT_EQ(echo.ask("a\n", 0, "end"), "a a\n");
  EXPECT_EQ(echo.ask("b\n", 0, "end"), "b b\n");
  echo.finish();
}

// More than the pipes can buffer, in either direction.
TEST(LineProcess, LongQuestionsAndLongAnswersMeet) {
  std::string question;
  for (int i = 0; i < 200'000; ++i) question += "0123456789\n";
  LineProcess reads("sed /x/q >/dev/null; head -c 1000000 /dev/zero | tr '\\0' 'y'; echo; echo end", 60 * kSecond);

  EXPECT_EQ(reads.ask(question + "x\n", 0, "end"), std::string(1'000'000, 'y') + "\n");
}

// The command ignores that signal; a program with the library may not.
TEST(LineProcess, AQuestionWithoutAReaderIsAnErrorAndNoSignal) {
  struct sigaction usual {
  }, before{};
  usual.sa_handler = SIG_DFL;
  sigaction(SIGPIPE, &usual, &before);
  LineProcess deaf("exec <&-; sleep 60", 60 * kSecond);

  EXPECT_THROW(deaf.ask(std::string(1 << 20, 'x'), 0, "end"), ProcessError);

  sigset_t blocked, pending;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  sigpending(&pending);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
  EXPECT_EQ(sigismember(&pending, SIGPIPE), 0);
  sigaction(SIGPIPE, &before, nullptr);
}

TEST(LineProcess, TheProgramGetsSignalsAsProgramsExpectThem) {
  struct sigaction ignored {
  }, before{};
  ignored.sa_handler = SIG_IGN;
  sigaction(SIGPIPE, &ignored, &before);
  LineProcess shell("read word; grep SigIgn /proc/self/status; echo end", 60 * kSecond);
  sigaction(SIGPIPE, &before, nullptr);

  const std::string answer = shell.ask("go\n", 0, "end");

  std::smatch mask;
  ASSERT_TRUE(std::regex_search(answer, mask, std::regex("SigIgn:\\s*([0-9a-f]+)"))) << answer;
  EXPECT_EQ(std::stoull(mask[1], nullptr, 16) >> (SIGPIPE - 1) & 1, 0u) << answer;
}

// It neither answers nor ends; `stopped` is asked while it is waited for.
TEST(LineProcess, IsNotWaitedForWhenItsUserStops) {
  int looks = 0;
  LineProcess silent("trap '' TERM; sleep 1000", 3'600 * kSecond, [&] { return ++looks > 3; });

  EXPECT_THROW(silent.ask("go\n", 0, "end"), ProcessStopped);
  EXPECT_THROW(silent.finish(), ProcessStopped);
  EXPECT_EQ(looks, 5);
}

}  // namespace berth::sim::line_process_test
