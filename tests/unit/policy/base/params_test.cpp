#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/core/policy_api/policy.hpp"

namespace berth::params_test {
namespace {

using core::DelayRule;
using core::find_policy;
using core::Packing;
using core::Params;
using core::pass_rules;
using kernel::Discipline;

std::string refusal(const std::function<void()>& act) {
  try {
    act();
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "accepted";
}

std::string refusal_of(const char* policy, const Params& params) {
  return refusal([&] {
    pass_rules(find_policy(policy), params);
    find_policy(policy).make(params);
  });
}

}  // namespace

TEST(Policies, DefaultsAreThoseOfTheModel) {
  struct Row {
    const char* name;
    Discipline discipline;
    bool preemptive, class_rule;
  };
  // The defaults that docs/policies.md takes from other simulators.
  const std::vector<Row> rows{{"edf", Discipline::kEasy, false, false},      {"fifo", Discipline::kStrict, false, false},
                              {"gittins", Discipline::kGreedy, true, false}, {"las", Discipline::kGreedy, true, false},
                              {"priority", Discipline::kEasy, true, true},   {"qssf", Discipline::kStrict, false, false},
                              {"sjf", Discipline::kStrict, false, false},    {"srsf", Discipline::kGreedy, true, false},
                              {"srtf", Discipline::kGreedy, true, false},    {"tiresias", Discipline::kGreedy, true, false}};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const core::PolicyEntry& entry = find_policy(row.name);
    EXPECT_EQ(entry.discipline, row.discipline);
    EXPECT_EQ(entry.preemptive, row.preemptive);
    EXPECT_EQ(entry.class_rule, row.class_rule);
  }
}

TEST(Policies, EntriesAreWholeAndSortedByName) {
  std::string last;
  for (const core::PolicyEntry& entry : core::policy_registry()) {
    SCOPED_TRACE(entry.info.name);
    EXPECT_LT(std::exchange(last, entry.info.name), entry.info.name);
    const core::PassRules rules = pass_rules(entry, {});
    EXPECT_EQ(rules.discipline, entry.discipline);
    EXPECT_EQ(rules.packing, Packing::kTopology);
    EXPECT_EQ(rules.max_tries, 64);
    EXPECT_EQ(entry.info.preemptive, entry.preemptive);
    ASSERT_NE(entry.make == nullptr, entry.choice == nullptr);
    if (entry.make != nullptr) {
      EXPECT_NE(entry.make({}), nullptr);
    }
  }
}

TEST(Policies, PublicListNamesEveryParameter) {
  const std::vector<PolicyInfo> all = policies();

  ASSERT_EQ(all.size(), core::policy_registry().size());
  const auto las = std::find_if(all.begin(), all.end(), [](const PolicyInfo& info) { return info.name == "las"; });
  ASSERT_NE(las, all.end());
  EXPECT_EQ(las->params[0].name, "thresholds_gpu_s");
  EXPECT_EQ(las->params[0].default_value, "3250,7200,18000");
  EXPECT_EQ(las->discipline, "greedy");
  for (const PolicyInfo& info : all) {
    for (const std::string* text : {&info.rule, &info.source, &info.discipline}) EXPECT_FALSE(text->empty()) << info.name;
  }
}

TEST(Policies, CommonParametersAreRead) {
  const auto rules = pass_rules(find_policy("fifo"), {{"packing", "consolidate"}, {"discipline", "easy"}, {"max_tries", "7"}});

  EXPECT_EQ(rules.discipline, Discipline::kEasy);
  EXPECT_EQ(rules.packing, Packing::kConsolidate);
  EXPECT_EQ(rules.max_tries, 7);
}

TEST(Policies, TimersAreStatedInTheirUnit) {
  EXPECT_EQ(pass_rules(find_policy("srtf"), {}).delays, std::nullopt);
  DelayRule tuned;
  tuned.lease_us = 60 * kSecond;
  tuned.history = 24;
  EXPECT_EQ(pass_rules(find_policy("srtf"), {{"timers", "tuned"}, {"timer_unit_s", "60"}}).delays, tuned);
  DelayRule stated;
  stated.lease_us = 3600 * kSecond;
  stated.timers.add(5400 * kSecond);
  stated.timers.add(kNever);
  EXPECT_EQ(pass_rules(find_policy("price"), {{"timers", "1.5:never"}}).delays, stated);
  stated.timers = {};
  stated.by_gpus = {{2, {{0}, 1}}, {8, {{3600 * kSecond, 7200 * kSecond}, 2}}};
  EXPECT_EQ(pass_rules(find_policy("price"), {{"timers", "2:0/8:1:2"}}).delays, stated);
  EXPECT_EQ(refusal_of("price", {{"timers", "1:x"}}).rfind("policy 'price': timers='1:x': expected", 0), 0u);
  EXPECT_EQ(refusal_of("srtf", {{"timers", ""}}).rfind("policy 'srtf': timers='': expected", 0), 0u);
  EXPECT_EQ(refusal_of("srtf", {{"timer_unit_s", "0.5"}}).rfind("policy 'srtf': timer_unit_s='0.5': expected", 0), 0u);
  EXPECT_NE(refusal_of("dally", {{"timers", "tuned"}}), "");
}

TEST(Policies, AdmissionByCountsIsForGreedySrtf) {
  EXPECT_FALSE(pass_rules(find_policy("srtf"), {}).admits_by_count);
  EXPECT_TRUE(pass_rules(find_policy("srtf"), {{"admission", "count"}}).admits_by_count);
  EXPECT_EQ(refusal([] {
              pass_rules(find_policy("srtf"), {{"admission", "count"}, {"discipline", "easy"}});
            }),
            "policy 'srtf': admission=count needs discipline=greedy");
  EXPECT_EQ(pass_rules(find_policy("fifo"), {{"packing", "emptiest"}}).packing, Packing::kEmptiest);
}

TEST(Policies, UnknownNamesListTheKnownOnes) {
  std::string known;
  for (const PolicyInfo& info : policies()) known += (known.empty() ? "" : ", ") + info.name;

  EXPECT_EQ(refusal([] { find_policy("lifo"); }), "unknown policy 'lifo' (known: " + known + ")");
}

TEST(Policies, BadValuesAreNamed) {
  EXPECT_EQ(refusal_of("fifo", {{"discipline", "nice"}}),
            "policy 'fifo': discipline='nice': expected one of strict, greedy, easy, conservative");
  EXPECT_EQ(refusal_of("fifo", {{"discipline", "greedi"}}),
            "policy 'fifo': discipline='greedi': expected one of strict, greedy, easy, conservative; did you mean 'greedy'?");
  EXPECT_EQ(refusal_of("fifo", {{"max_tries", "0"}}), "policy 'fifo': max_tries='0': expected an integer from 1 to 1000000");
  EXPECT_EQ(refusal_of("fifo", {{"discipline", "strict"}, {"discipline", "strict"}}),
            "policy 'fifo': parameter 'discipline' is given twice");
  EXPECT_EQ(refusal_of("sjf", {{"form", ""}}), "policy 'sjf': form='': expected one of helios, tiresias");
  EXPECT_EQ(
      refusal_of("gittins", {{"delta_gpu_s", "0"}}),
      "policy 'gittins': delta_gpu_s='0': expected a decimal from 0.000001 to 288230376151.711744 with at most 6 digits after the point");
  for (const char* bad : {"-1", "1.", ".5", "1.0000001", "1e3", "nan", "", " 1", "99999999999999999999"}) {
    SCOPED_TRACE(bad);
    EXPECT_NE(refusal_of("gittins", {{"delta_gpu_s", bad}}), "accepted");
    EXPECT_NE(refusal_of("fifo", {{"max_tries", bad}}), "accepted");
    EXPECT_NE(refusal_of("las", {{"promote_knob", bad}}), "accepted");
  }
  for (const char* bad : {"", "5,5", "5,4", "1,", ",1", "1,,2", "1;2"}) {
    SCOPED_TRACE(bad);
    EXPECT_NE(refusal_of("las", {{"thresholds_gpu_s", bad}}), "accepted");
  }
  EXPECT_EQ(refusal_of("las", {{"thresholds_gpu_s", "57600"}}), "accepted");
}

}  // namespace berth::params_test
