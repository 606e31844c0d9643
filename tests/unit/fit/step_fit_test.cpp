// The predictor of step times: GENIE's, as reconstructed.
#include "host/fit/step_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "berth/error.hpp"
#include "host/fit/step_profile.hpp"

namespace berth::fit::step_fit_test {
namespace {

StepModel known_model() {
  StepModel model;
  model.gpu_type = "T4";
  model.seconds = {0.002, 0.03, 0.005, 0.01, 0.004, 0.08, 0.006};
  model.saturation = 4;
  model.slowdown = {{"copy", 0.4}};
  model.has_batch = true;
  return model;
}

StepMeasurement at(const StepModel& model, double batch, std::int32_t gpus, std::int32_t nodes, double cores = 4,
                   const std::string& co_runner = "") {
  StepMeasurement one;
  one.gpu_type = model.gpu_type;
  one.batch = batch, one.gpus = gpus, one.nodes = nodes, one.cores = cores, one.co_runner = co_runner;
  one.step_s = step_seconds(model, one);
  return one;
}

std::vector<StepMeasurement> measured_of(const StepModel& model) {
  std::vector<StepMeasurement> all;
  for (const double batch : {8.0, 32.0, 64.0}) {
    for (const double cores : {1.0, 2.0, 4.0, 8.0}) all.push_back(at(model, batch, 1, 1, cores));
    for (const std::int32_t gpus : {2, 4, 8}) {
      all.push_back(at(model, batch, gpus, 1, 8));
      all.push_back(at(model, batch, gpus, 2, 8));
    }
    all.push_back(at(model, batch, 1, 1, 8, "copy"));
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].line = static_cast<int>(i) + 2;
  return all;
}

bool is_noted(const StepFit& fit, const std::string& text) {
  return std::any_of(fit.notes.begin(), fit.notes.end(), [&](const std::string& note) { return note.find(text) != note.npos; });
}

std::string problem_of(const std::vector<StepMeasurement>& measured) {
  try {
    (void)fit_steps(measured, 0.2);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// batch 32 on one core: compute takes 0.094 s, and input 0.16 s.
TEST(StepModel, AStepIsComputeOrInputAndTheAllReduce) {
  const StepModel model = known_model();
  EXPECT_DOUBLE_EQ(at(model, 32, 1, 1, 1).step_s, 0.16);
  EXPECT_DOUBLE_EQ(at(model, 200, 1, 1, 1).step_s, 1);
  EXPECT_DOUBLE_EQ(at(model, 200, 1, 1, 2).step_s, 0.5);
  EXPECT_DOUBLE_EQ(at(model, 32, 1, 1, 8).step_s, 0.094);
  EXPECT_DOUBLE_EQ(at(model, 32, 1, 1, 0).step_s, 0.094);  // cores that are not stated are enough
  EXPECT_DOUBLE_EQ(at(model, 8, 4, 1).step_s, 0.046 + 1.5 * 0.01 + 3 * 0.004);
  EXPECT_DOUBLE_EQ(at(model, 8, 4, 2).step_s, 0.046 + 1.5 * 0.08 + 3 * 0.006);
  EXPECT_DOUBLE_EQ(at(model, 8, 1, 1, 4, "copy").step_s, 0.046 * 1.4);
  EXPECT_DOUBLE_EQ(step_rate(model, {"T4", 8, 4, 2, 4, {}}), 32 / (0.046 + 1.5 * 0.08 + 3 * 0.006));
}

TEST(StepFit, FindsTheModelThatWasMeasured) {
  const StepModel model = known_model();
  const StepFit fit = fit_steps(measured_of(model), 0.2);
  EXPECT_EQ(fit.coefficients, 8U);
  EXPECT_GT(fit.r2, 0.999999);
  EXPECT_LT(fit.largest_error, 1e-3);
  EXPECT_EQ(fit.model.saturation, 4);
  for (std::size_t i = 0; i < kStepTerms; ++i) EXPECT_NEAR(fit.model.seconds.at(i), model.seconds.at(i), 2e-3 * model.seconds.at(i)) << i;
  EXPECT_NEAR(fit.model.slowdown.at("copy"), 0.4, 2e-3);
  EXPECT_TRUE(fit.notes.empty());
  for (const LeftOutPlacement& left : leave_placements_out(measured_of(model))) {
    ASSERT_TRUE(left.largest_error) << left.gpus << " on " << left.nodes;
    if (left.gpus == 1) continue;  // cores and co-runners were measured there alone
    EXPECT_LT(*left.largest_error, 0.01) << left.gpus << " on " << left.nodes;
    EXPECT_EQ(left.beyond, left.gpus == 8 || (left.gpus == 2 && left.nodes == 2)) << left.gpus << " on " << left.nodes;
  }
}

// A measurement that went wrong moves least squares far, and this fit little.
TEST(StepFit, OneWrongMeasurementMovesItLittle) {
  const StepModel model = known_model();
  std::vector<StepMeasurement> measured = measured_of(model), again = measured;
  measured.insert(measured.end(), again.begin(), again.end());
  measured.insert(measured.end(), again.begin(), again.end());
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 0.02);
  for (StepMeasurement& one : measured) one.step_s *= 1 + noise(random);
  measured[3].step_s *= 20;
  const StepFit fit = fit_steps(measured, 0.2);
  EXPECT_LT(fit.largest_error, 0.06);  // of the median of its setting
  EXPECT_TRUE(is_noted(fit, "measurements contradict each other")) << fit.notes.size();
  EXPECT_TRUE(is_noted(fit, "(lines ")) << fit.notes.size();
}

TEST(StepFit, CoefficientsAreNeverNegative) {
  StepModel model;
  model.has_batch = true;
  std::vector<StepMeasurement> measured;
  for (const double batch : {10.0, 20.0, 40.0}) {
    StepMeasurement one;
    one.batch = batch;
    one.step_s = 0.01 * batch - 0.02;
    measured.push_back(one);
    one.gpus = 2;
    one.step_s *= 0.9;  // faster with two: no all-reduce is negative
    measured.push_back(one);
  }
  const StepFit fit = fit_steps(measured, 0.2);
  for (const double seconds : fit.model.seconds) EXPECT_GE(seconds, 0);
  EXPECT_EQ(fit.model.seconds[1], 0);
  EXPECT_TRUE(is_noted(fit, "would begin at -0.02 s for batch 0: it begins at 0")) << (fit.notes.empty() ? "" : fit.notes[0]);
}

TEST(StepFit, TooFewMeasurementsAreRefused) {
  const StepModel model = known_model();
  EXPECT_EQ(problem_of({at(model, 8, 1, 1), at(model, 8, 2, 1), at(model, 8, 1, 1)}),
            "2 settings are measured: at least 3 are needed, such as one worker, two on a node, and two nodes");
  EXPECT_EQ(problem_of({at(model, 8, 1, 1), at(model, 16, 2, 1), at(model, 8, 2, 2)}),
            "3 settings do not determine 4 coefficients: measure more batches or placements");
  const StepFit exact = fit_steps(std::vector{at(model, 8, 1, 1), at(model, 8, 2, 1), at(model, 8, 2, 2)}, 0.2);
  EXPECT_EQ(exact.coefficients, 3U);
  EXPECT_TRUE(is_noted(exact, "as many settings as coefficients, 3: errors say nothing"));
  EXPECT_TRUE(is_noted(exact, "only batch 8 was measured: other batches are not predicted"));
  for (const LeftOutPlacement& left : leave_placements_out(std::vector{at(model, 8, 1, 1), at(model, 8, 2, 1), at(model, 8, 2, 2)}))
    EXPECT_FALSE(left.mean_error) << left.gpus << " on " << left.nodes;
}

TEST(StepFit, WhatOthersDoNotDetermineIsNotPredicted) {
  const StepModel model = known_model();
  std::vector<StepMeasurement> measured;
  for (const double batch : {8.0, 16.0, 32.0}) {
    measured.push_back(at(model, batch, 1, 1));
    measured.push_back(at(model, batch, 2, 1));
    measured.push_back(at(model, batch, 4, 1));
    measured.push_back(at(model, batch, 4, 2));
  }
  for (const LeftOutPlacement& left : leave_placements_out(measured)) EXPECT_EQ(left.mean_error.has_value(), left.nodes == 1);
}

TEST(StepFit, ExtrapolationsAreNamed) {
  const StepModel model = fit_steps(measured_of(known_model()), 0.2).model;
  EXPECT_EQ(beyond_range(model, {"T4", 32, 4, 1, 2, ""}), "");
  EXPECT_EQ(beyond_range(model, {"T4", 128, 4, 1, 2, ""}), "batch 128, measured 8 to 64");
  EXPECT_EQ(beyond_range(model, {"T4", 32, 16, 1, 2, ""}), "16 GPUs on a node, measured up to 8");
  EXPECT_EQ(beyond_range(model, {"T4", 32, 16, 2, 2, ""}), "16 GPUs on several nodes, measured 2 to 8");
  EXPECT_EQ(beyond_range(model, {"T4", 32, 8, 4, 2, ""}), "4 nodes, measured up to 2");
  EXPECT_EQ(beyond_range(model, {"T4", 32, 4, 1, 16, ""}), "16 cores a GPU, measured 1 to 8");
  EXPECT_EQ(beyond_range(model, {"T4", 32, 4, 1, 2, "io"}), "co-runner 'io', which was not measured");
}

TEST(StepProfile, HasNoPointBeyondWhatWasMeasured) {
  StepModel model = known_model();
  model.range = {6.5, 20, 1, 4, 4, 3, 6, 2, 1, {7, 20}, {1, 4}, {3, 6}};
  const Profile profile = profile_of(std::vector{model});
  EXPECT_EQ(profile.kind, ProfileKind::kTable);
  EXPECT_EQ(profile.unit, "samples");
  std::vector<std::int32_t> gpus, batches, on_nodes;
  for (const RatePoint& point : profile.points) {
    const bool one = point.span == "node";
    if (point.local_batch == 8) (one ? gpus : on_nodes).push_back(point.gpus);
    if (one && point.gpus == 1) batches.push_back(point.local_batch);
    const double rate = step_rate(model, {"T4", static_cast<double>(point.local_batch), point.gpus, one ? 1 : 2, 4, {}});
    EXPECT_EQ(point.rate, std::llround(1e6 * rate));
  }
  EXPECT_EQ(gpus, (std::vector<std::int32_t>{1, 2, 4}));
  EXPECT_EQ(on_nodes, (std::vector<std::int32_t>{3, 4, 6}));
  EXPECT_EQ(batches, (std::vector<std::int32_t>{7, 8, 16, 20}));
  EXPECT_EQ(profile.colocation, (std::vector<std::pair<std::string, std::int64_t>>{{"copy", 714'285}}));
}

}  // namespace berth::fit::step_fit_test
