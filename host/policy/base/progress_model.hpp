#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace berth::policy {

/// Reported progress of a job, as far as it predicts the remaining work.
struct ProgressReport {
  std::int64_t dataset_size = 0;        // samples, greater than 0
  std::int64_t epochs = 0;              // epochs done, in millionths
  std::int64_t initial_loss_micro = 0;  // 0 or less: not reported; this also holds for the two below
  std::int64_t loss_micro = 0;
  std::int64_t accuracy_ppm = 0;
};

inline constexpr std::size_t kProgressFeatures = 5;
using ProgressFeatures = std::array<double, kProgressFeatures>;

/// ln of the dataset's size; initial loss, at most 100; epochs done; relative decrease of the loss; accuracy.
/// A feature that is not reported is 0. Uses only + - * / and exact scaling.
ProgressFeatures progress_features(const ProgressReport& report);

/// The beta of a job's progress as a function of its features: 1 + max(0, F).
/// F is the constant plus the sum of weight x feature.
struct ProgressModel {
  std::array<std::int64_t, kProgressFeatures + 1> weights_micro{};  // of the features in their order, then of the constant
  bool operator==(const ProgressModel&) const = default;
};

inline constexpr std::int64_t kMostProgressWeight = 1'000'000'000'000;  // millionths, positive or negative

double progress_beta(const ProgressModel& model, const ProgressFeatures& features);

/// The six numbers as decimals separated by colons, as in the parameter `model`: "0.5:0:-1:0:0:12".
std::string to_text(const ProgressModel& model);

}  // namespace berth::policy
