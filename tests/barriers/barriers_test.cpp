#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/barriers/cases.hpp"
#include "tests/barriers/race_check.hpp"

/// Each `sync` of a group body is needed: without it, some case has a race. What is skipped is chosen by its place in the
/// source, so a new `sync` is tested without a change here.
namespace berth::test {
namespace {

using Site = SyncSites::Site;

const std::int32_t kThreads = getenv("THREADS") ? atoi(getenv("THREADS")) : 5;  // not a power of two, and fewer than the work of most cases

/// Sites that no race shows. Each has its reason; the file and what the line says, as lines move.
const std::map<std::string, std::string> kJustified{};

struct Ran {
  std::string why;
  std::vector<Site> reached;
};

Ran run(const BarrierCase& one, ThreadOrder order, const std::vector<Site>& skipped) {
  static FiberBlock block;
  SyncSites sites;
  sites.skip(skipped);
  FiberExchange exchange(kThreads);
  check_races_of(&block);
  Ran ran;
  ran.why = block.run(kThreads, order, 1, [&](std::int32_t) {
    FiberGroup group(block, exchange, sites);
    one.body(group);
  });
  check_races_of(nullptr);
  ran.reached = sites.reached();
  return ran;
}

std::string line_of(const Site& site) {
  std::ifstream file(site.first);
  std::string line;
  for (int i = 0; i < site.second; ++i) std::getline(file, line);
  return line;
}

std::string short_name(const Site& site) {
  return site.first.substr(site.first.find("berth/kernel/")) + ":" + std::to_string(site.second);
}

/// Every `sync()` call in the headers of the kernels.
std::set<std::string> written_sites() {
  std::set<std::string> sites;
  const std::filesystem::path folder = std::filesystem::path(BERTH_SOURCE_DIR) / "include/berth/kernel";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hpp" || entry.path().parent_path().filename() == "base") continue;
    std::ifstream file(entry.path());
    std::string line;
    for (int n = 1; std::getline(file, line); ++n) {
      if (line.find(".sync()") != std::string::npos) sites.insert(short_name({entry.path().string(), n}));
    }
  }
  return sites;
}

TEST(Barriers, NoCaseHasARaceAndAllSitesAreReached) {
  std::set<std::string> reached;
  for (const BarrierCase& one : barrier_cases()) {
    for (const ThreadOrder order : {ThreadOrder::kAscending, ThreadOrder::kDescending, ThreadOrder::kRandom}) {
      const Ran ran = run(one, order, {});
      ASSERT_EQ(ran.why, "") << one.name;
      for (const Site& site : ran.reached) reached.insert(short_name(site));
    }
  }

  for (const std::string& site : written_sites()) EXPECT_EQ(reached.count(site), 1U) << site << " is not reached";
}

TEST(Barriers, EachIsNeeded) {
  std::map<Site, std::vector<const BarrierCase*>> cases_of;
  for (const BarrierCase& one : barrier_cases()) {
    for (const Site& site : run(one, ThreadOrder::kAscending, {}).reached) cases_of[site].push_back(&one);
  }
  std::size_t needed = 0, justified = 0;
  for (const auto& [site, with_site] : cases_of) {
    const bool shown = std::any_of(with_site.begin(), with_site.end(), [&, &skipped = site](const BarrierCase* one) {
      return !run(*one, ThreadOrder::kAscending, {skipped}).why.empty();
    });
    needed += shown ? 1 : 0;
    if (shown) continue;
    const bool known = kJustified.count(short_name(site)) != 0;
    justified += known ? 1 : 0;
    EXPECT_TRUE(known) << short_name(site) << " can be removed, and no case has a race: " << line_of(site);
  }
  if (getenv("GREEDY")) {
    std::vector<Site> gone;
    for (const auto& [site, with_site] : cases_of) {
      std::vector<Site> more = gone;
      more.push_back(site);
      if (std::any_of(with_site.begin(), with_site.end(), [&](const BarrierCase* one) { return !run(*one, ThreadOrder::kAscending, more).why.empty(); })) continue;
      gone = more;
      std::printf("greedy %s\n", short_name(site).c_str());
    }
  }
  std::printf("barriers: %zu sites, %zu needed, %zu justified; %ld accesses checked\n", cases_of.size(), needed, justified,
              static_cast<long>(accesses_checked()));
}

}  // namespace
}  // namespace berth::test
