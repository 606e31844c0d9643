// Text output: the plan, one job, and a comparison of two plans.
#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/report/compare.hpp"
#include "host/report/explain.hpp"
#include "host/report/table.hpp"
#include "tests/unit/core/reasons/reasons_support.hpp"

namespace berth::test::report_test {
namespace {

Decision decide(Plan& plan, std::int32_t job, Action action, const std::vector<PlanEntry>& entries = {}) {
  Decision d;
  d.job = job;
  d.action = action;
  d.shape = entries.empty() ? -1 : 0;
  d.entry_begin = static_cast<std::int32_t>(plan.entries.size());
  plan.entries.insert(plan.entries.end(), entries.begin(), entries.end());
  d.entry_end = static_cast<std::int32_t>(plan.entries.size());
  return d;
}

Reason rack_reason() {
  Reason r;
  r.code = ReasonCode::kTopologyRequired;
  r.level = 1;
  r.where = 7;
  r.asked = 16;
  r.best = 12;
  r.missing = 4;
  return r;
}

PlainNames named() {
  PlainNames names;
  for (int i = 0; i < 5; ++i) names.change(i).shapes[0].id = fmt::format("{}", 's');
  names.set_now(90 * kSecond);
  return names;
}

// j0 starts on n0, j1 and j2 wait for a rack.
Plan starting() {
  Plan plan;
  plan.policy = "fifo";
  plan.now_us = 90 * kSecond;
  plan.totals.gpus = 16;
  plan.totals.gpus_used = 3;
  plan.totals.starts = 1;
  plan.totals.waits = 2;
  plan.decisions.push_back(decide(plan, 0, Action::kStart, {{0, 0, 0, 3, 0x43, kWholeGpu}}));
  plan.decisions[0].finish_us = 3690 * kSecond;
  plan.decisions.push_back(decide(plan, 1, Action::kWait));
  plan.decisions.push_back(decide(plan, 2, Action::kWait));
  plan.decisions[1].reason = plan.decisions[2].reason = rack_reason();
  return plan;
}

}  // namespace

TEST(Explain, PlanShowsTotalsChangesAndGroupedReasons) {
  EXPECT_EQ(report::explain_plan(named(), starting()),
            "fifo: 3 jobs, 1 start, 2 waiting; 3 of 16 GPUs in use\n"
            "\n"
            "JOB  ACTION  SHAPE  GPUS  ENDS IN  WHERE\n"
            "j0   start   s      3     1 h      n0[0-1,6]\n"
            "\n"
            "2 jobs (j1, j2): needs 16 GPUs in one rack; best rack has 12 left: d7; one of them would start if 4 more were free there\n");
}

TEST(Explain, GpusThatNoJobCanGetAreInTheHeader) {
  report::ExplainOptions options;
  const auto header = [&] {
    const std::string text = report::explain_plan(named(), starting(), options);
    return text.substr(0, text.find('\n'));
  };
  options.withheld.closed = 4;
  EXPECT_EQ(header(), "fifo: 3 jobs, 1 start, 2 waiting; 3 of 16 GPUs in use, 4 closed to new jobs");
  options.withheld.failed = 8;
  EXPECT_EQ(header(), "fifo: 3 jobs, 1 start, 2 waiting; 3 of 24 GPUs in use, 8 failed, 4 closed to new jobs");
  options.withheld.held_by_others = 1;
  EXPECT_EQ(header(),
            "fifo: 3 jobs, 1 start, 2 waiting; 3 of 25 GPUs in use by these jobs, 1 held by others, 8 failed, 4 closed to "
            "new jobs");
}

TEST(Explain, ReasonsStandInTheOrderOfTheirJobsAndSharesAreParts) {
  Plan plan = starting();
  plan.entries[0] = {0, 0, 0, 2, 3, 250'000, true};
  plan.decisions[1].reason.missing = 0;
  plan.decisions[2].reason.missing = 0;
  plan.decisions[1].reason.asked = 17;

  EXPECT_EQ(report::explain_plan(named(), plan),
            "fifo: 3 jobs, 1 start, 2 waiting; 3 of 16 GPUs in use\n"
            "\n"
            "JOB  ACTION  SHAPE  GPUS  ENDS IN  WHERE\n"
            "j0   start   s      0.5   1 h      n0[0-1]x0.25\n"
            "\n"
            "j1: needs 17 GPUs in one rack; best rack has 12 left: d7\n"
            "j2: needs 16 GPUs in one rack; best rack has 12 left: d7\n");
}

TEST(Explain, ReservedJobsSayWhenAndOneJobSaysItAll) {
  Plan plan = starting();
  plan.decisions[0].action = Action::kReserve;
  plan.decisions[0].start_us = 150 * kSecond;
  plan.decisions[0].local_batch = 32;
  plan.decisions[0].learning_rate_pico = 400'000'000;

  EXPECT_NE(report::explain_plan(named(), plan).find("  n0[0-1,6] in 1 min\n"), std::string::npos);
  EXPECT_EQ(report::explain_job(named(), plan, 0),
            "job j0: reserve\n"
            "  shape          s\n"
            "  gpus           3\n"
            "  where          n0[0-1,6]\n"
            "  local batch    32\n"
            "  learning rate  0.0004\n"
            "  start          in 1 min\n"
            "  finish         in 1 h\n");
}

TEST(Explain, AJobThatDisplacesOthersNamesThem) {
  Plan plan = starting();
  for (Decision& one : plan.decisions) {
    if (one.job == 0) continue;
    one.action = Action::kPreempt;
    one.reason = {};
    one.reason.code = ReasonCode::kLostPriority;
    one.reason.other_job = 0;
  }
  plan.decisions[1].cost_us = 720 * kSecond;
  const auto text = [&] { return report::explain_job(named(), plan, 0); };
  EXPECT_NE(text().find("  displaces      j1 (loses 12 min), j2\n"), std::string::npos) << text();
  EXPECT_EQ(text().find("entitled"), std::string::npos);
  plan.decisions[1].reason.queue = 0;
  plan.decisions[1].reason.asked = 8;
  EXPECT_NE(text().find("  entitled       queue q0 to 8 GPUs; its jobs before this one have 0\n"), std::string::npos) << text();
  for (int i = 0; i < 8; ++i) plan.decisions.push_back(plan.decisions[2]);
  EXPECT_NE(text().find("j2, j2 and 2 more\n"), std::string::npos) << text();
  EXPECT_EQ(report::explain_job(named(), plan, 1).find("displaces"), std::string::npos);
}

TEST(Explain, InstantsAreDatesWhereTheClockIsARealOne) {
  Plan plan = starting();
  plan.decisions[0].start_us = 150 * kSecond;
  plan.decisions[2].reason = {};
  plan.decisions[2].reason.code = ReasonCode::kReservedFor;
  plan.decisions[2].reason.other_job = 0;
  plan.decisions[2].reason.until_us = 150 * kSecond;
  PlainNames names = named();
  names.set_origin("2026-11-21T23:59:00Z");
  names.change(1).deadline.at_us = 3600 * kSecond;
  Reason late;
  late.code = ReasonCode::kDeadlineImpossible;
  late.until_us = 3601 * kSecond;

  EXPECT_EQ(report::explain_plan(names, plan).substr(0, 29), "fifo at 2026-11-22T00:00:30Z:");
  EXPECT_EQ(report::explain_job(names, plan, 0),
            "job j0: start\n"
            "  shape          s\n"
            "  gpus           3\n"
            "  where          n0[0-1,6]\n"
            "  start          2026-11-22T00:01:30Z (in 1 min)\n"
            "  finish         2026-11-22T01:00:30Z (in 1 h)\n");
  EXPECT_EQ(report::full_reason(names, plan.decisions[2]), "would delay job j0, which is to start at 2026-11-22T00:01:30Z");
  EXPECT_EQ(core::render_reason(names, late, 1),
            "would end at 2026-11-22T00:59:01Z at the earliest; its hard deadline is 2026-11-22T00:59:00Z");
  EXPECT_EQ(core::instant_text(names, kNever), "never");
}

// Without an origin a clock says nothing to people; how far away something is does.
TEST(Explain, InstantsCountFromNowWhereNoDateIsKnown) {
  PlainNames names = named();
  Reason late;
  late.code = ReasonCode::kDeadlineImpossible;
  late.until_us = (90 + 3600) * kSecond;
  names.change(1).deadline.at_us = 60 * kSecond;

  EXPECT_EQ(core::instant_text(names, (90 + 12'000) * kSecond), "in 3 h 20 min");
  EXPECT_EQ(core::instant_text(names, (90 + 12'003) * kSecond), "in 3 h 20 min");
  EXPECT_EQ(core::instant_text(names, (90 + 12'003) * kSecond, true), "in 3 h 20 min 3 s");
  EXPECT_EQ(core::instant_text(names, 90 * kSecond), "now");
  EXPECT_EQ(core::instant_text(names, 30 * kSecond), "1 min ago");
  EXPECT_EQ(core::instant_text(names, kNever), "never");
  EXPECT_EQ(core::render_reason(names, late, 1), "would end in 1 h at the earliest; its hard deadline was 30 s ago");
  Reason held;
  held.code = ReasonCode::kReservedFor;
  held.other_job = 2;
  held.until_us = 150 * kSecond;
  EXPECT_EQ(core::render_reason(names, held, 1), "would delay job j2, which is to start in 1 min");
}

TEST(Explain, TablesRoundTimesToTwoUnits) {
  EXPECT_EQ(core::rough_duration(0), "0 s");
  EXPECT_EQ(core::rough_duration(440'000), "0.4 s");
  EXPECT_EQ(core::rough_duration(9'960'000), "10 s");
  EXPECT_EQ(core::rough_duration(59'600'000), "1 min");
  EXPECT_EQ(core::rough_duration(3'661 * kSecond), "1 h 1 min");
  EXPECT_EQ(core::rough_duration(11'449'361'000), "3 h 11 min");
  EXPECT_EQ(core::rough_duration(90'000 * kSecond), "1 d 1 h");
  EXPECT_EQ(core::rough_duration(kNever), "never");
}

TEST(Explain, ColourOnlyWhenAsked) {
  report::ExplainOptions options;
  options.colour = true;

  EXPECT_EQ(report::explain_plan(named(), starting()).find('\x1b'), std::string::npos);
  EXPECT_NE(report::explain_plan(named(), starting(), options).find("\x1b[32mj0"), std::string::npos);
}

TEST(Explain, OneJobIsShownWithItsReasonAndWhatWouldStartIt) {
  EXPECT_EQ(report::explain_job(named(), starting(), 1),
            "job j1: wait\n"
            "  reason         needs 16 GPUs in one rack; best rack has 12 left: d7\n"
            "  code           topology_required\n"
            "  would start if 4 more were free there\n");
  EXPECT_EQ(report::explain_job(named(), starting(), 4), "");
}

TEST(Explain, SharesAreShownAsParts) {
  Plan plan;
  plan.decisions.push_back(decide(plan, 0, Action::kStart, {{1, 0, 0, 1, 0x8, 250'000}}));

  EXPECT_EQ(report::place_text(named(), plan, plan.decisions[0]), "n1[3]x0.25");
}

TEST(Compare, NamesEveryKindOfDifferenceOnce) {
  Plan a, b;
  a.policy = "fifo";
  b.policy = "sjf";
  a.decisions = {decide(a, 0, Action::kStart, {{0, 0, 0, 1, 1, kWholeGpu}}), decide(a, 1, Action::kWait),
                 decide(a, 2, Action::kStart, {{1, 0, 0, 1, 1, kWholeGpu}}), decide(a, 3, Action::kWait),
                 decide(a, 4, Action::kKeep, {{2, 0, 0, 1, 1, kWholeGpu}})};
  b.decisions = {decide(b, 0, Action::kWait), decide(b, 1, Action::kStart, {{0, 0, 0, 1, 1, kWholeGpu}}),
                 decide(b, 2, Action::kStart, {{1, 0, 0, 1, 2, kWholeGpu}}), decide(b, 3, Action::kReject),
                 decide(b, 4, Action::kKeep, {{2, 0, 0, 1, 1, kWholeGpu}})};
  const report::Comparison c = report::compare_plans(a, b);

  ASSERT_EQ(c.differences.size(), 4u);
  EXPECT_EQ(c.same, 1);
  EXPECT_EQ(c.differences[0], (report::Difference{report::DifferenceKind::kRunsOnlyInFirst, 0, 0, 0}));
  EXPECT_EQ(c.differences[1], (report::Difference{report::DifferenceKind::kRunsOnlyInSecond, 1, 1, 1}));
  EXPECT_EQ(c.differences[2], (report::Difference{report::DifferenceKind::kOtherPlace, 2, 2, 2}));
  EXPECT_EQ(c.differences[3], (report::Difference{report::DifferenceKind::kOtherAction, 3, 3, 3}));
  EXPECT_NE(report::to_text(named(), c).find("1 job run only under fifo:\n  j0\n    fifo: start s on n0[0]\n    sjf: wait\n"),
            std::string::npos)
      << report::to_text(named(), c);
  EXPECT_NE(report::to_json(named(), c)
                .find(R"({"kind":"other_place","job":"j2","first":{"action":"start","shape":"s","gpus":1,"where":"n1[0]","reason":""})"),
            std::string::npos)
      << report::to_json(named(), c);
}

TEST(Compare, PlanEqualsItself) {
  const Plan plan = starting();

  EXPECT_TRUE(report::compare_plans(plan, plan).differences.empty());
}

TEST(Compare, OrderOfAGangsEntriesDoesNotMatter) {
  Plan a, b;
  a.decisions = {decide(a, 0, Action::kKeep, {{0, 0, 0, 1, 1, kWholeGpu}, {1, 0, 1, 1, 1, kWholeGpu}})};
  b.decisions = {decide(b, 0, Action::kKeep, {{1, 0, 0, 1, 1, kWholeGpu}, {0, 0, 1, 1, 1, kWholeGpu}})};

  EXPECT_TRUE(report::compare_plans(a, b).differences.empty());
}

TEST(Compare, RefusesPlansOfOtherJobs) {
  Plan a, b;
  a.decisions = {decide(a, 0, Action::kWait)};
  b.decisions = {decide(b, 1, Action::kWait)};

  EXPECT_THROW(report::compare_plans(a, b), InvalidArgument);
}

TEST(Table, WhatIsTooWideWrapsAtBlanks) {
  const auto words = [](int n) {
    std::string text = "node1";
    for (int i = 1; i < n; ++i) text += " node1";
    return text;
  };

  EXPECT_EQ(report::table({"JOB", "WHERE"}, {{"j", words(30)}, {"k", "n"}}),
            "JOB  WHERE\nj    " + words(16) + "\n     " + words(14) + "\nk    n\n");
  EXPECT_EQ(report::table({"JOB", "WHERE"}, {{"j", words(17)}}, {"<"}), "JOB  WHERE\n<j    " + words(16) + "\x1b[0m\n<     node1\x1b[0m\n");
}

// A first column of 10 and five of 20: four fit beside each other.
TEST(Table, ColumnsThatDoNotFitFollowInATableOfTheirOwn) {
  const std::string a(10, 'a'), b(20, 'b');

  EXPECT_EQ(report::table({"A", "B", "C", "D", "E", "F"}, {{a, b, b, b, b, b}}),
            "A           B                     C                     D                     E\n" + a + "  " + b + "  " + b + "  " + b +
                "  " + b + "\n\nA           F\n" + a + "  " + b + "\n");
}

TEST(Explain, RowsLimitReasonsToo) {
  Plan plan = starting();
  plan.decisions[2].reason.asked = 15;
  report::ExplainOptions options;
  options.most_rows = 1;

  const std::string text = report::explain_plan(named(), plan, options);

  EXPECT_NE(text.find("\nj1: "), std::string::npos) << text;
  EXPECT_EQ(text.find("\nj2: "), std::string::npos) << text;
  EXPECT_NE(text.find("\n... and the reasons of 1 more job (--rows 0 shows all)\n"), std::string::npos) << text;
}

}  // namespace berth::test::report_test
