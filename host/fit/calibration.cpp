#include "host/fit/calibration.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "berth/error.hpp"
#include "host/fit/fit.hpp"
#include "host/policy/queue/beta_quantiles.hpp"

namespace berth::fit {
namespace {

using ProgressQuantiles = std::array<std::int32_t, kernel::kOnesQuantiles>;

// As a decision draws: straight between the quantiles of the table.
double quantile(const ProgressQuantiles& table, double part) {
  const double at = part * (kernel::kOnesQuantiles - 1);
  const auto below = static_cast<std::size_t>(at);
  const double low = table[below], high = table[std::min<std::size_t>(below + 1, table.size() - 1)];
  return (low + (high - low) * (at - static_cast<double>(below))) / kernel::kOnesUnit;
}

}  // namespace

void Calibration::add(const Observation& seen, double beta) {
  ProgressQuantiles table{};
  policy::beta_quantiles(seen.alpha, beta, table);
  const auto within = [&](double central) {
    return quantile(table, 0.5 - central / 2) <= seen.rho && seen.rho <= quantile(table, 0.5 + central / 2) ? 1 : 0;
  };
  ++rows;
  log_density += fit::log_density(seen, beta);
  in_50 += within(0.5);
  in_90 += within(0.9);
}

Calibration& Calibration::operator+=(const Calibration& other) {
  rows += other.rows;
  log_density += other.log_density;
  in_50 += other.in_50;
  in_90 += other.in_90;
  return *this;
}

Calibration calibration_of(const policy::ProgressModel& model, std::span<const Observation> seen) {
  Calibration all;
  for (const Observation& one : seen) all.add(one, policy::progress_beta(model, one.features));
  return all;
}

Calibration calibration_of_known_end(std::span<const Observation> seen) {
  Calibration all;
  for (const Observation& one : seen) all.add(one, std::max(1.0, one.alpha * (1 - one.rho) / one.rho));
  return all;
}

std::vector<LeftOut> leave_each_out(const History& history) {
  std::vector<LeftOut> answers;
  for (std::int32_t job = 0; job < static_cast<std::int32_t>(history.jobs.size()); ++job) {
    std::vector<Observation> others, own;
    for (const HistoryRow& row : history.rows) (row.job == job ? own : others).push_back(observation_of(row));
    if (own.empty()) continue;
    if (others.empty()) throw InvalidArgument("--leave-out: one job has rows; without it nothing is left to fit");
    answers.push_back(
        {job, calibration_of(fit_model(others), own), calibration_of(fit_constant(others), own), calibration_of_known_end(own)});
  }
  return answers;
}

}  // namespace berth::fit
