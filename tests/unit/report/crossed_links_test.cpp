#include "host/report/crossed_links.hpp"

#include <gtest/gtest.h>

namespace berth::report::crossed_links_test {
namespace {

constexpr std::int64_t kGB = 1'000'000'000;

Domain link_up(const std::string& id, const std::string& level, const std::string& parent, std::int64_t gb, std::int64_t over = 1) {
  Domain domain;
  domain.id = id;
  domain.level = level;
  domain.parent = parent;
  domain.uplink_bytes_per_s = gb * kGB;
  domain.oversubscription_ppm = over * 1'000'000;
  return domain;
}

/// n0 and n1 in p/a, n2 in p/b, n3 in q/a, n4 nowhere.
Snapshot linked() {
  Snapshot s;
  s.domains = {link_up("p", "pod", "", 200, 4), link_up("q", "pod", "", 0), link_up("a", "rack", "p", 100, 2),
               link_up("b", "rack", "p", 50), link_up("a", "rack", "q", 25)};
  for (const char* const path : {"p/a", "p/a", "p/b", "q/a", ""}) {
    Node& node = s.nodes.emplace_back();
    node.id = "n" + std::to_string(s.nodes.size() - 1);
    node.domain[static_cast<std::size_t>(TopologyKind::kSwitch)] = path;
  }
  return s;
}

}  // namespace

TEST(CrossedLinks, AreTheUplinksBelowTheDomainThatHoldsAll) {
  EXPECT_EQ(crossed_links(linked(), {"n0"}), "in rack p/a");
  EXPECT_EQ(crossed_links(linked(), {"n0", "n1", "n0"}), "in rack p/a");
  EXPECT_EQ(crossed_links(linked(), {"n0", "n2"}), "in pod p; crosses 2 links: p/b up at 50 GB/s; p/a up at 100 GB/s, oversubscribed 2");
  EXPECT_EQ(
      crossed_links(linked(), {"n1", "n3"}),
      "in the cluster; crosses 4 links: q/a up at 25 GB/s; p/a up at 100 GB/s, oversubscribed 2; p up at 200 GB/s, oversubscribed 4; q up");
  EXPECT_EQ(
      crossed_links(linked(), {"n1", "n2", "n3"}),
      "in the cluster; crosses 5 links: q/a up at 25 GB/s; p/b up at 50 GB/s; p/a up at 100 GB/s, oversubscribed 2; p up at 200 GB/s, "
      "oversubscribed 4; and 1 more");
}

TEST(CrossedLinks, OfNodesOutsideOfDomainsAreNotKnown) {
  EXPECT_EQ(crossed_links(linked(), {"n0", "n4"}), "");
  EXPECT_EQ(crossed_links(Snapshot(), {"n0"}), "");
}

}  // namespace berth::report::crossed_links_test
