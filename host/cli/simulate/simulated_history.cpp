#include "host/cli/simulate/simulated_history.hpp"

#include <fmt/format.h>

#include "berth/error.hpp"
#include "host/cli/simulate/simulation_output.hpp"
#include "host/core/base/decimal.hpp"
#include "host/core/base/wide.hpp"

namespace berth::cli {
namespace {

constexpr std::int64_t kEpoch = 1'000'000;
constexpr std::int64_t kMostSamples = 999'999'999'999'999'999;  // of a job; the limit of `berth fit`

}  // namespace

SimulatedHistory::SimulatedHistory(const std::string& progress, std::uint64_t seed)
    : reports_(progress, seed), csv_("job,dataset_size,initial_loss,loss,accuracy,samples_done,samples_total\n") {
  if (progress == "none") throw InvalidArgument("--history-out: with --progress none jobs report nothing");
}

void SimulatedHistory::add(const sim::JobOutcome& job) {
  const TraceJob& traced = *job.traced;
  if (job.end != sim::JobOutcome::End::kCompleted || traced.dataset_size <= 0) return;
  const std::int64_t epochs = traced.epochs_micro / kEpoch, total = core::mul_div(traced.epochs_micro, traced.dataset_size, kEpoch);
  if (epochs > kMostEpochs || total > kMostSamples) return;
  const auto reported = [](std::int64_t micro) { return micro > 0 ? core::decimal_text(micro, 6) : std::string(); };
  const std::string id = csv_field(traced.id);
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch, ++rows_) {
    Progress at_end;
    reports_.put_epochs(at_end, traced, job.job, epoch * kEpoch);
    csv_ += fmt::format("{},{},{},{},{},{},{}\n", id, traced.dataset_size, reported(at_end.initial_loss_micro), reported(at_end.loss_micro),
                        reported(at_end.accuracy_ppm), at_end.samples_done, total);
  }
}

}  // namespace berth::cli
