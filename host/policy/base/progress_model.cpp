#include "host/policy/base/progress_model.hpp"

#include <algorithm>

#include "host/core/base/decimal.hpp"
#include "host/policy/base/plain_math.hpp"

namespace berth::policy {
namespace {

constexpr double kMicro = 1e6;
constexpr double kMostInitialLoss = 100;

}  // namespace

ProgressFeatures progress_features(const ProgressReport& report) {
  const double initial = static_cast<double>(std::max<std::int64_t>(0, report.initial_loss_micro)) / kMicro;
  const double loss = static_cast<double>(std::max<std::int64_t>(0, report.loss_micro)) / kMicro;
  return {plain_log(static_cast<double>(report.dataset_size)), std::min(initial, kMostInitialLoss),
          static_cast<double>(report.epochs) / kMicro, initial > 0 && loss > 0 ? 1 - loss / initial : 0,
          static_cast<double>(report.accuracy_ppm) / kMicro};
}

double progress_beta(const ProgressModel& model, const ProgressFeatures& features) {
  double sum = static_cast<double>(model.weights_micro[kProgressFeatures]);
  for (std::size_t i = 0; i < kProgressFeatures; ++i) sum += static_cast<double>(model.weights_micro[i]) * features[i];
  return 1 + std::max(0.0, sum / kMicro);
}

std::string to_text(const ProgressModel& model) {
  std::string text;
  for (const std::int64_t weight : model.weights_micro) {
    if (!text.empty()) text += ':';
    text += core::decimal_text(weight, 6);
  }
  return text;
}

}  // namespace berth::policy
