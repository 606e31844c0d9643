// The list of documents is complete, and its links are valid.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::docs_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const fs::path kDocs = fs::path(test::source_dir()) / "docs";

}  // namespace

TEST(Docs, EveryPageIsListed) {
  const std::string list = text_of(kDocs / "README.md");
  for (const auto& entry : fs::recursive_directory_iterator(kDocs)) {
    const std::string name = fs::relative(entry.path(), kDocs).generic_string();
    if (!entry.is_regular_file() || name == "README.md" || name.rfind("adr/", 0) == 0 || name.rfind("plots/", 0) == 0 ||
        name.rfind("report/", 0) == 0)
      continue;
    EXPECT_NE(list.find("](" + name + ")"), std::string::npos) << "docs/README.md does not list " << name;
  }
}

TEST(Docs, EveryPlotIsInTheGallery) {
  const std::string gallery = text_of(kDocs / "search-plots.md");
  for (const auto& entry : fs::directory_iterator(kDocs / "plots")) {
    const std::string name = fs::relative(entry.path(), kDocs).generic_string();
    EXPECT_NE(gallery.find("](" + name + ")"), std::string::npos) << "docs/search-plots.md does not show " << name;
  }
}

// A reader who begins with it gets a plan.
TEST(Docs, TheFirstSnapshotIsPlanned) {
  const std::string page = text_of(kDocs / "formats" / "snapshot.md");
  const std::string fence = "```json\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const ClusterState state(io::parse_snapshot(page.substr(begin, page.find("```", begin) - begin), "snapshot.md"));

  const Plan plan = Engine().decide(state, Request{});

  ASSERT_EQ(plan.decisions.size(), 3u);
  EXPECT_EQ(plan.totals.starts, 1);
  EXPECT_EQ(plan.decisions[1].action, Action::kStart);
  EXPECT_EQ(state.job(plan.decisions[1].job)->shapes[static_cast<std::size_t>(plan.decisions[1].shape)].gpus, 4)
      << "the largest of its range";
  EXPECT_EQ(render_reason(state, plan.decisions[2].reason, plan.decisions[2].job),
            "needs 8 GPUs in one rack, as 2 members of 4 GPUs, each on one node; best rack has room left for 1 of 2: rack1");
}

TEST(Docs, EveryDecisionRecordIsListed) {
  const std::string list = text_of(kDocs / "adr" / "README.md");
  for (const auto& entry : fs::directory_iterator(kDocs / "adr")) {
    const std::string name = entry.path().filename().string();
    if (name == "README.md") continue;
    EXPECT_NE(list.find("](" + name + ")"), std::string::npos) << "docs/adr/README.md does not list " << name;
  }
}

TEST(Docs, LinksOfTheListLeadSomewhere) {
  const std::string list = text_of(kDocs / "README.md");
  std::size_t links = 0;
  for (std::size_t at = list.find("]("); at != std::string::npos; at = list.find("](", at + 1), ++links) {
    const std::string target = list.substr(at + 2, list.find(')', at) - at - 2);
    EXPECT_TRUE(fs::exists(kDocs / target)) << target;
  }
  EXPECT_GT(links, 10u);
}

}  // namespace berth::docs_test
