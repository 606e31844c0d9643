// The history that `berth fit` reads.
#include "host/fit/history.hpp"

#include <gtest/gtest.h>

#include "berth/error.hpp"
#include "host/fit/calibration.hpp"
#include "tests/support/temp_file.hpp"

namespace berth::fit::fit_history_test {
namespace {

const std::string kHeader = "job,dataset_size,initial_loss,loss,accuracy,samples_done,samples_total\n";

History read(const std::string& content) { return read_history(test::TempFile(content).path()); }

std::string refusal(const std::string& content) {
  const test::TempFile file(content);
  try {
    read_history(file.path());
  } catch (const InputError& error) {
    return std::string(error.what()).substr(file.path().size());
  }
  return "accepted";
}

std::string refused_row(const std::string& row) { return refusal(kHeader + "a,100,2,1,0.5,100,300\n" + row + "\n"); }

}  // namespace

TEST(FitHistory, ColumnsComeInAnyOrderWithOthers) {
  const History all = read(
      "samples_total,x,samples_done,accuracy,loss,initial_loss,dataset_size,job\n"
      "300,?,150,0.25,1.5,2.5,100,a\n400,?,100,,,,200,b\n");

  ASSERT_EQ(all.rows.size(), 2U);
  EXPECT_EQ(all.jobs, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(all.rows[0].report.dataset_size, 100);
  EXPECT_EQ(all.rows[0].report.epochs, 1'500'000);
  EXPECT_EQ(all.rows[0].report.initial_loss_micro, 2'500'000);
  EXPECT_EQ(all.rows[0].report.loss_micro, 1'500'000);
  EXPECT_EQ(all.rows[0].report.accuracy_ppm, 250'000);
  EXPECT_EQ(all.rows[0].samples_done, 150);
  EXPECT_EQ(all.rows[0].samples_total, 300);
  EXPECT_EQ(all.rows[1].job, 1);
  EXPECT_EQ(all.rows[1].report.initial_loss_micro + all.rows[1].report.loss_micro + all.rows[1].report.accuracy_ppm, 0);
}

TEST(FitHistory, BeginningsAndEndsAreCountedApart) {
  const History all = read(kHeader + "a,100,,,,0,300\na,100,,,,100,300\na,100,,,,300,300\n");

  EXPECT_EQ(all.rows.size(), 1U);
  EXPECT_EQ(all.skipped, 2);
}

TEST(FitHistory, WhatCannotBeIsRefusedWithLineAndValue) {
  EXPECT_EQ(refusal(""), ":1: the file is empty; expected a header");
  EXPECT_EQ(refusal("job,loss\n"), ":1: no column 'dataset_size' in the header 'job,loss'");
  EXPECT_EQ(refused_row("a,100,2,1,0.5,301,300"), ":3: column 'samples_done' (6): expected a whole number from 0 to 300, found '301'");
  EXPECT_EQ(refused_row("a,0,2,1,0.5,100,300"),
            ":3: column 'dataset_size' (2): expected a whole number from 1 to 999999999999999999, found '0'");
  EXPECT_EQ(refused_row("a,100,nan,1,0.5,100,300"),
            ":3: column 'initial_loss' (3): expected a measured quantity: a decimal, not negative, found 'nan'");
  EXPECT_EQ(refused_row("a,100,2,-1,0.5,100,300"),
            ":3: column 'loss' (4): expected a measured quantity: a decimal, not negative, found '-1'");
  EXPECT_EQ(refused_row("a,100,2,1,1.5,100,300"), ":3: column 'accuracy' (5): expected a part from 0 to 1, found '1.5'");
  EXPECT_EQ(refused_row("a,100,2,1,0.5,-1,300"), ":3: column 'samples_done' (6): expected a whole number from 0 to 300, found '-1'");
  EXPECT_EQ(refused_row("a,100,2,1,0.5,100,200"), ":3: column 'samples_total' (7): expected 300 as before for this job, found '200'");
  EXPECT_EQ(refused_row(",100,2,1,0.5,100,300"), ":3: column 'job' (1): expected the job's name, found ''");
  EXPECT_EQ(refused_row("a,100,2,1,0.5,,300"), ":3: column 'samples_done' (6): expected a whole number from 0 to 300, found ''");
}

TEST(FitHistory, NothingToFitIsRefused) {
  const std::string nothing = ": no row with 0 < samples_done < samples_total: there is nothing to fit";
  EXPECT_EQ(refusal(kHeader), nothing);
  EXPECT_EQ(refusal(kHeader + "a,100,,,,300,300\n"), nothing);
}

TEST(FitHistory, LeftOutIsEachJobWithRows) {
  const History all = read(kHeader + "a,100,,,,100,300\na,100,,,,200,300\nb,100,,,,100,300\nb,100,,,,200,300\nc,100,,,,300,300\n");

  const std::vector<LeftOut> left_out = leave_each_out(all);

  ASSERT_EQ(left_out.size(), 2U);
  EXPECT_EQ(left_out[0].job, 0);
  EXPECT_EQ(left_out[1].job, 1);
  EXPECT_EQ(left_out[0].fitted.rows, 2);
  EXPECT_DOUBLE_EQ(left_out[0].fitted.log_density, left_out[1].fitted.log_density) << "the same job under another name";
  EXPECT_THROW(leave_each_out(read(kHeader + "a,100,,,,100,300\nc,100,,,,300,300\n")), InvalidArgument);
}

}  // namespace berth::fit::fit_history_test
