// The files in data/schemas are what the tables of fields give, and the examples in data/ follow them.
// scripts/update-golden rewrites the files.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "host/cli/bench/bench_runs.hpp"
#include "host/cli/capacity/capacity_json.hpp"
#include "host/cli/explain/link_json.hpp"
#include "host/cli/explain/queue_json.hpp"
#include "host/cli/plan/contest_json.hpp"
#include "host/cli/simulate/simulation_json.hpp"
#include "host/cli/sweep/sweep_json.hpp"
#include "host/cli/tune/tune_json.hpp"
#include "host/fit/predictor_json.hpp"
#include "host/forecast/forecast_json.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/traces/trace_json.hpp"
#include "tests/golden/layout.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::schemas_test {
namespace {

namespace fs = std::filesystem;

const fs::path kData = fs::path(test::source_dir()) / "data";

struct Format {
  std::string name;
  std::string (*schema)();
};

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {"bench", cli::bench_schema},         {"bound", io::bound_schema},
      {"cluster", io::cluster_schema},      {"contest", cli::contest_schema},
      {"deltas", io::deltas_schema},        {"events", io::events_schema},
      {"edits", io::edits_schema},          {"whatif", io::what_if_schema},
      {"links", cli::links_schema},         {"queues", cli::queues_schema},
      {"overheads", io::overheads_schema},  {"plan", io::plan_schema},
      {"predictor", fit::predictor_schema}, {"simulation", cli::simulation_schema},
      {"snapshot", io::snapshot_schema},    {"state", io::state_schema},
      {"when", io::forecast_schema},        {"capacity", cli::capacity_schema},
      {"tune", cli::tune_schema},           {"sweep", cli::sweep_schema},
      {"trace", io::trace_schema},
  };
  return all;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

fs::path file_of(const std::string& format) { return kData / "schemas" / ("berth." + format + ".v1.json"); }

std::vector<fs::path> files_in(const fs::path& folder, const std::string& name_begin) {
  std::vector<fs::path> files;
  if (!fs::is_directory(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool named = entry.path().filename().string().compare(0, name_begin.size(), name_begin) == 0;
    if (named && entry.path().extension() == ".json") files.push_back(entry.path());
  }
  return files;
}

}  // namespace

TEST(Schemas, AreThoseOfTheTables) {
  if (!fs::is_directory(kData / "schemas")) GTEST_SKIP() << "no schemas at " << kData;
  for (const Format& format : formats()) {
    const fs::path path = file_of(format.name);
    const std::string schema = test::lay_out_nested(format.schema());
    if (std::getenv("BERTH_UPDATE_GOLDEN") != nullptr) {
      std::ofstream(path, std::ios::binary) << schema;
      continue;
    }
    EXPECT_TRUE(content_of(path) == schema) << path << " is not what the tables give; scripts/update-golden rewrites it.\n"
                                            << test::difference(content_of(path), schema);
  }
}

TEST(Schemas, AcceptTheSnapshotsInData) {
  std::vector<fs::path> snapshots = files_in(kData / "golden", "snapshot");
  for (const char* folder : {"demo", "regressions"}) {
    const std::vector<fs::path> more = files_in(kData / folder, "");
    snapshots.insert(snapshots.end(), more.begin(), more.end());
  }
  EXPECT_FALSE(snapshots.empty());
  const std::string schema = io::snapshot_schema();

  for (const fs::path& path : snapshots) EXPECT_EQ(test::schema_fault(content_of(path), schema), "") << path;
}

TEST(Schemas, AcceptTheExpectedPlans) {
  const std::string schema = io::plan_schema();

  for (const fs::path& scenario : files_in(kData / "golden", "snapshot")) {
    for (const fs::path& plan : files_in(scenario.parent_path() / "expected", "")) {
      EXPECT_EQ(test::schema_fault(content_of(plan), schema), "") << plan;
    }
  }
}

TEST(Schemas, RejectWhatReadersReject) {
  const auto snapshot = [](const std::string& job) {
    return test::schema_fault(R"({"schema": "berth.snapshot.v1", "now_s": 0, "gpu_types": [], "nodes": [], "jobs": [)" + job + "]}",
                              io::snapshot_schema());
  };

  EXPECT_EQ(snapshot(R"({"id": "a", "submit_s": 0, "gpus": 1, "x_a": []})"), "");
  EXPECT_EQ(snapshot(R"({"id": "", "submit_s": 0, "gpus": 1})"), "/jobs/0/id: is too short");
  EXPECT_EQ(snapshot(R"({"id": "a", "submit_s": -1, "gpus": 1})"), "/jobs/0/submit_s: is too small");
  EXPECT_EQ(snapshot(R"({"id": "a", "submit_s": 0})"), "/jobs/0: follows 0 of the alternatives");
  EXPECT_EQ(snapshot(R"({"id": "a", "submit_s": 0, "gpus": 1, "shapes": [{"gpus": 1}]})"), "/jobs/0: follows 0 of the alternatives");
  EXPECT_EQ(snapshot(R"({"id": "a", "submit_s": 0, "gpus": 1, "state": "gone"})"), "/jobs/0/state: is none of the constants");
  EXPECT_EQ(snapshot(R"({"id": "a", "submit_s": 0, "gpus": 1, "extra": 1})"), "/jobs/0/extra: no such field");
}

}  // namespace berth::schemas_test
