// The list of documents is whole, and its links lead somewhere.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace berth {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

const fs::path kDocs = fs::path(BERTH_SOURCE_DIR) / "docs";

}  // namespace

TEST(Docs, EveryPageIsListed) {
  const std::string list = text_of(kDocs / "README.md");
  for (const auto& entry : fs::recursive_directory_iterator(kDocs)) {
    const std::string name = fs::relative(entry.path(), kDocs).generic_string();
    if (!entry.is_regular_file() || name == "README.md" || name.rfind("adr/", 0) == 0) continue;
    EXPECT_NE(list.find("](" + name + ")"), std::string::npos) << "docs/README.md does not list " << name;
  }
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

}  // namespace berth
