#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "berth/kernel/base/problem.hpp"

namespace berth::core {

/// Free or total supply of nodes; same layout as in kernel::ProblemView.
struct SupplyView {
  const std::uint64_t* free = nullptr;            // [n_nodes] whole free GPUs
  const std::int64_t* cpu = nullptr;              // [n_nodes] milli-cores, kNoLimit: not modelled
  const std::int64_t* memory = nullptr;           // [n_nodes] bytes, kNoLimit: not modelled
  const std::int32_t* gpu_used_ppm = nullptr;     // [GPU rows] null: no shares in use
  const std::int64_t* gpu_used_memory = nullptr;  // [GPU rows]
  const std::uint8_t* sharing = nullptr;          // [n_nodes] 1: may host shares; null: ProblemView::node_sharing
};

/// Which limits a count of members takes into account. Each stage adds one limit, so the first stage that falls short
/// names the cause.
enum class Stage : std::uint8_t { kGpus, kGpuMemory, kCpu, kMemory, kUntil };

/// Capacity of nodes by docs/placement.md section 1, computed directly for the reasons: how many members of a group a
/// node holds. Only nodes with free supply are read, so a full cluster is cheap.
class Capacity {
 public:
  struct Row {
    std::int32_t node;
    std::int32_t gpus;  // whole free
    std::int64_t cpu, memory;
  };

  /// `compact`: prepare rows(); otherwise nodes are read one by one with row().
  void begin(const kernel::ProblemView& problem, const SupplyView& supply, bool compact);
  /// Nodes with whole free GPUs or room for shares, by rank.
  const std::vector<Row>& rows() const { return rows_; }
  Row row(std::int32_t node) const;
  bool allowed(std::int32_t filter, std::int32_t node) const {
    return (problem_->filter_words[static_cast<std::int64_t>(filter) * problem_->n_words + node / 64] >> (node % 64) & 1) != 0;
  }
  /// Members of `group` on the node of `row`; `end`: when the job would end, kNever: not known.
  std::int64_t members(const Row& row, const kernel::GroupRow& group, Stage stage, std::int64_t end) const;
  /// Adds members() of every stage, [5] by Stage, reading each limit once.
  void add_members(const Row& row, const kernel::GroupRow& group, std::int64_t end, std::int64_t* by_stage) const {
    const bool whole = group.share_ppm == kWholeGpu;
    std::int64_t most = whole ? (group.gpus == 1 ? row.gpus : row.gpus / group.gpus) : shares(row, group, false);
    if (most == 0) return;
    by_stage[0] += most;
    if (!whole) most = shares(row, group, true);
    by_stage[1] += most;
    if (group.cpu > 0 && row.cpu != kernel::kNoLimit) most = limited(most, row.cpu, group.cpu);
    by_stage[2] += most;
    if (group.memory > 0 && row.memory != kernel::kNoLimit) most = limited(most, row.memory, group.memory);
    by_stage[3] += most;
    if (problem_->has_until != 0) {
      const std::int64_t until = problem_->node_until[row.node];
      if (until != kNever && (end == kNever || end > until)) most = 0;
    }
    by_stage[4] += most;
  }

 private:
  // min(most, has / per), not below 0. Most nodes have enough, and a multiplication finds that without a division.
  static std::int64_t limited(std::int64_t most, std::int64_t has, std::int64_t per) {
    std::int64_t all = 0;
    if (!__builtin_mul_overflow(most, per, &all) && all <= has) return most;
    return has <= 0 ? 0 : has / per;
  }
  bool sharing(std::int32_t node) const { return (supply_.sharing == nullptr ? problem_->node_sharing : supply_.sharing)[node] != 0; }
  std::int64_t shares(const Row& row, const kernel::GroupRow& group, bool with_memory) const;

  const kernel::ProblemView* problem_ = nullptr;
  SupplyView supply_;
  std::vector<Row> rows_;
};

}  // namespace berth::core
