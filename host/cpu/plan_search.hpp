#pragma once

#include <cstddef>
#include <vector>

#include "berth/kernel/plan_search/workspace.hpp"
#include "host/backend/backend.hpp"
#include "host/cpu/threads.hpp"

namespace berth::cpu {

/// The search of `ones-plus` on CPU threads, one thread per individual. Keeps its memory between searches, but not its threads.
class CpuPlanSearch {
 public:
  void run(const core::PlanSearchTask& task, const kernel::PlanSearchResult& result, int threads);

 private:
  void reserve(const kernel::PlanSearchView& view, std::int32_t individuals, std::size_t lanes);
  void begin(const core::PlanSearchTask& task, Threads& threads);
  void generation(const core::PlanSearchTask& task, std::int32_t generation, Threads& threads);
  std::int32_t best(std::int32_t first, std::int32_t last) const;
  std::int64_t best_score() const;
  void report(const core::PlanSearchTask& task, const kernel::PlanSearchResult& result) const;

  std::vector<std::byte> memory_;
  std::vector<kernel::PlanSearchIndividual> individuals_;
  std::vector<kernel::PlanSearchWorkspace> workspaces_;  // [lanes]
  std::vector<std::int32_t> start_;                      // [individuals] -1: a copy of the first
};

}  // namespace berth::cpu
