// What came of deadlines, by hand.

#include "host/sim/measures/deadlines.hpp"

#include <gtest/gtest.h>

#include "host/sim/replay/admission_of.hpp"

namespace berth::sim {
namespace {

using Admission = JobOutcome::Admission;
using End = JobOutcome::End;

struct Due {
  TimeUs deadline_s = 0;
  bool hard = false;
  std::int64_t value = 0;
};

void add(DeadlinesOf& deadlines, const Due& due, End end, TimeUs end_s, Admission admission = Admission::kNone) {
  TraceJob traced;
  if (due.deadline_s != kNever) traced.deadline_us = due.deadline_s * kSecond;
  traced.deadline_hard = due.hard;
  traced.deadline_value = due.value;
  JobOutcome job;
  job.traced = &traced;
  job.end = end;
  if (end_s != kNever) job.end_us = end_s * kSecond;
  job.admission = admission;
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

TEST(Deadlines, AJobWasPromisedWhatThePolicyKeeps) {
  PolicyState kept;
  EXPECT_EQ(admission_of(kept, "a", false), Admission::kNone);
  kept.columns["promised_end_us"] = {{"a", 7}, {"b", -1}, {"c", -2}};

  EXPECT_EQ(admission_of(kept, "a", false), Admission::kPromised);
  EXPECT_EQ(admission_of(kept, "b", false), Admission::kWarned);
  EXPECT_EQ(admission_of(kept, "c", false), Admission::kPromised);  // and broken
  EXPECT_EQ(admission_of(kept, "d", false), Admission::kNone);
  EXPECT_EQ(admission_of(kept, "b", true), Admission::kRefused);
}

}  // namespace berth::sim
