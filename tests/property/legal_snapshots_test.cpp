// Every legal snapshot has a plan, and it equals that of the reference. data/regressions/ keeps snapshots for which there was none.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/support/params.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::legal_snapshots_test {
namespace {

std::string planned(const ClusterState& state, Request request, Backend backend) {
  request.backend = backend;
  Engine engine;
  Plan plan = engine.decide(state, request);
  for (const std::string& violation : validate_plan(state, plan)) ADD_FAILURE() << violation;
  plan.backend.clear();
  return io::to_json(plan, state, false);
}

TEST(LegalSnapshot, HasAValidPlanUnderEveryPolicyAndPacking) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(test::source_dir() + "/data/regressions")) {
    if (file.path().extension() != ".json") continue;
    ++files;
    const std::string name = file.path().string();
    const ClusterState state(io::parse_snapshot(io::read_file(name), name));
    for (const PolicyInfo& policy : policies()) {
      for (const char* packing : {"topology", "consolidate", "count", "emptiest", "contention"}) {
        for (const char* discipline : {"greedy", "easy", "conservative"}) {
          Request request;
          request.policy = policy.name;
          request.params = test::short_search(policy.name);
          request.params.emplace_back("packing", packing);
          if (test::has_param(policy.name, "discipline")) request.params.emplace_back("discipline", discipline);
          SCOPED_TRACE(name + ", " + policy.name + ", " + packing + ", " + discipline);
          try {
            EXPECT_EQ(planned(state, request, Backend::kCpu), planned(state, request, Backend::kReference));
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
        }
      }
    }
  }
  EXPECT_GE(files, 25);
}

TEST(LegalSnapshot, HasAValidPlanWhereGangsWaitForPlaces) {
  for (const auto& file : std::filesystem::directory_iterator(test::source_dir() + "/data/regressions")) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().string();
    const ClusterState state(io::parse_snapshot(io::read_file(name), name));
    for (const PolicyInfo& policy : policies()) {
      if (!test::has_param(policy.name, "timer_unit_s")) continue;
      for (const char* timers : {"never", "tuned"}) {
        for (const char* packing : {"topology", "contention"}) {
          Request request;
          request.policy = policy.name;
          request.params = test::short_search(policy.name);
          request.params.insert(request.params.end(), {{"packing", packing}, {"timers", timers}});
          if (test::has_param(policy.name, "discipline")) request.params.emplace_back("discipline", "easy");
          SCOPED_TRACE(name + ", " + policy.name + ", " + packing + ", " + timers);
          try {
            EXPECT_EQ(planned(state, request, Backend::kCpu), planned(state, request, Backend::kReference));
          } catch (const std::exception& error) {
            ADD_FAILURE() << error.what();
          }
        }
      }
    }
  }
}

// Admission by counts changes outcomes after the pass, queues by entry keep a state.
TEST(LegalSnapshot, HasAValidPlanInOtherSimulatorsForms) {
  const std::vector<std::pair<std::string, std::pair<std::string, std::string>>> forms{
      {"srtf", {"admission", "count"}}, {"las", {"queue_order", "running"}}, {"tiresias", {"queue_order", "entry"}}};
  for (const auto& file : std::filesystem::directory_iterator(test::source_dir() + "/data/regressions")) {
    if (file.path().extension() != ".json") continue;
    const std::string name = file.path().string();
    const ClusterState state(io::parse_snapshot(io::read_file(name), name));
    for (const auto& [policy, param] : forms) {
      for (const char* packing : {"topology", "consolidate", "emptiest"}) {
        Request request;
        request.policy = policy;
        request.params = {param, {"packing", packing}};
        SCOPED_TRACE(name + ", " + policy + ", " + packing);
        try {
          EXPECT_EQ(planned(state, request, Backend::kCpu), planned(state, request, Backend::kReference));
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace berth::legal_snapshots_test
