#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/victims/question.hpp"
#include "cuda/check.hpp"
#include "cuda/device_columns.cuh"
#include "cuda/mirror.cuh"
#include "cuda/tuning.hpp"
#include "host/backend/cuda_abi.hpp"

namespace berth::cuda {

/// Finds the jobs that leave (docs/victims.md) on one device, a block of one warp for each question. Keeps its memory between calls.
class VictimsFinder {
 public:
  /// Returns when the results are on the host. At least one question.
  /// Questions run in chunks where device memory is too small for all at once. Chunks never change an answer.
  /// @param host    The problem on the host.
  /// @param device  The same on the device, brought up to date on `stream`.
  void run(const kernel::ProblemView& host, const DeviceProblem& device, const kernel::VictimsRequest& request,
           const kernel::VictimsResult& result, const Tuning& tuning, const Stream& stream);

 private:
  void upload(const kernel::VictimsRequest& request, cudaStream_t stream);
  void index(const kernel::ProblemView& host, const kernel::ProblemView& device, const kernel::VictimsRequest& request,
             cudaStream_t stream);
  void count(const kernel::ProblemView& host, const kernel::VictimsRequest& request);
  void chunk(const kernel::ProblemView& device, std::int32_t first, std::int32_t last, cudaStream_t stream);
  void fetch(const kernel::VictimsRequest& request, const kernel::VictimsResult& result, const Stream& stream);

  std::array<FollowedColumn, 10> columns_;
  kernel::VictimsRequest request_{};  // on the device, as are these
  kernel::VictimsResult result_{};
  kernel::VictimsPositions positions_{};
  std::array<DeviceBuffer<std::int32_t>, 5> position_;
  std::vector<std::int64_t> rows_before_;
  std::vector<kernel::VictimsSizes> sizes_;  // by question
  std::vector<std::size_t> begins_;          // [n + 1] workspaces, as if all were there at once
  FollowedColumn device_sizes_, device_begins_;
  DeviceBuffer<std::byte> workspace_, results_;
};

}  // namespace berth::cuda
