#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/profile.hpp"
#include "host/io/csv.hpp"

/// Measurements of the Pollux artefact, one folder per application: placements.csv, scalability.csv, validation-BATCH.csv.
namespace berth::io {

/// The GPU type on which all of them were measured, 4 to a node.
inline constexpr const char* kPolluxGpu = "T4";
inline constexpr std::int32_t kPolluxNodeGpus = 4;

/// Times of one step.
struct PolluxStep {
  std::int64_t step_ns = 0;
  std::int64_t sync_ns = 0;  ///< part of it spent on synchronising gradients
};
using PolluxSteps = std::map<std::int32_t, PolluxStep>;  ///< by samples per GPU

/// An epoch of a training run at one global batch.
struct PolluxEpoch {
  std::int64_t progress_micro = 0;  ///< at its end since the beginning, in millionths of steps of the initial batch
  std::int64_t gain_micro = 0;      ///< what a step gets on, in the same unit: Pollux' statistical efficiency x batch / initial batch
};

struct PolluxValidation {
  std::int64_t iterations = 0;  ///< at the end of the last epoch
  std::int64_t trained = 0;     ///< epochs
  std::vector<PolluxEpoch> epochs;
};

struct PolluxApplication {
  std::map<std::string, PolluxSteps> placements;                             ///< by GPUs per node: "1", "24", "444"
  std::map<std::pair<std::int32_t, std::int32_t>, PolluxSteps> scalability;  ///< by (GPUs, nodes)
  std::map<std::int32_t, PolluxValidation> validations;                      ///< by global batch; the smallest is the initial one
};

void read_pollux_placements(CsvReader& row, PolluxApplication& out);
void read_pollux_scalability(CsvReader& row, PolluxApplication& out);
/// The run until the end of the last epoch, `epochs` of it only with `initial_batch`. @throws InputError when a known application has
/// another number of epochs than it is trained for.
/// @param batch, initial_batch  Of this run, and of the one against which progress is measured; 0: the gradient statistics are not read.
PolluxValidation read_pollux_validation(CsvReader& row, const std::string& application, std::int32_t batch, std::int32_t initial_batch);

/// Nanoseconds of one step with this global batch, where the samples of a GPU beyond the largest measured batch are accumulated in
/// several passes, and between two measured batches time is linear.
/// @param least_passes  1, or more where samples are accumulated though they would fit.
/// @returns nothing when fewer samples would fall to a GPU than were measured.
std::optional<std::int64_t> pollux_step_ns(const PolluxSteps& steps, std::int32_t gpus, std::int32_t batch, std::int32_t most_per_gpu,
                                           std::int32_t least_passes = 1);

/// Millionths of its unit of work that a job does in a second with these GPUs and measured steps; nothing: it cannot run there.
using PolluxRate = std::function<std::optional<std::int64_t>(std::int32_t gpus, const PolluxSteps& steps)>;
/// A point for each GPU count that was measured, on as few nodes as possible, and up to one node's GPUs another for those spread over two.
Profile pollux_profile(const PolluxApplication& measured, const std::string& application, const PolluxRate& rate);
/// The largest measured batch of a GPU that the artefact uses, where it is not the largest that was measured; else 0.
std::int32_t pollux_most_per_gpu(std::string_view application);

/// Steps per second at one global batch.
Profile pollux_profile(const PolluxApplication& measured, const std::string& application, std::int32_t batch);

/// Epochs that all validations have.
std::size_t pollux_epochs(const PolluxApplication& measured);
/// Progress per second over the epochs [first, last), 0 the first, at one global batch that was validated, or (0) where each epoch is
/// trained at whichever gets it done soonest: see docs/traces.md.
Profile pollux_goodput_profile(const PolluxApplication& measured, const std::string& application, std::int32_t batch, std::size_t first,
                               std::size_t last);
/// Progress at the end of so many epochs, in millionths of steps of the initial batch: the least that any validation had then, as the
/// artefact's simulator takes it.
std::int64_t pollux_progress(const PolluxApplication& measured, std::size_t epochs);

}  // namespace berth::io
