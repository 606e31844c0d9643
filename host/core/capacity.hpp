#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "berth/kernel/problem.hpp"

namespace berth::core {

/// What nodes have left, or have in all; same shapes as in kernel::ProblemView.
struct SupplyView {
  const std::uint64_t* free = nullptr;            // [n_nodes] whole free GPUs
  const std::int64_t* cpu = nullptr;              // [n_nodes] milli-cores, kNoLimit: not modelled
  const std::int64_t* memory = nullptr;           // [n_nodes] bytes, kNoLimit: not modelled
  const std::int32_t* gpu_used_ppm = nullptr;     // [GPU rows] null: no shares in use
  const std::int64_t* gpu_used_memory = nullptr;  // [GPU rows]
  const std::uint8_t* sharing = nullptr;          // [n_nodes] 1: may host shares; null: ProblemView::node_sharing
};

/// Which limits a count of members takes into account. Each stage adds one to those before it, so the first stage that falls
/// short names the cause.
enum class Stage : std::uint8_t { kGpus, kGpuMemory, kCpu, kMemory, kUntil };

/// Capacity of nodes as docs/placement.md section 1 defines it, computed plainly for the reasons: how many members of a group a
/// node holds. Only nodes that have something are looked at, so a full cluster is cheap.
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

 private:
  bool sharing(std::int32_t node) const { return (supply_.sharing == nullptr ? problem_->node_sharing : supply_.sharing)[node] != 0; }
  std::int64_t shares(const Row& row, const kernel::GroupRow& group, bool with_memory) const;

  const kernel::ProblemView* problem_ = nullptr;
  SupplyView supply_;
  std::vector<Row> rows_;
};

}  // namespace berth::core
