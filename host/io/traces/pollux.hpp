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
#include "host/io/files/csv.hpp"

/// Measurements of the artifacts of Pollux and Sia, one folder per application: placements.csv, scalability.csv, validation-BATCH.csv.
/// Sia measured on several GPU types: placements-TYPE.csv, scalability-TYPE.csv.
namespace berth::io {

/// The GPU type of files without a TYPE, with 4 GPUs per node.
inline constexpr const char* kPolluxGpu = "T4";
inline constexpr std::int32_t kPolluxNodeGpus = 4;

/// Times of one step.
struct PolluxStep {
  std::int64_t step_ns = 0;
  std::int64_t sync_ns = 0;  ///< the part spent on synchronising gradients
};
using PolluxSteps = std::map<std::int32_t, PolluxStep>;  ///< by samples per GPU

/// An epoch of a training run at one global batch.
struct PolluxEpoch {
  std::int64_t progress_micro = 0;  ///< total at its end, in millionths of steps of the initial batch
  std::int64_t gain_micro = 0;      ///< progress per step, in the same unit: Pollux' statistical efficiency x batch / initial batch
};

struct PolluxValidation {
  std::int64_t iterations = 0;  ///< at the end of the last epoch
  std::int64_t trained = 0;     ///< number of epochs
  std::vector<PolluxEpoch> epochs;
};

/// The steps of an application on one GPU type.
struct PolluxType {
  std::map<std::string, PolluxSteps> placements;                             ///< by GPUs per node: "1", "24", "444"
  std::map<std::pair<std::int32_t, std::int32_t>, PolluxSteps> scalability;  ///< by (GPUs, nodes)
  std::int32_t node_gpus = kPolluxNodeGpus;
};

struct PolluxApplication {
  std::map<std::string, PolluxType> types;               ///< by GPU type
  std::map<std::int32_t, PolluxValidation> validations;  ///< by global batch; the smallest is the initial one
};

void read_pollux_placements(CsvReader& row, PolluxType& out);
void read_pollux_scalability(CsvReader& row, PolluxType& out);
/// The most GPUs on one node in its placements, 0: none.
std::int32_t pollux_widest_node(const PolluxType& measured);
/// Reads the run until the end of the last epoch; its `epochs` only with `initial_batch`.
/// @param batch, initial_batch  Of this run, and of the one against which progress is measured; 0: the gradient statistics are not read.
/// @throws InputError when a known application has another number of epochs than it is trained for.
PolluxValidation read_pollux_validation(CsvReader& row, const std::string& application, std::int32_t batch, std::int32_t initial_batch);

/// Nanoseconds of one step with this global batch; linear in time between two measured batches.
/// Samples per GPU beyond the largest measured batch are accumulated in several passes.
/// @param least_passes  1, or more where samples are accumulated although they would fit.
/// @returns none when a GPU would have fewer samples than were measured.
std::optional<std::int64_t> pollux_step_ns(const PolluxSteps& steps, std::int32_t gpus, std::int32_t batch, std::int32_t most_per_gpu,
                                           std::int32_t least_passes = 1);

/// Millionths of its unit of work per second of a job with these GPUs and measured steps; none: it cannot run there.
/// `most_per_gpu` is `pollux_most_per_gpu` of the type.
using PolluxRate = std::function<std::optional<std::int64_t>(std::int32_t gpus, const PolluxSteps& steps, std::int32_t most_per_gpu)>;
/// For each GPU type a point for each measured GPU count, on as few nodes as possible. Up to the GPUs of one node also a point for a
/// spread over two nodes.
Profile pollux_profile(const PolluxApplication& measured, const std::string& application, const PolluxRate& rate);
/// The largest batch per GPU that the artifact uses, where it is not the largest that was measured; else 0.
std::int32_t pollux_most_per_gpu(std::string_view application, std::string_view type);

/// Steps per second at one global batch.
Profile pollux_profile(const PolluxApplication& measured, const std::string& application, std::int32_t batch);

/// Number of epochs that all validations have.
std::size_t pollux_epochs(const PolluxApplication& measured);
/// Progress per second over the epochs [first, last), counted from 0, at one global batch that was validated.
/// Batch 0: each epoch is trained at the batch that finishes it first; see docs/trace-importers.md.
Profile pollux_goodput_profile(const PolluxApplication& measured, const std::string& application, std::int32_t batch, std::size_t first,
                               std::size_t last);
/// Progress at the end of the first `epochs` epochs, in millionths of steps of the initial batch.
/// It is the minimum over the validations, as in the artifact's simulator.
std::int64_t pollux_progress(const PolluxApplication& measured, std::size_t epochs);

}  // namespace berth::io
