// Jobs that share GPUs by predicted interference: data/golden/sharing.

#include <gtest/gtest.h>

#include <string>

#include "tests/cli/command.hpp"

namespace berth::test::sharing_test {
namespace {

std::string of(const std::string& command, const std::string& policy) {
  return command + " --snapshot '" + golden("sharing") + "' --policy " + policy;
}

}  // namespace

TEST(CliSharing, ThePlanSaysWhyAJobSharesAGpu) {
  const Answer answer = berth(of("plan", "genie --param sharing=0.8"));
  ASSERT_EQ(answer.code, 0) << answer.err;
  EXPECT_TRUE(contains(answer.out, "\nguest: shares GPU 0 of n0 with lm; each keeps at least 90 %\n")) << answer.out;
  EXPECT_FALSE(contains(answer.out, "next: shares")) << answer.out;
}

TEST(CliSharing, ExplainSaysWhyAJobDoesNot) {
  const Folder folder;
  const auto explained = [&](const std::string& policy, const std::string& job) {
    const std::string out = folder / "plan.json";
    EXPECT_EQ(berth(of("plan", policy + " --out '" + out + "'")).code, 0);
    return berth("explain --snapshot '" + golden("sharing") + "' --plan '" + out + "' --job " + job).out;
  };
  const std::string rival = explained("genie@sharing=0.8", "rival");
  EXPECT_TRUE(contains(rival, "code           insufficient_gpus\n")) << rival;
  EXPECT_TRUE(contains(rival, "sharing        no profile says what it and ")) << rival;
  const std::string guest = explained("genie@sharing=0.96", "guest");
  EXPECT_TRUE(contains(guest, "sharing        next to ")) << guest;
  EXPECT_TRUE(contains(guest, " one of them would keep 95 %, and sharing=0.96\n")) << guest;
  EXPECT_FALSE(contains(explained("genie", "rival"), "sharing  "));
}

TEST(CliSharing, AParameterThatDoesNotFitIsRefused) {
  const Answer answer = berth(of("plan", "genie@sharing=0.8@discipline=easy"));
  EXPECT_NE(answer.code, 0);
  EXPECT_TRUE(contains(answer.err, "sharing needs discipline=greedy, timers=none")) << answer.err;
}

}  // namespace berth::test::sharing_test
