#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "host/report/links/link_report.hpp"
#include "tests/unit/core/network/network_support.hpp"

namespace berth::report::link_svg_test {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++n;
  return n;
}

// Jobs "job-0" and so on, and a report with `links` links and `gangs` gangs that all share.
struct Drawn {
  ClusterState state;
  LinkReport report;
};
Drawn drawn(std::int32_t links, std::int32_t gangs) {
  Snapshot snapshot = test::two_node_racks(1);
  for (std::int32_t g = 0; g < gangs; ++g) {
    Job job;
    job.id = fmt::format("job-{}", g);
    job.shapes.resize(1);
    job.shapes[0].id = "s";
    snapshot.jobs.push_back(job);
  }
  Drawn out{ClusterState(snapshot), {}};
  for (std::int32_t g = 0; g < gangs; ++g) {
    GangOnLinks gang;
    gang.job = out.state.find_job(fmt::format("job-{}", g));
    out.report.gangs.push_back(gang);
  }
  for (std::int32_t l = 0; l < links; ++l) {
    LoadedLink link;
    link.name = fmt::format("the <NICs> of node n{}", l);
    link.load_ppm = 1'500'000 - 1'000'000 / links * l;
    out.report.links.push_back(link);
  }
  for (std::int32_t a = 0; a < gangs; ++a) {
    for (std::int32_t b = a + 1; b < gangs; ++b) {
      SharingPair pair;
      pair.first = a;
      pair.second = b;
      pair.overlap_ppm = 1'000 + b;
      pair.first_expected_ppm = 900'000;
      pair.second_expected_ppm = 500'000;
      out.report.pairs.push_back(pair);
    }
  }
  return out;
}

TEST(LinkSvg, DrawsEveryLinkAndPairOfAFew) {
  const Drawn few = drawn(5, 3);
  const std::string svg = link_svg(few.state, few.report);
  EXPECT_EQ(svg.compare(0, 4, "<svg"), 0);
  EXPECT_EQ(count(svg, "<rect "), 1 + 5 + 2 + 9 + 5);  // background, bars, legend, cells, scale
  EXPECT_EQ(count(svg, "the &lt;NICs&gt; of node n0: 150 %"), 1);
  EXPECT_EQ(count(svg, "<title>job-1 by job-0: 50 %</title>"), 1);
  EXPECT_EQ(count(svg, "<title>job-0 by job-1: 10 %</title>"), 1);
  EXPECT_EQ(count(svg, "<NICs>") + count(svg, "<script"), 0);
  EXPECT_EQ(count(svg, "<text "), count(svg, "</text>"));
}

TEST(LinkSvg, GroupsAThousandLinksAndChoosesGangs) {
  const Drawn many = drawn(1'000, 40);
  const std::string svg = link_svg(many.state, many.report);
  EXPECT_EQ(count(svg, "Load of 1000 links, by load, in 60 groups"), 1);
  EXPECT_EQ(count(svg, "the 32 of 40 that overlap most"), 1);
  EXPECT_EQ(count(svg, "<rect "), 1 + 60 + 2 + 32 * 32 + 5);
  EXPECT_EQ(count(svg, "16 links from 150 % to 149 %"), 1);
  EXPECT_EQ(count(svg, "job-39</text>"), 2);
  EXPECT_EQ(count(svg, "job-0</text>"), 0);
}

TEST(LinkSvg, SaysThatNoGangsShare) {
  const Drawn none = drawn(0, 0);
  EXPECT_EQ(count(link_svg(none.state, none.report), "No two gangs share a link."), 1);
}

}  // namespace
}  // namespace berth::report::link_svg_test
