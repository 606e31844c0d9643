#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/base/request.hpp"
#include "host/cli/tune/day_bootstrap.hpp"
#include "host/cli/tune/halving.hpp"
#include "host/cli/tune/param_space.hpp"
#include "host/sim/base/random.hpp"

namespace berth::cli::tune_search_test {
namespace {

constexpr std::int64_t kS = kSecond;

PairedDays paired(const DayValues& usual, const DayValues& tuned) {
  PairedDays both;
  both.usual = usual, both.tuned = tuned;
  return both;
}

std::string problem_of(const std::string& policy, const std::string& space) {
  try {
    (void)parse_domain(find_policy_info(policy), space);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(Halving, RungsGrowByThreeUpToTheWindow) {
  EXPECT_EQ(rung_days(28), (std::vector<std::int64_t>{3, 9, 28}));
  EXPECT_EQ(rung_days(9), (std::vector<std::int64_t>{1, 3, 9}));
  EXPECT_EQ(rung_days(8), (std::vector<std::int64_t>{2, 8}));
  EXPECT_EQ(rung_days(1), (std::vector<std::int64_t>{1}));
}

TEST(Halving, TheBudgetIsUsedAndNotExceeded) {
  for (std::int64_t runs = 1; runs < 300; ++runs) {
    const auto made = [](std::int64_t count) { return 7 + count + kept_of(count) + kept_of(kept_of(count)); };
    const std::int64_t count = configurations_for(runs, 7, 3);
    if (count > 0) {
      EXPECT_LE(made(count), runs);
    }
    EXPECT_GT(made(count + 1), runs);
  }
  EXPECT_EQ(configurations_for(9, 7, 3), 0) << "a configuration takes three runs";
}

TEST(Halving, TheBestThirdStaysAndLostOnesGo) {
  const std::vector<std::optional<std::int64_t>> values{5, std::nullopt, 3, 5, 1, std::nullopt};
  EXPECT_EQ(best_of(values, 3), (std::vector<std::size_t>{4, 2, 0})) << "of equals the first";
  EXPECT_EQ(best_of(values, 9).size(), 4U);
  EXPECT_EQ(kept_of(9), 3);
  EXPECT_EQ(kept_of(2), 1);
  EXPECT_EQ(kept_of(0), 0);
}

TEST(DayBootstrap, TheSameGainOfAllJobsHasNoSpread) {
  const DayMetric mean = day_metric("mean_jct");
  const PairedGain gain = paired_gain({paired({{30, 40}, {50}, {60, 70}}, {{20, 30}, {40}, {50, 60}})}, mean, 1);
  EXPECT_DOUBLE_EQ(gain.usual, 50);
  EXPECT_DOUBLE_EQ(gain.tuned, 40);
  EXPECT_TRUE(gain.interval);
  EXPECT_NEAR(gain.low, 10, 1e-9);
  EXPECT_NEAR(gain.high, 10, 1e-9);
  EXPECT_EQ(gain.days, 3);
}

TEST(DayBootstrap, PercentilesAreThoseOfSimulations) {
  std::vector<std::int64_t> values;
  for (std::int64_t v = 1; v <= 100; ++v) values.push_back(v);
  const DayValues days{values, {}}, zero{std::vector<std::int64_t>(100, 0), {}};
  for (const auto& [name, expected] :
       std::vector<std::pair<const char*, double>>{{"p90_queue", 90}, {"p99_jct", 99}, {"median_jct", 50}, {"max_queue", 100}})
    EXPECT_DOUBLE_EQ(paired_gain({paired(days, zero)}, day_metric(name), 1).gain, expected) << name;
}

TEST(DayBootstrap, TheMakespanEndsWithTheLastJob) {
  const DayMetric makespan = day_metric("makespan");
  constexpr TimeUs kFrom = 5 * kDayUs;
  // Submission, JCT, wait, first start.
  const std::vector<results::CompletedJob> usual{{kFrom, 90, 0, 0}, {kFrom + kDayUs, 7, 0, 0}}, tuned{{kFrom, 3 * kDayUs, 0, 0}};
  const auto days = [&](const std::vector<results::CompletedJob>& jobs) { return day_values(jobs, makespan, kFrom, kFrom + 2 * kDayUs); };
  const PairedGain gain = paired_gain({paired(days(usual), days(tuned))}, makespan, 1);
  EXPECT_DOUBLE_EQ(gain.usual, static_cast<double>(kDayUs + 7));
  EXPECT_DOUBLE_EQ(gain.tuned, static_cast<double>(3 * kDayUs));
}

TEST(DayBootstrap, OneDayGivesNoInterval) {
  const PairedGain gain = paired_gain({paired({{30}, {}}, {{20}, {}})}, day_metric("jct"), 1);
  EXPECT_EQ(gain.gain, 10);
  EXPECT_FALSE(gain.interval);
}

// Days that do not depend on each other: the interval is about that of the normal distribution, and less than that of one window of four.
TEST(DayBootstrap, TheIntervalIsAsWideAsTheDaysSpread) {
  constexpr std::size_t kDays = 64;
  DayValues usual(kDays), tuned(kDays, {100 * kS});
  double squares = 0, sum = 0;
  for (std::size_t day = 0; day < kDays; ++day) {
    const std::int64_t off = sim::ItemDraws(7, sim::RandomStream::kResample, day).below(2001) - 1000;
    usual[day] = {100 * kS + off};
    sum += static_cast<double>(off), squares += static_cast<double>(off * off);
  }
  const double mean = sum / kDays, deviation = std::sqrt(squares / kDays - mean * mean);
  const PairedGain gain = paired_gain({paired(usual, tuned)}, day_metric("mean_jct"), 3);
  EXPECT_NEAR(gain.gain, mean, 1e-6);
  EXPECT_NEAR((gain.high - gain.low) / 2, 1.96 * deviation / std::sqrt(kDays), 0.3 * 1.96 * deviation / std::sqrt(kDays));
  EXPECT_LT(gain.low, gain.gain);
  EXPECT_GT(gain.high, gain.gain);
  const PairedGain same = paired_gain({paired(usual, tuned)}, day_metric("mean_jct"), 3);
  EXPECT_EQ(same.low, gain.low) << "the seed decides";
  EXPECT_NE(paired_gain({paired(usual, tuned)}, day_metric("mean_jct"), 4).low, gain.low);
}

// A gain in one busy period of neighbouring days is less sure than the same gain on days that are apart.
TEST(DayBootstrap, BusyPeriodsAreDrawnTogether) {
  EXPECT_EQ(block_days(28), 3);
  EXPECT_EQ(block_days(1), 1);
  DayValues together(27, {0}), apart(27, {0});
  const DayValues none(27, {0});
  for (std::size_t d = 0; d < 9; ++d) together[d] = {900}, apart[3 * d] = {900};
  const PairedGain busy = paired_gain({paired(together, none)}, day_metric("jct"), 1),
                   even = paired_gain({paired(apart, none)}, day_metric("jct"), 1);
  EXPECT_EQ(busy.gain, even.gain);
  EXPECT_GT(busy.high - busy.low, 1.3 * (even.high - even.low));
}

TEST(DayBootstrap, JobsBelongToTheDayOfTheirSubmission) {
  std::vector<results::CompletedJob> jobs(4);
  jobs[0].submit_us = 0, jobs[0].jct_us = 1;
  jobs[1].submit_us = kDayUs - 1, jobs[1].jct_us = 2;
  jobs[2].submit_us = kDayUs, jobs[2].jct_us = 3;
  jobs[3].submit_us = 2 * kDayUs, jobs[3].jct_us = 4;
  const DayValues days = day_values(jobs, day_metric("jct"), 0, kDayUs + kDayUs / 2);
  EXPECT_EQ(days, (DayValues{{1, 2}, {3}})) << "the window has a day and a half";
}

TEST(DayBootstrap, OnlyFiguresOfJobsHaveDays) {
  EXPECT_THROW(day_metric("mean_rho"), InvalidArgument);
  EXPECT_THROW(day_metric("max_rho"), InvalidArgument);
  EXPECT_THROW(day_metric("rejected"), InvalidArgument);
  EXPECT_EQ(results::kSweepMetricTable[day_metric("mean_first_start").metric].name, "mean_first_start");
}

TEST(ParamSpace, DrawsStayInTheirDomain) {
  const PolicyInfo las = find_policy_info("las");
  const std::vector<ParamDomain> space{parse_domain(las, "thresholds_gpu_s=100..100000"), parse_domain(las, "promote_knob=off,2,4")};
  const std::vector<ParamValues> drawn = draw_configurations(las, space, 5, 200);
  ASSERT_EQ(drawn.size(), 200U);
  std::set<std::string> knobs;
  std::int64_t small = 0, numbers = 0;
  for (const ParamValues& values : drawn) {
    ASSERT_EQ(values.size(), 2U);
    EXPECT_EQ(values[0].first, "promote_knob");
    knobs.insert(values[0].second);
    std::int64_t last = 0;
    std::string rest = values[1].second;
    for (int i = 0; i < 3; ++i) {
      const std::int64_t number = std::stoll(rest);
      EXPECT_GT(number, last) << values[1].second;
      EXPECT_GE(number, 100);
      EXPECT_LE(number, 100'000);
      small += number < 3162;
      ++numbers;
      last = number;
      rest = i < 2 ? rest.substr(rest.find(',') + 1) : "";
    }
  }
  EXPECT_EQ(knobs, (std::set<std::string>{"off", "2", "4"}));
  EXPECT_NEAR(static_cast<double>(small) / static_cast<double>(numbers), 0.5, 0.08) << "by ratio, half of them are below the middle decade";
  const std::vector<ParamValues> few = draw_configurations(las, space, 5, 20);
  EXPECT_TRUE(std::equal(few.begin(), few.end(), drawn.begin())) << "more of them are the same ones and others";
  EXPECT_NE(draw_configurations(las, space, 6, 20), few);
}

TEST(ParamSpace, ASmallSpaceIsUsedUp) {
  const PolicyInfo las = find_policy_info("las");
  const std::vector<ParamDomain> space{parse_domain(las, "queue_order=submit,entry,running"), parse_domain(las, "promote_knob=off,1")};
  EXPECT_EQ(draw_configurations(las, space, 1, 100).size(), 5U) << "the default is none of them";
}

TEST(ParamSpace, ValuesWithCommasAreSeparatedByBars) {
  const ParamDomain domain = parse_domain(find_policy_info("price"), "terms=none|migration,restart");
  EXPECT_EQ(domain.choices, (std::vector<std::string>{"none", "migration,restart"}));
  EXPECT_EQ(domain_text(domain), "none | migration,restart");
  EXPECT_EQ(domain_text(parse_domain(find_policy_info("themis"), "f=0.1..0.9")), "0.1..0.9");
  EXPECT_FALSE(parse_domain(find_policy_info("themis"), "f=0.1..0.9").whole);
}

TEST(ParamSpace, SaysWhatIsWrong) {
  EXPECT_TRUE(problem_of("las", "treshold_gpu_s=1..2").find("has no parameter 'treshold_gpu_s'") != std::string::npos);
  EXPECT_TRUE(problem_of("las", "treshold_gpu_s=1..2").find("did you mean 'thresholds_gpu_s'?") != std::string::npos);
  EXPECT_EQ(problem_of("las", "promote_knob=5..1"),
            "--space promote_knob: '5..1': expected LOW..HIGH, two numbers of 0 or more, the smaller one first");
  EXPECT_NE(problem_of("las", "queue_order=submit,never"), "");
  EXPECT_NE(problem_of("las", "promote_knob=0..4"), "") << "the policy refuses 0";
  EXPECT_NE(problem_of("las", "promote_knob"), "");
  EXPECT_NE(problem_of("las", "promote_knob=a,,b"), "");
}

// The usual domains are of parameters that there are, with values that the policies accept.
TEST(ParamSpace, UsualDomainsFitEveryPolicy) {
  std::set<std::string> tuned;
  for (const PolicyInfo& info : policies()) {
    for (const ParamDomain& domain : usual_domains(info)) {
      tuned.insert(domain.name);
      for (const char* never : {"quotas", "over_limit", "discipline", "packing", "shape", "max_tries"}) EXPECT_NE(domain.name, never);
    }
    const std::vector<ParamDomain> space = usual_domains(info);
    for (const ParamValues& values : draw_configurations(info, space, 1, 5)) {
      RequestOptions options;
      for (const auto& [name, value] : values) options.params.push_back(name + "=" + value);
      EXPECT_NO_THROW(make_request(options, info.name)) << policy_text(info.name, values);
    }
  }
  EXPECT_EQ(tuned.size(), 20U) << "an entry of the table has no policy any more";
}

}  // namespace berth::cli::tune_search_test
