// What came of deadlines, by hand.

#include "host/sim/measures/deadlines.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "host/sim/replay/admission_of.hpp"

namespace berth::sim::deadlines_test {
namespace {

using Admission = JobOutcome::Admission;
using End = JobOutcome::End;

struct Due {
  TimeUs deadline_s = 0;
  bool hard = false;
  std::int64_t value = 0;
  std::vector<DeadlineStep> later_s = {};
};

void add(DeadlinesOf& deadlines, const Due& due, End end, TimeUs end_s, Admission admission = Admission::kNone,
         TimeUs promised_s = kNever) {
  TraceJob traced;
  if (due.deadline_s != kNever) traced.deadline_us = due.deadline_s * kSecond;
  traced.deadline_hard = due.hard;
  traced.deadline_value = due.value;
  for (const DeadlineStep& step : due.later_s) traced.deadline_later.push_back({step.at_us * kSecond, step.value});
  JobOutcome job;
  job.traced = &traced;
  job.end = end;
  if (end_s != kNever) job.end_us = end_s * kSecond;
  job.admission = admission;
  if (promised_s != kNever) job.promised_us = promised_s * kSecond;
  deadlines.add(job);
}

}  // namespace

TEST(Deadlines, CountClassesValuesAndHowLateJobsAre) {
  DeadlinesOf deadlines;
  add(deadlines, {10, true, 5}, End::kCompleted, 10);
  add(deadlines, {10, true, 5}, End::kRejected, 3);
  add(deadlines, {10, false, 0}, End::kCompleted, 14);
  add(deadlines, {10, false, 2}, End::kCompleted, 11);
  add(deadlines, {10, false, 3}, End::kKilled, 9);
  add(deadlines, {30, false, 4}, End::kUnfinished, kNever);
  add(deadlines, {kNever, false, 0}, End::kCompleted, 40);
  add(deadlines, {kNever, false, 0}, End::kUnfinished, kNever);
  SimulationTotals totals;
  totals.last_end_us = 40 * kSecond;
  const Deadlines d = deadlines.finish(totals);

  EXPECT_EQ(d.hard, 2);
  EXPECT_EQ(d.hard_missed, 1);
  EXPECT_EQ(d.soft, 4);
  EXPECT_EQ(d.soft_missed, 3);
  EXPECT_EQ(d.met_ppm, 333'333);
  EXPECT_EQ(d.value, 20);  // a deadline without a value counts 1
  EXPECT_EQ(d.value_met, 8);
  EXPECT_EQ(d.late_us.p50, kSecond);
  EXPECT_EQ(d.late_us.max, 4 * kSecond);
  EXPECT_EQ(d.best_effort, 2);
  EXPECT_EQ(d.best_effort_completed, 1);
  EXPECT_EQ(d.best_effort_jct_us.mean, 40 * kSecond);
}

TEST(Deadlines, CountWhatWasPromisedWarnedOfAndRefused) {
  DeadlinesOf deadlines;
  add(deadlines, {10, true, 1}, End::kCompleted, 10, Admission::kPromised);
  add(deadlines, {10, true, 1}, End::kRejected, 9, Admission::kPromised);
  add(deadlines, {10, false, 1}, End::kUnfinished, kNever, Admission::kPromised);
  add(deadlines, {10, false, 1}, End::kCompleted, 9, Admission::kWarned);
  add(deadlines, {10, false, 1}, End::kCompleted, 11, Admission::kWarned);
  add(deadlines, {10, true, 1}, End::kRejected, 0, Admission::kRefused);
  SimulationTotals totals;
  totals.last_end_us = 11 * kSecond;
  const Deadlines d = deadlines.finish(totals);

  EXPECT_EQ(d.promised, 3);
  EXPECT_EQ(d.promised_missed, 2);
  EXPECT_EQ(d.warned, 2);
  EXPECT_EQ(d.warned_met, 1);
  EXPECT_EQ(d.refused, 1);
}

// 10 until 10 s, 4 until 20 s, 1 until 30 s.
TEST(Deadlines, TheValueMetIsThatOfTheStepWithinWhichAJobEnds) {
  const Due due{10, false, 10, {{20, 4}, {30, 1}}};
  DeadlinesOf deadlines;
  for (const TimeUs end_s : {10, 11, 20, 30, 31}) add(deadlines, due, End::kCompleted, end_s);
  add(deadlines, due, End::kRejected, 3);
  add(deadlines, due, End::kUnfinished, kNever);
  SimulationTotals totals;
  totals.last_end_us = 31 * kSecond;
  const Deadlines d = deadlines.finish(totals);

  EXPECT_EQ(d.soft, 7);
  EXPECT_EQ(d.soft_missed, 6);
  EXPECT_EQ(d.met_later, 3);
  EXPECT_EQ(d.value, 70);
  EXPECT_EQ(d.value_met, 10 + 4 + 4 + 1);
  EXPECT_EQ(d.late_us.max, 21 * kSecond);  // after the first
}

// An end at 15 s that was promised is the step until 20 s.
TEST(Deadlines, APromiseIsOfAStep) {
  const Due due{10, false, 10, {{20, 4}, {30, 1}}};
  const auto missed = [&](End end, TimeUs end_s, TimeUs promised_s) {
    DeadlinesOf deadlines;
    add(deadlines, due, end, end_s, Admission::kPromised, promised_s);
    SimulationTotals totals;
    totals.last_end_us = 31 * kSecond;
    return deadlines.finish(totals).promised_missed;
  };
  EXPECT_EQ(missed(End::kCompleted, 20, 15), 0);
  EXPECT_EQ(missed(End::kCompleted, 21, 15), 1);
  EXPECT_EQ(missed(End::kCompleted, 11, 10), 1);
  EXPECT_EQ(missed(End::kCompleted, 11, kNever), 1);  // broken
  EXPECT_EQ(missed(End::kRejected, 3, 30), 1);
  EXPECT_EQ(missed(End::kUnfinished, kNever, 30), 1);
}

TEST(Deadlines, AJobWasPromisedWhatThePolicyKeeps) {
  PolicyState kept;
  const auto said = [&](const char* id, bool refused) {
    JobOutcome job;
    read_admission(kept, id, refused, job);
    return std::pair(job.admission, job.promised_us);
  };
  EXPECT_EQ(said("a", false), std::pair(Admission::kNone, kNever));
  kept.columns["promised_end_us"] = {{"a", 7}, {"b", -1}, {"c", -2}};

  EXPECT_EQ(said("a", false), std::pair(Admission::kPromised, TimeUs{7}));
  EXPECT_EQ(said("b", false), std::pair(Admission::kWarned, kNever));
  EXPECT_EQ(said("c", false), std::pair(Admission::kPromised, kNever));  // and broken
  EXPECT_EQ(said("d", false), std::pair(Admission::kNone, kNever));
  EXPECT_EQ(said("b", true), std::pair(Admission::kRefused, kNever));
}

}  // namespace berth::sim::deadlines_test
