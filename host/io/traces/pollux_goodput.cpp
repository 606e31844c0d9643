// Rates as progress per second: the goodput of Pollux (OSDI'21, section 3), from its measurements.
//
// Progress counts steps of the initial batch. The time of an epoch, on given GPUs at a validated batch, is
//     progress of the epoch / progress per step x measured time of a step.
// The progress per step follows from the gradient statistics of that epoch. The epoch is trained at the batch with the least time, or at
// the requested one. The rate is the progress of the whole training over the sum of these times. So a job that keeps its GPUs takes as long
// as its epochs. Ours: one rate for all epochs. In Pollux it increases during a job, as larger batches become efficient.
#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "berth/units.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/traces/pollux.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMillion = 1'000'000;

}  // namespace

std::size_t pollux_epochs(const PolluxApplication& measured) {
  std::size_t epochs = measured.validations.empty() ? 0 : SIZE_MAX;
  for (const auto& [batch, validation] : measured.validations) epochs = std::min(epochs, validation.epochs.size());
  return epochs;
}

std::int64_t pollux_progress(const PolluxApplication& measured, std::size_t epochs) {
  if (epochs == 0) return 0;
  std::int64_t least = INT64_MAX;
  for (const auto& [batch, validation] : measured.validations) least = std::min(least, validation.epochs[epochs - 1].progress_micro);
  return least;
}

Profile pollux_goodput_profile(const PolluxApplication& measured, const std::string& application, std::int32_t only_batch,
                               std::size_t first, std::size_t last) {
  const std::int64_t work = pollux_progress(measured, last) - pollux_progress(measured, first);
  return pollux_profile(
      measured, application, [&](std::int32_t gpus, const PolluxSteps& steps, std::int32_t most_per_gpu) -> std::optional<std::int64_t> {
        std::vector<std::int64_t> soonest_ns(last - first, INT64_MAX);
        const std::int32_t initial = measured.validations.empty() ? 0 : measured.validations.begin()->first;
        for (const auto& [batch, validation] : measured.validations) {
          if (only_batch > 0 && batch != only_batch) continue;
          // The variance of gradients is estimated from several per step, so one GPU makes two passes once the batch has grown.
          const std::int32_t least_passes = gpus == 1 && batch > initial ? 2 : 1;
          const auto step_ns = pollux_step_ns(steps, gpus, batch, most_per_gpu, least_passes);
          if (!step_ns) continue;
          for (std::size_t e = first; e < last; ++e) {
            const std::int64_t progress = pollux_progress(measured, e + 1) - pollux_progress(measured, e);
            soonest_ns[e - first] = std::min(soonest_ns[e - first], core::mul_div(progress, *step_ns, validation.epochs[e].gain_micro));
          }
        }
        std::int64_t all_ns = 0;
        for (const std::int64_t ns : soonest_ns) all_ns = core::saturating_add(all_ns, ns);
        if (first == last || all_ns == INT64_MAX) return std::nullopt;
        return std::max<std::int64_t>(1, core::mul_div(work, 1'000 * kMillion, std::max<std::int64_t>(1, all_ns)));
      });
}

}  // namespace berth::io
