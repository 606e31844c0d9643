// Detects changed decisions. Each data/golden/<scenario>/snapshot.json is planned by every policy that has an
// expected/<policy>.json, on every backend that needs no device, and the whole plan is compared. scripts/update-golden
// rewrites them.
//
// A file name may contain parameters: expected/fifo@discipline=easy.json. An empty file is still to be generated.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/golden/layout.hpp"
#include "tests/golden/named_request.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::golden_test {
namespace {

namespace fs = std::filesystem;

struct Case {
  fs::path snapshot;
  fs::path expected;
};

std::vector<Case> golden_cases() {
  std::vector<Case> cases;
  const fs::path root = fs::path(test::source_dir()) / "data" / "golden";
  if (!fs::is_directory(root)) return cases;
  for (const auto& scenario : fs::directory_iterator(root)) {
    if (!fs::is_directory(scenario.path() / "expected")) continue;
    for (const auto& expected : fs::directory_iterator(scenario.path() / "expected")) {
      if (expected.path().extension() == ".json") cases.push_back({scenario.path() / "snapshot.json", expected.path()});
    }
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.expected < b.expected; });
  return cases;
}

// The plan as text, without what may differ between machines: backend and times.
std::string planned(const Case& one, Backend backend) {
  const std::string name = one.snapshot.generic_string();
  const ClusterState state(io::parse_snapshot(io::read_file(name), name));
  Engine engine;
  Plan plan = engine.decide(state, test::named_request(one.expected.stem().string(), backend));
  EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
  plan.backend = "any";
  plan.backend_note.clear();
  return test::lay_out(io::to_json(plan, state, false));
}

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, PlanIsAsExpected) {
  const Case& one = GetParam();
  const std::string reference = planned(one, Backend::kReference);
  if (std::getenv("BERTH_UPDATE_GOLDEN") != nullptr) {  // NOLINT(concurrency-mt-unsafe): no other threads here
    io::write_file(one.expected.string(), reference);
  }

  const std::string expected = io::read_file(one.expected.string());
  const std::string cpu = planned(one, Backend::kCpu);

  EXPECT_TRUE(reference == expected) << "reference:\n" << test::difference(expected, reference);
  EXPECT_TRUE(cpu == expected) << "cpu:\n" << test::difference(expected, cpu);
}

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string name = info.param.snapshot.parent_path().filename().string() + "_" + info.param.expected.stem().string();
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Golden, ::testing::ValuesIn(golden_cases()), case_name);

}  // namespace

// Without scenarios the suite above would be empty and pass.
TEST(GoldenScenarios, Exist) { EXPECT_FALSE(golden_cases().empty()) << "none under " << test::source_dir() << "/data/golden"; }

}  // namespace berth::golden_test
