#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

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

struct PolluxApplication {
  std::map<std::string, PolluxSteps> placements;                             ///< by GPUs per node: "1", "24", "444"
  std::map<std::pair<std::int32_t, std::int32_t>, PolluxSteps> scalability;  ///< by (GPUs, nodes)
  std::map<std::int32_t, std::int64_t> iterations;                           ///< until the target epoch, by global batch
};

void read_pollux_placements(CsvReader& row, PolluxApplication& out);
void read_pollux_scalability(CsvReader& row, PolluxApplication& out);
/// Iterations at the end of the last epoch. @throws InputError when a known application has another number of epochs than it is trained
/// for.
std::int64_t read_pollux_validation(CsvReader& row, const std::string& application);

/// Nanoseconds of one step with this global batch, where the samples of a GPU beyond the largest measured batch are accumulated in
/// several passes, and between two measured batches time is linear.
/// @returns nothing when fewer samples would fall to a GPU than were measured.
std::optional<std::int64_t> pollux_step_ns(const PolluxSteps& steps, std::int32_t gpus, std::int32_t batch, std::int32_t most_per_gpu);

/// Steps per second at one global batch: a point for each GPU count that was measured, on as few nodes as possible, and up to one node's
/// GPUs another for those spread over two nodes.
Profile pollux_profile(const PolluxApplication& measured, const std::string& application, std::int32_t batch);

}  // namespace berth::io
