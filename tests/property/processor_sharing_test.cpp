// Jobs of one GPU share one GPU in time slices that are much shorter than the jobs and free of cost: M/G/1 processor sharing.
// Its mean time in the system is E[S] / (1 - rho) for every distribution of the service time S.
// (Kleinrock, "Queueing Systems" II, 1976.) First come first served and least service first differ unless S is exponential.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "host/io/traces/importers.hpp"
#include "host/sim/simulation.hpp"
#include "tests/support/poisson_jobs.hpp"

namespace berth::sim::processor_sharing_test {
namespace {

constexpr TimeUs kMeanService = 200 * kSecond;
// Every time slice needs a plan: two million of them take ten seconds.
constexpr TimeUs kQuantum = 5 * kSecond;
constexpr std::int32_t kJobs = 9'600, kBatches = 24;

using Service = test::PoissonJobs::Service;

/// All have the mean kMeanService; squared coefficients of variation are 0, 1 and 4.
const std::vector<std::pair<const char*, Service>> kServices{
    {"deterministic", [](ItemDraws&) { return kMeanService; }},
    {"exponential", [](ItemDraws& draws) { return draws.exponential(kMeanService); }},
    // Four in five have half of the mean, one in five has three times the mean: E[S^2] = 2 (0.8 / 4 + 0.2 x 9) = 4, in squares of the mean.
    {"hyperexponential", [](ItemDraws& draws) { return draws.exponential(draws.chance(800'000) ? kMeanService / 2 : 3 * kMeanService); }}};

struct Mean {
  double of = 0, error = 0;  // its standard error, by the means of batches of consecutive jobs
};

Mean mean_jct(const Service& service, double rho, std::uint64_t seed) {
  SimulationSettings settings;
  settings.request.policy = "gandiva";
  settings.request.params = {{"packing", "count"}, {"quantum_s", fmt::format("{}", kQuantum / kSecond)}};
  test::PoissonJobs jobs(kJobs, static_cast<TimeUs>(static_cast<double>(kMeanService) / rho), service, seed);
  const TraceProfiles none;
  TraceFacts facts;
  facts.any_type = true;
  std::vector<double> batch(kBatches, 0);
  simulate({none, facts, jobs}, io::uniform_cluster(1, 1), settings, [&](const JobOutcome& job) {
    batch[static_cast<std::size_t>(job.job / (kJobs / kBatches))] += static_cast<double>(job.jct_us()) / (kJobs / kBatches);
  });
  Mean mean;
  for (const double one : batch) mean.of += one / kBatches;
  double squares = 0;
  for (const double one : batch) squares += (one - mean.of) * (one - mean.of);
  mean.error = std::sqrt(squares / (kBatches - 1) / kBatches);
  return mean;
}

}  // namespace

// Tolerance: four standard errors of the mean, plus a quantum for each job present, itself included (rho / (1 - rho) others on average).
// A job may wait that much longer for its first time slice or in its last round.
TEST(ProcessorSharing, MeanJctIsMeanServiceOverWhatOthersLeaveOfTheGpu) {
  std::uint64_t seed = 1;
  for (const double rho : {0.5, 0.7}) {
    for (const auto& [name, service] : kServices) {
      const Mean jct = mean_jct(service, rho, seed++);
      const double want = static_cast<double>(kMeanService) / (1 - rho);
      EXPECT_LT(jct.error, want * 0.12) << name << ", rho " << rho;
      EXPECT_NEAR(jct.of, want, 4 * jct.error + static_cast<double>(kQuantum) / (1 - rho)) << name << ", rho " << rho;
    }
  }
}

}  // namespace berth::sim::processor_sharing_test
