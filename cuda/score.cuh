#pragma once

#include <array>

#include "berth/kernel/score/table.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/tuning.hpp"

namespace berth::cuda {

/// Scores tables on one device. Keeps its memory between calls.
class Scorer {
 public:
  /// Finds the k best places of every demand. Returns when they are in `best`.
  /// @param best  [n_demands * k] host, out
  void run(const kernel::ScoreTableView& table, const Stream& stream, kernel::BestPlace* best);

 private:
  kernel::ScoreTableView upload(const kernel::ScoreTableView& table, cudaStream_t stream);

  std::array<FollowedColumn, 14> columns_;
  DeviceBuffer<kernel::BestPlace> best_;
};

}  // namespace berth::cuda
