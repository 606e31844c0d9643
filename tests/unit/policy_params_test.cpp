#include <gtest/gtest.h>

#include <functional>

#include "berth/error.hpp"
#include "host/core/policy.hpp"

namespace berth {
namespace {

using core::find_policy;
using core::Params;
using core::Placement;
using core::walk_rules;
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
    walk_rules(find_policy(policy), params);
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
  const std::vector<Row> rows{{"afs", Discipline::kSkip, true, false},
                              {"allox", Discipline::kSkip, false, false},
                              {"edf", Discipline::kEasy, false, false},
                              {"elastic-pollux", Discipline::kSkip, true, false},
                              {"fifo", Discipline::kHol, false, false},
                              {"gandiva", Discipline::kSkip, true, false},
                              {"gavel-ftf", Discipline::kSkip, true, false},
                              {"gavel-las", Discipline::kSkip, true, false},
                              {"gavel-makespan", Discipline::kSkip, true, false},
                              {"gittins", Discipline::kSkip, true, false},
                              {"las", Discipline::kSkip, true, false},
                              {"ones", Discipline::kSkip, true, false},
                              {"ones-plus", Discipline::kSkip, true, false},
                              {"optimus", Discipline::kSkip, true, false},
                              {"pop", Discipline::kSkip, true, false},
                              {"price", Discipline::kSkip, true, false},
                              {"priority", Discipline::kEasy, true, true},
                              {"qssf", Discipline::kHol, false, false},
                              {"sia", Discipline::kSkip, true, false},
                              {"sjf", Discipline::kHol, false, false},
                              {"srsf", Discipline::kSkip, true, false},
                              {"srtf", Discipline::kSkip, true, false},
                              {"themis", Discipline::kSkip, true, false},
                              {"tiresias", Discipline::kSkip, true, false}};
  const auto registry = core::policy_registry();
  ASSERT_EQ(registry.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(rows[i].name);
    const core::WalkRules rules = walk_rules(registry[i], {});
    EXPECT_EQ(registry[i].info.name, rows[i].name);
    EXPECT_EQ(rules.discipline, rows[i].discipline);
    EXPECT_EQ(registry[i].discipline, rows[i].discipline);
    EXPECT_EQ(registry[i].preemptive, rows[i].preemptive);
    EXPECT_EQ(registry[i].info.preemptive, rows[i].preemptive);
    EXPECT_EQ(registry[i].class_rule, rows[i].class_rule);
    EXPECT_EQ(rules.placement, Placement::kTopology);
    EXPECT_EQ(rules.max_tries, 64);
    ASSERT_NE(registry[i].make == nullptr, registry[i].choice == nullptr);
    if (registry[i].make != nullptr) {
      EXPECT_NE(registry[i].make({}), nullptr);
    }
  }
}

TEST(Policies, PublicListNamesEveryParameter) {
  const std::vector<PolicyInfo> all = policies();

  ASSERT_EQ(all.size(), 24U);
  EXPECT_EQ(all[10].name, "las");
  EXPECT_EQ(all[10].params[0].name, "thresholds_gpu_s");
  EXPECT_EQ(all[10].params[0].default_value, "3250,7200,18000");
  for (const PolicyInfo& info : all) {
    for (const std::string* text : {&info.rule, &info.source, &info.discipline}) EXPECT_FALSE(text->empty()) << info.name;
  }
}

TEST(Policies, CommonParametersAreRead) {
  const auto rules = walk_rules(find_policy("fifo"), {{"packing", "consolidate"}, {"discipline", "easy"}, {"max_tries", "7"}});

  EXPECT_EQ(rules.discipline, Discipline::kEasy);
  EXPECT_EQ(rules.placement, Placement::kConsolidate);
  EXPECT_EQ(rules.max_tries, 7);
}

TEST(Policies, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(
      refusal([] { find_policy("lifo"); }),
      "unknown policy 'lifo' (known: afs, allox, edf, elastic-pollux, fifo, gandiva, gavel-ftf, gavel-las, gavel-makespan, gittins, las, "
      "ones, ones-plus, "
      "optimus, pop, price, priority, qssf, sia, sjf, srsf, srtf, themis, tiresias)");
  EXPECT_EQ(refusal_of("sjf", {{"forn", "helios"}}), "policy 'sjf' has no parameter 'forn' (known: form, discipline, packing, max_tries)");
}

TEST(Policies, BadValuesAreNamed) {
  EXPECT_EQ(refusal_of("fifo", {{"discipline", "nice"}}), "policy 'fifo': discipline='nice': expected one of hol, skip, easy");
  EXPECT_EQ(refusal_of("fifo", {{"max_tries", "0"}}), "policy 'fifo': max_tries='0': expected an integer from 1 to 1000000");
  EXPECT_EQ(refusal_of("fifo", {{"discipline", "hol"}, {"discipline", "hol"}}), "policy 'fifo': parameter 'discipline' is given twice");
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

}  // namespace berth
