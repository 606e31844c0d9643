#include "host/report/html/facts.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "host/report/html/html_text.hpp"
#include "host/report/html/svg_charts.hpp"

namespace berth::report::facts_test {

TEST(ReportFacts, RanksAreThoseOfFewValues) {
  const RankedValues ranked = ranked_values({1, 5, 5, 9});
  EXPECT_EQ(ranked.values, 4);
  EXPECT_EQ(ranked.at, (std::vector<std::int64_t>{1, 5, 5, 9}));
  EXPECT_TRUE(ranked_values({}).at.empty());
}

TEST(ReportFacts, RanksOfManyValuesAreEquallySpaced) {
  std::vector<std::int64_t> values(125'303);
  std::iota(values.begin(), values.end(), 1);

  const RankedValues ranked = ranked_values(values);

  ASSERT_EQ(ranked.at.size(), static_cast<std::size_t>(kMostRanks));
  EXPECT_EQ(ranked.at.back(), 125'303);
  EXPECT_EQ(ranked.at.front(), 126) << "ceil(125.303)";
  EXPECT_EQ(ranked.at[499], 62'652) << "ceil(62651.5)";
}

TEST(ReportFacts, PercentilesAreAtTheirRanks) {
  const std::vector<std::int64_t> values{10, 20, 30, 40};
  EXPECT_EQ(value_at(values, 500'000), 20);
  EXPECT_EQ(value_at(values, 510'000), 30);
  EXPECT_EQ(value_at(values, 1'000'000), 40);
  EXPECT_EQ(value_at(values, 0), 10);
  EXPECT_EQ(value_at({}, 500'000), 0);
}

namespace {

ReportRun run_with(std::int64_t gpus, std::int64_t gpu_us) {
  ReportRun run;
  run.stored.numbers["gpus"] = gpus;
  run.stored.numbers["gpu_us"] = gpu_us;
  return run;
}

}  // namespace

// Ten seconds of 8 GPUs: 5 are allocated, 2 free of which one is fragmented, and 1 is down.
TEST(ReportGpuTime, EachGpuIsInOnePart) {
  const std::int64_t second = 1'000'000;
  sim::Sample sample{0, 10 * second, {}};
  sample.micro = {5 * second, 2 * second, 0, 0, 0, second};

  const GpuTimeParts parts =
      gpu_time_of(run_with(8, 50 * second), {{"restart", 3 * second}, {"idle", 2 * second}, {"unknown", second}}, {sample});

  EXPECT_EQ(parts, (GpuTimeParts{45 * second, 3 * second, 0, 0, 0, 0, 2 * second, 10 * second, 10 * second, 10 * second}));
  EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}), 80 * second);
}

TEST(ReportGpuTime, NoGpuIsDownForRounding) {
  sim::Sample sample{0, 3'000'000, {}};
  sample.micro = {2'333'333, 5'666'666, 0, 0, 0, 0};

  EXPECT_EQ(gpu_time_of(run_with(8, 7'000'000), {}, {sample})[9], 0);
}

// Another program may have written anything.
TEST(ReportGpuTime, HasNoPartBelowZero) {
  sim::Sample sample{5'000'000, 1'000'000, {}};
  sample.micro = {INT64_MAX, INT64_MIN, 0, 0, 0, INT64_MAX};
  for (const std::int64_t part : gpu_time_of(run_with(INT64_MIN, -5), {{"move", -7}}, {sample, {0, INT64_MAX, sample.micro}}))
    EXPECT_GE(part, 0);
}

TEST(ReportHtml, TextIsNoMarkup) {
  EXPECT_EQ(html_text(R"(<a href="x" title='y'>&amp;)"), "&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;amp;");
  EXPECT_EQ(html_text("a\x1b[2J\xe2\x80\xae"), "a\\u001b[2J\\u202e");
  EXPECT_EQ(script_json(R"({"a":"</script><!--&"})"), R"({"a":"\u003c/script\u003e\u003c!--\u0026"})");
}

TEST(ReportHtml, NumbersArePackedInBase64) {
  const std::vector<std::uint8_t> bytes{'a', 'b', 'c', 'd'};
  EXPECT_EQ(packed(std::span<const std::uint8_t>(bytes)), "YWJjZA==");
  EXPECT_EQ(packed(std::span<const std::uint8_t>(bytes).first(3)), "YWJj");
  EXPECT_EQ(packed(std::span<const std::uint8_t>(bytes).first(2)), "YWI=");
  EXPECT_EQ(packed(std::span<const std::uint8_t>{}), "");
  const std::vector<double> one{1.0};
  EXPECT_EQ(packed(std::span<const double>(one)), "AAAAAAAA8D8=");
  const std::vector<std::uint32_t> word{1};
  EXPECT_EQ(packed(std::span<const std::uint32_t>(word)), "AQAAAA==");
}

TEST(ReportSvg, ChartsOfNothingAndOfOnePointAreWhole) {
  for (const bool log_x : {false, true}) {
    for (const std::vector<SvgLine>& lines : {std::vector<SvgLine>{}, {{"a<b", {{0, 0}}, {}}}, {{"c", {{-1, 5}, {0, 7}}, {1, 2}}}}) {
      const std::string svg = line_chart_svg({"t&u", "x", "y", log_x, true, 0}, lines);
      EXPECT_EQ(svg.find("nan"), std::string::npos) << svg;
      EXPECT_EQ(svg.find("inf"), std::string::npos) << svg;
      EXPECT_NE(svg.find("t&amp;u"), std::string::npos);
      EXPECT_EQ(svg.find("a<b"), std::string::npos);
      EXPECT_EQ(svg.substr(svg.size() - 7), "</svg>\n");
    }
  }
}

}  // namespace berth::report::facts_test
