#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/ones/layout.hpp"
#include "host/backend/backend.hpp"
#include "host/cpu/threads.hpp"

namespace berth::cpu {

/// Evolves a population (docs/ones.md), with candidates on several threads. Keeps its memory between calls, but not its threads.
class OnesSearch {
 public:
  void run(const core::OnesTask& task, const kernel::OnesResult& result, int threads);

 private:
  /// Workspace of one thread.
  struct Lane {
    std::vector<std::max_align_t> memory;
    std::vector<std::uint64_t> keys;
    std::vector<std::uint32_t> bits;
  };

  void prepare(const kernel::OnesView& view, std::size_t lanes);
  void begin(const kernel::OnesView& view, const kernel::OnesRequest& request, const kernel::OnesResult& result, Threads& threads);
  void draw(const kernel::OnesView& view, std::int32_t generation);
  void refresh(const kernel::OnesView& view, const kernel::OnesResult& result);
  void breed(const kernel::OnesView& view, std::int32_t generation, const kernel::OnesResult& result, Threads& threads);
  void select(const kernel::OnesView& view, const kernel::OnesResult& result, Threads& threads);
  void reorder(const kernel::OnesView& view, std::int32_t individual, const kernel::OnesResult& result, Lane& lane);

  // Shared by all candidates.
  kernel::OnesDeployed deployed_{};
  std::vector<std::int32_t> taken_, by_home_, fresh_jobs_, fill_order_, refreshed_;
  std::vector<std::int64_t> left_, fill_key_;
  // Of each candidate.
  std::vector<std::int32_t> count_, by_score_;
  std::vector<std::int64_t> score_;
  std::vector<Lane> lanes_;
};

}  // namespace berth::cpu
