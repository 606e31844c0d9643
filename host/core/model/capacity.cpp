#include "host/core/model/capacity.hpp"

#include <algorithm>
#include <bit>

namespace berth::core {

void Capacity::begin(const kernel::ProblemView& problem, const SupplyView& supply, bool compact) {
  problem_ = &problem;
  supply_ = supply;
  rows_.clear();
  for (std::int32_t node = 0; compact && node < problem.n_nodes; ++node) {
    if (supply.free[node] == 0 && (supply.gpu_used_ppm == nullptr || !sharing(node))) continue;
    rows_.push_back(row(node));
  }
}

Capacity::Row Capacity::row(std::int32_t node) const {
  return {node, std::popcount(supply_.free[node]), supply_.cpu[node], supply_.memory[node]};
}

std::int64_t Capacity::shares(const Row& row, const kernel::GroupRow& group, bool with_memory) const {
  if (!sharing(row.node)) return 0;
  const std::int64_t has = with_memory && group.gpu_memory > 0 ? problem_->type_memory[problem_->node_type[row.node]] : 0;
  std::int64_t members = 0;
  const std::int32_t begin = problem_->gpu_begin[row.node];
  for (std::int32_t gpu = begin; gpu < problem_->gpu_begin[row.node + 1]; ++gpu) {
    const std::int64_t used = supply_.gpu_used_ppm == nullptr ? 0 : supply_.gpu_used_ppm[gpu];
    const bool whole_free = (supply_.free[row.node] >> (gpu - begin) & 1) != 0;
    if (!whole_free && (used == 0 || (problem_->node_open[row.node] >> (gpu - begin) & 1) == 0)) continue;
    std::int64_t here = (kWholeGpu - used) / group.share_ppm;
    if (has != 0) here = std::min(here, (has - (supply_.gpu_used_memory == nullptr ? 0 : supply_.gpu_used_memory[gpu])) / group.gpu_memory);
    members += std::max<std::int64_t>(here, 0);
  }
  return members;
}

std::int64_t Capacity::members(const Row& row, const kernel::GroupRow& group, Stage stage, std::int64_t end) const {
  if (stage == Stage::kUntil && problem_->has_until != 0) {
    const std::int64_t until = problem_->node_until[row.node];
    if (until != kNever && (end == kNever || end > until)) return 0;
  }
  std::int64_t most = group.share_ppm == kWholeGpu ? row.gpus / group.gpus : shares(row, group, stage >= Stage::kGpuMemory);
  if (most == 0) return 0;
  if (stage >= Stage::kCpu && group.cpu > 0 && row.cpu != kernel::kNoLimit) most = std::min(most, row.cpu / group.cpu);
  if (stage >= Stage::kMemory && group.memory > 0 && row.memory != kernel::kNoLimit) most = std::min(most, row.memory / group.memory);
  return std::max<std::int64_t>(most, 0);
}

}  // namespace berth::core
