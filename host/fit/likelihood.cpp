#include "host/fit/likelihood.hpp"

#include "host/fit/gamma.hpp"
#include "host/policy/base/plain_math.hpp"

namespace berth::fit {

Observation observation_of(const HistoryRow& row) {
  const auto done = static_cast<double>(row.samples_done), total = static_cast<double>(row.samples_total);
  const auto left = static_cast<double>(row.samples_total - row.samples_done);
  const policy::ProgressFeatures features = policy::progress_features(row.report);
  const double alpha = static_cast<double>(row.report.epochs) / 1e6;
  return {features, alpha, done / total, policy::plain_log(done / total), policy::plain_log(left / total)};
}

std::vector<Observation> observations_of(std::span<const HistoryRow> rows) {
  std::vector<Observation> all;
  all.reserve(rows.size());
  for (const HistoryRow& row : rows) all.push_back(observation_of(row));
  return all;
}

double log_density(const Observation& seen, double beta) {
  return log_gamma(seen.alpha + beta) - log_gamma(seen.alpha) - log_gamma(beta) + (seen.alpha - 1) * seen.ln_rho +
         (beta - 1) * seen.ln_rest;
}

double log_density_slope(const Observation& seen, double beta) { return digamma(seen.alpha + beta) - digamma(beta) + seen.ln_rest; }

double mean_log_density(const policy::ProgressModel& model, std::span<const Observation> seen) {
  double sum = 0;
  for (const Observation& one : seen) sum += log_density(one, policy::progress_beta(model, one.features));
  return sum / static_cast<double>(seen.size());
}

}  // namespace berth::fit
