#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/problem.hpp"

/// The serial oracle of docs/placement.md: plain, slow, and without a line in common with the bodies in berth/kernel.
namespace berth::reference {

/// What is free and used at one point of a walk. Copied whole for every trial.
struct State {
  explicit State(const kernel::ProblemView& p);

  std::vector<std::uint64_t> free;                    // [nodes]
  std::vector<std::int64_t> cpu, memory;              // [nodes], kNoLimit: not modelled
  std::vector<std::int32_t> used_ppm;                 // [GPUs of all nodes]
  std::vector<std::int64_t> used_memory;              // [GPUs of all nodes]
  std::vector<std::vector<std::int64_t>> queue_used;  // [queues][types + 1]
};

/// What one entry takes of a node, whoever holds it.
struct Piece {
  std::int32_t node;
  std::uint64_t mask;
  std::int32_t share_ppm;
  std::int64_t cpu, memory;  // in all
  std::int64_t gpu_memory;   // per GPU, for shares
};

Piece piece_of(const kernel::HeldRow& held);
Piece piece_of(const kernel::GroupRow& group, const kernel::PlacedRow& row);

void take(const kernel::ProblemView& p, State& s, const Piece& piece);
void give(const kernel::ProblemView& p, State& s, const Piece& piece);
/// Whether a running job could hold the piece as before: everything of it is free.
bool still_free(const kernel::ProblemView& p, const State& s, const Piece& piece);

/// Room for `quota` more (millionths of a GPU) of `type` in the queue and all its ancestors. type kNone: only the column of all types
/// counts.
bool quota_passes(const kernel::ProblemView& p, const State& s, std::int32_t queue, std::int32_t type, std::int64_t quota);
/// Adds to the usage of the queue and all its ancestors; negative gives back.
void charge_quota(const kernel::ProblemView& p, State& s, std::int32_t queue, std::int32_t type, std::int64_t quota);

/// What a running job takes of quotas, millionths of a GPU.
std::int64_t quota_held_by(const kernel::ProblemView& p, std::int32_t job);
/// A running job leaves: GPUs, shares, cores, memory and quota come back.
void release_job(const kernel::ProblemView& p, State& s, std::int32_t job);
/// A released job gets back all it held, if nothing of it is gone. Otherwise nothing changes and the answer is false.
bool take_back(const kernel::ProblemView& p, State& s, std::int32_t job);

}  // namespace berth::reference
