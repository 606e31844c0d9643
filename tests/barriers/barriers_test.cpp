#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/barriers/cases.hpp"
#include "tests/barriers/race_check.hpp"
#include "tests/support/report_counts.hpp"
#include "tests/support/source_dir.hpp"

/// Each `sync` of a group body is needed: without it, some case has a race. What is skipped is chosen by its place in the
/// source, so a new `sync` is tested without a change here.
namespace berth::test::barriers_test {
namespace {

using Site = SyncSites::Site;

constexpr std::int32_t kThreads = 5;  // not a power of two, and fewer than the work of most cases

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

/// Every `sync()` call in the headers of the kernels, as kept.txt names it: "place/fill.hpp 3" is the third in that file.
std::map<std::string, std::string> written_sites() {  // by file and line
  std::map<std::string, std::string> sites;
  const std::filesystem::path folder = std::filesystem::path(test::source_dir()) / "include/berth/kernel";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".hpp") continue;
    std::ifstream file(entry.path());
    const std::string name = std::filesystem::relative(entry.path(), folder).string();
    std::string line;
    int found = 0;
    for (int n = 1; std::getline(file, line); ++n) {
      if (line.find(".sync()") != std::string::npos) sites[name + ":" + std::to_string(n)] = name + " " + std::to_string(++found);
    }
  }
  return sites;
}

std::string with_line(const Site& site) {
  return site.first.substr(site.first.find("berth/kernel/") + 13) + ":" + std::to_string(site.second);
}

/// Sites that are kept although no case needs them, without their reasons.
std::set<std::string> kept_sites() {
  std::set<std::string> sites;
  std::ifstream file(test::source_dir() + "/tests/barriers/kept.txt");
  std::string line;
  while (std::getline(file, line)) {
    if (line.empty() || line[0] == '#') continue;
    sites.insert(line.substr(0, line.rfind(' ')));
  }
  return sites;
}

TEST(Barriers, NoCaseHasARaceAndAllSitesAreReached) {
  std::set<std::string> reached;
  for (const BarrierCase& one : barrier_cases()) {
    for (const ThreadOrder order : {ThreadOrder::kAscending, ThreadOrder::kDescending, ThreadOrder::kRandom}) {
      const Ran ran = run(one, order, {});
      ASSERT_EQ(ran.why, "") << one.name;
      for (const Site& site : ran.reached) reached.insert(with_line(site));
    }
  }

  for (const auto& [line, name] : written_sites()) EXPECT_EQ(reached.count(line), 1U) << line << " is not reached";
}

TEST(Barriers, EachIsNeededOrKeptForAReason) {
  std::map<Site, std::vector<const BarrierCase*>> cases_of;
  for (const BarrierCase& one : barrier_cases()) {
    for (const Site& site : run(one, ThreadOrder::kAscending, {}).reached) cases_of[site].push_back(&one);
  }
  const std::map<std::string, std::string> names = written_sites();
  const std::set<std::string> kept = kept_sites();
  std::size_t needed = 0;
  for (const auto& [site, with_site] : cases_of) {
    const bool shown = std::any_of(with_site.begin(), with_site.end(), [&, &skipped = site](const BarrierCase* one) {
      return !run(*one, ThreadOrder::kAscending, {skipped}).why.empty();
    });
    needed += shown ? 1 : 0;
    const std::string line = with_line(site);
    EXPECT_EQ(kept.count(names.at(line)), shown ? 0U : 1U)
        << line << " (" << names.at(line)
        << (shown ? ") is needed: take it out of kept.txt" : ") can go without a race: remove it, or give a reason in kept.txt");
  }
  report_counts(std::to_string(cases_of.size()) + " sites of sync, " + std::to_string(needed) + " needed, " + std::to_string(kept.size()) +
                " kept for a reason; " + std::to_string(accesses_checked()) + " accesses checked");
}

}  // namespace
}  // namespace berth::test::barriers_test
