#pragma once

#include <cstdint>
#include <vector>

#include "berth/kernel/base/problem.hpp"

/// The serial oracle of docs/placement.md: simple, slow, and without shared code with the bodies in berth/kernel.
namespace berth::reference {

/// Free and used resources at one point of a scheduling pass. Every trial copies it as a whole.
struct State {
  explicit State(const kernel::ProblemView& p);

  std::vector<std::uint64_t> free;                    // [nodes]
  std::vector<std::int64_t> cpu, memory;              // [nodes], kNoLimit: not modelled
  std::vector<std::int32_t> used_ppm;                 // [GPUs of all nodes]
  std::vector<std::int64_t> used_memory;              // [GPUs of all nodes]
  std::vector<std::vector<std::int64_t>> queue_used;  // [queues][types + 1]
};

/// Resources of a node that one entry uses.
struct Piece {
  std::int32_t node;
  std::uint64_t mask;
  std::int32_t share_ppm;
  std::int64_t cpu, memory;  // in total
  std::int64_t gpu_memory;   // per GPU, for shares
};

Piece piece_of(const kernel::HeldRow& held);
Piece piece_of(const kernel::GroupRow& group, const kernel::PlacedRow& row);

void take(const kernel::ProblemView& p, State& s, const Piece& piece);
void give(const kernel::ProblemView& p, State& s, const Piece& piece);
/// Whether a running job could hold all these resources as before, because they are free.
bool still_free(const kernel::ProblemView& p, const State& s, const Piece& piece);

/// Whether `quota` more (millionths of a GPU) of `type` fits in the queue and all its ancestors.
/// For type kNone only the column of all types counts.
bool quota_passes(const kernel::ProblemView& p, const State& s, std::int32_t queue, std::int32_t type, std::int64_t quota);
/// Adds to the usage of the queue and all its ancestors; negative amounts release.
void charge_quota(const kernel::ProblemView& p, State& s, std::int32_t queue, std::int32_t type, std::int64_t quota);

/// Quota that a running job uses, in millionths of a GPU.
std::int64_t quota_held_by(const kernel::ProblemView& p, std::int32_t job);
/// Releases the GPUs, shares, cores, memory and quota of a running job.
void release_job(const kernel::ProblemView& p, State& s, std::int32_t job);
/// Whether the quota that a released job used is there again, after another job took its place. That one is of a queue, and takes GPUs
/// of a type: where it is charged, there has to be room.
bool quota_returns(const kernel::ProblemView& p, const State& s, std::int32_t job, std::int32_t queue, std::int32_t type);
/// Returns to such a job everything that it held, if all of it is free. Otherwise returns false and changes nothing.
bool take_back(const kernel::ProblemView& p, State& s, std::int32_t job, std::int32_t queue, std::int32_t type);

}  // namespace berth::reference
