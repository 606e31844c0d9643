#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/victims/question.hpp"

namespace berth::cpu {

/// Rows that the candidates before each one hold. @param rows  [n_candidates + 1] out
void sum_victim_rows(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, std::vector<std::int64_t>& rows);

/// Which running jobs leave so that jobs fit (docs/victims.md), on CPU threads: a question each. Keeps its memory between calls.
class CpuVictims {
 public:
  void run(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result, int threads);

 private:
  kernel::VictimsPositions positions(const kernel::ProblemView& problem, const kernel::VictimsRequest& request);

  std::vector<std::int32_t> position_[5];
  std::vector<std::int64_t> rows_before_;
  std::vector<std::vector<std::byte>> lanes_;  // memory of each thread
};

}  // namespace berth::cpu
