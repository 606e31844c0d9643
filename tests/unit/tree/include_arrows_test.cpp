// The folders are the architecture: this reads every #include of the tree and fails on an include in the wrong
// direction.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/source_dir.hpp"

namespace berth::include_arrows_test {
namespace {

namespace fs = std::filesystem;

struct SourceFile {
  std::string path;  // from the project's root, with '/'
  std::string text;
};

constexpr std::size_t kMostLines = 700, kMostFiles = 45;

// Files of one layer may include layers of a smaller rank, and their own folder. The longest prefix counts.
struct Layer {
  std::string_view prefix;
  int rank;
};
constexpr std::array kLayers{
    Layer{"include/berth/", 0},
    Layer{"include/berth/kernel/", 1},
    Layer{"host/backend/", 2},  // the operations that every backend offers
    Layer{"host/reference/", 3},
    Layer{"host/cpu/", 3},
    Layer{"cuda/", 3},
    Layer{"host/core/", 4},
    Layer{"host/policy/", 5},
    Layer{"host/io/", 5},
    Layer{"host/sim/", 5},
    Layer{"host/report/", 5},
    Layer{"host/forecast/", 6},     // when jobs start: it simulates, and writes what it finds
    Layer{"host/fit/", 6},          // of the command alone: the library needs no optimiser
    Layer{"host/results/", 6},      // likewise: nor a database
    Layer{"host/report/html/", 7},  // likewise: it reads what host/results stores
    Layer{"host/cli/", 8},
    Layer{"python-free-bindings/", 6},
};
constexpr int kMiddleRank = 5;

// Which folders inside a parent may be included: those listed earlier here.
struct Inside {
  std::string_view parent;
  std::vector<std::string_view> folders;
};
const std::vector<Inside>& insides() {
  static const std::vector<Inside> all{
      {"include/berth/kernel/", {"base", "price", "place", "replay", "delay_replay", "score", "ones", "plan_search", "contend", "victims"}},
      {"host/reference/", {"base", "place", "replay", "delay_replay", "score", "price", "ones", "plan_search", "contend", "victims"}},
      {"host/core/",
       {"base", "model", "check", "state", "network", "contention", "backend", "reasons", "policy_api", "quota", "placement", "choice",
        "kept", "validator", "engine"}},
      {"host/policy/", {"base", "queue", "deadlines", "shapes", "search", "rounds"}},
      {"host/io/", {"json", "files", "fields", "formats", "traces", "kai", "topology", "kueue", "slurm"}},
      {"host/sim/", {"base", "iterations", "measures", "replay", "counts", "batch", "delay", "exec", "generate"}},
      {"host/cli/",
       {"base", "bench", "fit", "import", "plan", "explain", "simulate", "sweep", "search", "capacity", "tune", "when", "whatif"}},
  };
  return all;
}

const Layer* layer_of(std::string_view path) {
  const Layer* best = nullptr;
  for (const Layer& layer : kLayers) {
    if (path.substr(0, layer.prefix.size()) != layer.prefix) continue;
    if (best == nullptr || layer.prefix.size() > best->prefix.size()) best = &layer;
  }
  return best;
}

// Included names between quotes, or between angle brackets when they are of this project.
std::vector<std::string> own_includes(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line.compare(hash, 8, "#include") != 0) continue;
    const std::size_t open = line.find_first_of("\"<", hash + 8);
    if (open == std::string::npos) continue;
    const std::size_t close = line.find_first_of("\">", open + 1);
    std::string name = line.substr(open + 1, close - open - 1);
    if (line[open] == '"' || name.compare(0, 6, "berth/") == 0) found.push_back(std::move(name));
  }
  return found;
}

std::string from_root(const std::string& include) { return include.compare(0, 6, "berth/") == 0 ? "include/" + include : include; }

// Columns, and arithmetic in 128 bits.
bool is_shared_with_oracles(const std::string& include) {
  return include == "berth/kernel/base/problem.hpp" || include == "berth/kernel/base/wide.hpp" ||
         (include.size() > 12 && include.compare(include.size() - 12, 12, "/columns.hpp") == 0);
}

// The folder of `path` inside `parent`; empty for a file of the parent itself.
std::string_view folder_in(std::string_view path, std::string_view parent) {
  const std::string_view rest = path.substr(parent.size());
  const std::size_t slash = rest.find('/');
  return slash == std::string_view::npos ? std::string_view{} : rest.substr(0, slash);
}

// Two folders of one parent: empty when the first may include the second, else why not. Files of the parent itself may
// include all.
std::string objection_inside(std::string_view from, std::string_view to) {
  for (const Inside& one : insides()) {
    if (from.substr(0, one.parent.size()) != one.parent || to.substr(0, one.parent.size()) != one.parent) continue;
    const std::string_view a = folder_in(from, one.parent), b = folder_in(to, one.parent);
    if (a.empty() || a == b) return "";
    const auto place = [&](std::string_view folder) { return std::find(one.folders.begin(), one.folders.end(), folder); };
    if (place(a) == one.folders.end()) return "a folder that this test does not know";
    if (b.empty()) return "a folder may not include what stands above it";
    if (place(b) >= place(a)) return "the arrow points the other way inside " + std::string(one.parent);
  }
  return "";
}

// Empty when `file` may include `include`, else why not.
std::string objection(const SourceFile& file, const std::string& include) {
  const std::string target = from_root(include);
  const Layer* to = layer_of(target);
  if (file.path.compare(0, 9, "examples/") == 0) {
    return to != nullptr && to->rank == 0 ? "" : "an example sees the installed headers only";
  }
  const Layer* from = layer_of(file.path);
  if (from == nullptr) return "";  // tests and benchmarks may include everything
  if (to == nullptr) return "not a path from the root of a known layer";
  if (from->prefix == "host/reference/" && to->prefix == "include/berth/kernel/" && !is_shared_with_oracles(include)) {
    return "the oracle shares columns with the bodies, never decision code";
  }
  const std::string inside = objection_inside(file.path, target);
  if (!inside.empty()) return inside;
  if (from->prefix == to->prefix || to->rank < from->rank) return "";
  if (from->rank == kMiddleRank && to->rank == kMiddleRank) return "";  // as long as there is no cycle: folder_cycles
  return "the arrow points the other way";
}

std::vector<std::string> turned_arrows(const std::vector<SourceFile>& files) {
  std::vector<std::string> wrong;
  for (const SourceFile& file : files) {
    for (const std::string& include : own_includes(file.text)) {
      const std::string why = objection(file, include);
      if (!why.empty()) wrong.push_back(file.path + " includes " + include + ": " + why);
    }
  }
  return wrong;
}

// policy, io, sim and report are on one level: two of them may not include each other.
std::vector<std::string> folder_cycles(const std::vector<SourceFile>& files) {
  std::set<std::pair<std::string, std::string>> reaches;
  for (const SourceFile& file : files) {
    const Layer* from = layer_of(file.path);
    if (from == nullptr || from->rank != kMiddleRank) continue;
    for (const std::string& include : own_includes(file.text)) {
      const Layer* to = layer_of(from_root(include));
      if (to != nullptr && to->rank == kMiddleRank && to != from) reaches.emplace(from->prefix, to->prefix);
    }
  }
  for (bool grown = true; grown;) {
    grown = false;
    const auto before = reaches;
    for (const auto& a : before) {
      for (const auto& b : before) {
        if (a.second == b.first && reaches.emplace(a.first, b.second).second) grown = true;
      }
    }
  }
  std::vector<std::string> cycles;
  for (const auto& one : reaches) {
    if (one.first == one.second) cycles.push_back(one.first + " includes itself through others");
  }
  return cycles;
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<SourceFile> the_tree() {
  static const std::set<std::string> kinds{".hpp", ".cpp", ".h", ".c", ".cu", ".cuh"};
  const fs::path root = test::source_dir();
  std::vector<SourceFile> files;
  for (const char* top : {"include", "host", "cuda", "python-free-bindings", "tests", "bench", "examples"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file() || kinds.count(entry.path().extension().string()) == 0) continue;
      files.push_back({fs::relative(entry.path(), root).generic_string(), read(entry.path())});
    }
  }
  return files;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

TEST(IncludeArrows, PointOneWayInTheTree) {
  const std::vector<SourceFile> files = the_tree();
  if (files.empty()) GTEST_SKIP() << "no sources at " << test::source_dir();

  EXPECT_EQ(joined(turned_arrows(files)), "");
  EXPECT_EQ(joined(folder_cycles(files)), "");
}

TEST(IncludeArrows, AreFoundTurned) {
  const std::vector<SourceFile> turned{
      {"host/core/engine/engine.cpp", "#include \"host/policy/queue/fifo.hpp\"\n"},
      {"host/core/model/costs.hpp", "#include \"host/core/state/state_impl.hpp\"\n"},
      {"host/core/base/a.hpp", "#include \"host/core/engine/engine.hpp\"\n"},
      {"host/sim/replay/a.hpp", "#include \"host/sim/simulation.hpp\"\n"},
      {"host/io/new/a.hpp", "#include \"host/io/json/b.hpp\"\n"},
      {"host/reference/place/place.cpp", "#include \"berth/kernel/price/objective.hpp\"\n"},
      {"host/cpu/place.cpp", "#include \"host/reference/place.hpp\"\n"},
      {"host/cpu/place.cpp", "  #include \"host/core/state/state_impl.hpp\"\n"},
      {"include/berth/job.hpp", "#include <berth/kernel/base/problem.hpp>\n"},
      {"include/berth/kernel/place/place.hpp", "#include \"host/backend/backend.hpp\"\n"},
      {"host/reference/place.cpp", "#include \"berth/kernel/place/place.hpp\"\n"},
      {"host/io/plan.cpp", "#include \"plan.hpp\"\n"},
      {"host/sim/replay/replay.cpp", "#include \"tests/support/build.hpp\"\n"},
      {"examples/x/main.cpp", "#include \"berth/kernel/base/problem.hpp\"\n"},
      {"host/policy/search/ones.cpp", "#include \"host/fit/fit.hpp\"\n"},
      {"python-free-bindings/c/src/c.cpp", "#include \"host/fit/fit.hpp\"\n"},
  };

  EXPECT_EQ(turned_arrows(turned).size(), turned.size()) << joined(turned_arrows(turned));
}

TEST(IncludeArrows, ThatPointDownAreAllowed) {
  const std::vector<SourceFile> fine{
      {"host/cli/plan/plan.cpp", "#include \"host/report/table.hpp\"\n#include \"berth/io.hpp\"\n#include <CLI/CLI.hpp>\n"},
      {"host/core/engine/engine.cpp", "#include \"host/cpu/loop.hpp\"\n#include \"host/core/base/names.hpp\"\n"},
      {"cuda/place.cu", "#include \"host/backend/backend.hpp\"\n#include \"cuda/check.cuh\"\n"},
      {"host/reference/place.cpp", "#include \"berth/kernel/base/problem.hpp\"\n"},
      {"tests/parity/place_test.cpp", "#include \"host/core/engine/engine.hpp\"\n"},
  };

  EXPECT_EQ(joined(turned_arrows(fine)), "");
}

TEST(IncludeArrows, BetweenNeighboursMayNotMakeACycle) {
  const std::vector<SourceFile> cycle{
      {"host/io/a.cpp", "#include \"host/sim/b.hpp\"\n"},
      {"host/sim/b.cpp", "#include \"host/policy/c.hpp\"\n"},
      {"host/policy/c.cpp", "#include \"host/io/a.hpp\"\n"},
  };

  EXPECT_EQ(folder_cycles(cycle).size(), 3U);
  EXPECT_TRUE(folder_cycles({cycle[0], cycle[1]}).empty());
}

TEST(Tree, StateIsReachedThroughItsViewOutsideTheCore) {
  for (const SourceFile& file : the_tree()) {
    const Layer* layer = layer_of(file.path);
    if (layer == nullptr || layer->rank < kMiddleRank) continue;
    EXPECT_EQ(file.text.find("state_impl.hpp"), std::string::npos) << file.path;
    EXPECT_EQ(file.text.find("StateImpl"), std::string::npos) << file.path;
    EXPECT_EQ(file.text.find("impl()"), std::string::npos) << file.path;
    EXPECT_EQ(file.text.find("impl_of"), std::string::npos) << file.path;
  }
}

TEST(Tree, HoldsNoFolderOfMoreThan45Files) {
  std::map<std::string, std::size_t> files_of;
  for (const SourceFile& file : the_tree()) ++files_of[file.path.substr(0, file.path.rfind('/'))];

  for (const auto& [folder, files] : files_of) EXPECT_LE(files, kMostFiles) << folder;
}

TEST(Tree, HoldsNoFileOfMoreThan700Lines) {
  for (const SourceFile& file : the_tree()) {
    const auto lines = static_cast<std::size_t>(std::count(file.text.begin(), file.text.end(), '\n'));

    EXPECT_LE(lines, kMostLines) << file.path;
  }
}

TEST(Tree, InstallsEveryPublicHeader) {
  const std::string library = read(fs::path(test::source_dir()) / "cmake" / "berth_library.cmake");
  if (library.empty()) GTEST_SKIP() << "no sources at " << test::source_dir();

  for (const SourceFile& file : the_tree()) {
    const Layer* layer = layer_of(file.path);
    if (layer == nullptr || layer->rank != 0) continue;
    EXPECT_NE(library.find("    " + file.path + "\n"), std::string::npos) << file.path << " is not in cmake/berth_library.cmake";
  }
}

}  // namespace berth::include_arrows_test
