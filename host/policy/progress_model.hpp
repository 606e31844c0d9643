#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace berth::policy {

/// What a job reports of its progress, as far as it is looked at to tell how much is to come.
struct ProgressReport {
  std::int64_t dataset_size = 0;        // samples, above 0
  std::int64_t epochs = 0;              // done, millionths
  std::int64_t initial_loss_micro = 0;  // 0 or less: not reported, as of the two below
  std::int64_t loss_micro = 0;
  std::int64_t accuracy_ppm = 0;
};

inline constexpr std::size_t kProgressFeatures = 5;
using ProgressFeatures = std::array<double, kProgressFeatures>;

/// ln of the dataset's size; the initial loss, 100 at most; epochs done; by what part the loss fell; the accuracy.
/// What is not reported is 0. By + - * / and exact scaling alone.
ProgressFeatures progress_features(const ProgressReport& report);

/// How the beta of a job's progress follows from its features: 1 + max(0, F), F = the sum of weight x feature, and the constant.
struct ProgressModel {
  std::array<std::int64_t, kProgressFeatures + 1> weights_micro{};  // of the features in their order, then the constant
  bool operator==(const ProgressModel&) const = default;
};

inline constexpr std::int64_t kMostProgressWeight = 1'000'000'000'000;  // millionths, either sign

double progress_beta(const ProgressModel& model, const ProgressFeatures& features);

/// The six numbers as decimals between colons, as the parameter `model` has them: "0.5:0:-1:0:0:12".
std::string to_text(const ProgressModel& model);

}  // namespace berth::policy
