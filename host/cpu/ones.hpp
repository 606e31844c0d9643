#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/core/backend.hpp"
#include "host/cpu/threads.hpp"

namespace berth::cpu {

/// Evolves a population (docs/ones.md); candidates on several threads. Memory is kept between calls, threads are not.
class OnesEvolution {
 public:
  void run(const core::EvolveTask& task, const kernel::OnesResult& result, int threads);

 private:
  /// What a thread works with.
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

  // The same for all candidates.
  std::vector<std::int32_t> taken_, fresh_jobs_, turns_, refreshed_;
  std::vector<std::int64_t> left_, turn_;
  // Of each candidate.
  std::vector<std::int32_t> count_, by_score_;
  std::vector<std::int64_t> score_;
  std::vector<Lane> lanes_;
};

}  // namespace berth::cpu
