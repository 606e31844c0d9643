#pragma once

#include <cstddef>
#include <vector>

#include "berth/kernel/plus_memory.hpp"
#include "host/core/backend.hpp"
#include "host/cpu/threads.hpp"

namespace berth::cpu {

/// The search of `ones-plus` on CPU threads, an individual a thread. Memory is kept between searches, threads are not.
class PlusSearch {
 public:
  void run(const core::PlusTask& task, const kernel::PlusResult& result, int threads);

 private:
  void reserve(const kernel::PlusView& view, std::int32_t individuals, std::size_t lanes);
  void begin(const core::PlusTask& task, Threads& threads);
  void generation(const core::PlusTask& task, std::int32_t generation, Threads& threads);
  std::int32_t best(std::int32_t first, std::int32_t last) const;
  std::int64_t best_score() const;
  void report(const core::PlusTask& task, const kernel::PlusResult& result) const;

  std::vector<std::byte> memory_;
  std::vector<kernel::PlusIndividual> individuals_;
  std::vector<kernel::PlusWorkspace> workspaces_;  // [lanes]
  std::vector<std::int32_t> gene_;                 // [individuals] -1: a copy of the first
};

}  // namespace berth::cpu
