#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "host/fit/history.hpp"
#include "host/policy/base/progress_model.hpp"

namespace berth::fit {

/// A row in the form of the likelihood.
struct Observation {
  policy::ProgressFeatures features;
  double alpha;            // epochs done
  double rho;              // the fraction of the job that was done
  double ln_rho, ln_rest;  // ln rho, ln (1 - rho)
};

Observation observation_of(const HistoryRow& row);
std::vector<Observation> observations_of(std::span<const HistoryRow> rows);

/// ln of the density of Beta(alpha, beta) at rho.
double log_density(const Observation& seen, double beta);
/// Its derivative by beta.
double log_density_slope(const Observation& seen, double beta);

/// Beta for each of `seen`, with its own alpha.
double mean_log_density(const policy::ProgressModel& model, std::span<const Observation> seen);

}  // namespace berth::fit
