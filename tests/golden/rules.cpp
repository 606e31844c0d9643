#include "tests/golden/rules.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "berth/engine.hpp"
#include "berth/io.hpp"
#include "berth/state.hpp"
#include "tests/golden/named_request.hpp"
#include "tests/support/source_dir.hpp"

namespace berth::test {
namespace {

namespace fs = std::filesystem;

const fs::path& golden_folder() {
  static const fs::path folder = fs::path(test::source_dir()) / "data" / "golden";
  return folder;
}

void append(std::string& to, const std::string& word) { to += (to.empty() ? "" : " ") + word; }

// "3@n0,n1"
std::string place_of(const ClusterState& state, const Plan& plan, const Decision& decision) {
  std::string nodes;
  int gpus = 0;
  for (std::int32_t e = decision.entry_begin; e < decision.entry_end; ++e) {
    const PlanEntry& entry = plan.entries[static_cast<std::size_t>(e)];
    gpus += std::popcount(entry.gpus);
    nodes += (nodes.empty() ? "" : ",") + state.node(entry.node).id;
  }
  return std::to_string(gpus) + "@" + nodes;
}

// The cells of a row, without the blanks around them.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  std::istringstream in(row);
  std::string cell;
  std::getline(in, cell, '|');  // before the first one
  while (std::getline(in, cell, '|')) {
    const std::size_t first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
  }
  return cells;
}

// "`SCENARIO` PLAN: yes" of a case
std::string row_of(const RuleCase& one) {
  return "`" + std::string(one.scenario) + "` " + one.plan.name + ": " + (one.berth ? "no" : "yes");
}

// The same of docs/quota-rules.md: in its tables the golden plan stands after the column "same".
std::multiset<std::string> documented_rows(const std::string& prefix) {
  const std::string page = io::read_file((fs::path(test::source_dir()) / "docs" / "quota-rules.md").string());
  std::multiset<std::string> rows;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] != '|') continue;
    const std::vector<std::string> cells = cells_of(line);
    for (std::size_t i = 1; i < cells.size(); ++i) {
      const bool is_verdict = cells[i - 1] == "yes" || cells[i - 1] == "no";
      if (is_verdict && cells[i].compare(0, prefix.size() + 1, "`" + prefix) == 0) rows.insert(cells[i] + ": " + cells[i - 1]);
    }
  }
  return rows;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const RuleAnswer& answer) {
  return out << "starts: " << answer.starts << "; displaced: " << answer.displaced << "; changed: " << answer.changed;
}

RuleAnswer answer_of(const ClusterState& state, const Plan& plan) {
  std::map<std::int32_t, const Decision*> by_index;  // jobs of the snapshot in its order
  for (const Decision& decision : plan.decisions) by_index[decision.job] = &decision;
  RuleAnswer answer;
  for (const auto& [job, decision] : by_index) {
    const std::string& id = state.job(job)->id;
    switch (decision->action) {
      case Action::kStart:
        append(answer.starts, id);
        break;
      case Action::kPreempt:
        append(answer.displaced, id);
        break;
      case Action::kResize:
      case Action::kMigrate:
      case Action::kReplace:
        append(answer.changed, id + " " + place_of(state, plan, *decision));
        break;
      default:
        break;
    }
  }
  return answer;
}

Snapshot golden_snapshot(const std::string& scenario) {
  const std::string name = (golden_folder() / scenario / "snapshot.json").generic_string();
  return io::parse_snapshot(io::read_file(name), name);
}

void expect_answers(std::span<const RuleCase> cases) {
  for (const RuleCase& one : cases) {
    SCOPED_TRACE(std::string(one.scenario) + " " + one.plan.name + ", " + one.setting);
    const ClusterState state(golden_snapshot(one.scenario));
    const Plan plan = Engine().decide(state, named_request(one.plan.policy, Backend::kCpu));
    EXPECT_EQ(validate_plan(state, plan), std::vector<std::string>{});
    EXPECT_EQ(answer_of(state, plan), one.berth.value_or(one.theirs));
    if (one.berth) {
      EXPECT_NE(*one.berth, one.theirs) << "Berth decides the same: the case says that it does not";
    }
  }
}

void expect_documented(std::span<const RuleCase> cases, const std::string& prefix) {
  std::set<std::string> plans, golden;
  std::multiset<std::string> rows;
  for (const RuleCase& one : cases) {
    plans.insert(std::string(one.scenario) + "/" + one.plan.policy);
    rows.insert(row_of(one));
  }
  for (const auto& scenario : fs::directory_iterator(golden_folder())) {
    const std::string name = scenario.path().filename().string();
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    for (const auto& plan : fs::directory_iterator(scenario.path() / "expected")) golden.insert(name + "/" + plan.path().stem().string());
  }
  EXPECT_EQ(golden, plans) << "plans under data/golden, and cases";
  EXPECT_EQ(documented_rows(prefix), rows) << "rows of docs/quota-rules.md, and cases";
}

}  // namespace berth::test
