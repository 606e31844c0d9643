#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/core/backend/devices.hpp"
#include "host/cpu/score_table.hpp"

namespace berth::core {

/// Placement on one GPU, through the table of libberth_cuda. One thread at a time.
///
/// Every call may throw DeviceError. After that the GPU's context is given up and all later calls throw too, but not
/// where memory was short. In a child of a fork every call throws, and the context is left alone.
class CudaBackend final : public PlacementBackend {
 public:
  /// Opens a GPU as make_cuda_backend says; null with the cause in `why`.
  static std::unique_ptr<CudaBackend> open(std::string& why, bool* short_memory = nullptr, const std::string& device = {});
  ~CudaBackend() override;
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  const char* name() const override { return "cuda"; }
  std::string device() const override { return device_; }
  std::int64_t gpu_operations() const override { return gpu_operations_; }
  std::int64_t cpu_operations() const override { return cpu_operations_; }
  const char* why_cpu() const override { return why_cpu_; }
  /// A pass with a deadline or with reports of progress runs on the CPU: a kernel is not stopped.
  void place(const kernel::ProblemView& problem, const PlaceTask& scenario, const kernel::PlaceResult& result) override;
  void place_batch(const kernel::ProblemView& problem, std::span<const PlaceTask> scenarios,
                   std::span<const kernel::PlaceResult> results) override;
  void score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) override;
  /// Several problems run on the GPU, one warp each. A single problem runs on the CPU, where it can be
  /// cancelled and where its sequential part is fast.
  void price(std::span<const PriceTask> tasks, std::span<const kernel::PriceResult> results) override;
  void ones(const OnesTask& task, const kernel::OnesResult& result) override;
  void plan_search(const PlanSearchTask& task, const kernel::PlanSearchResult& result) override;
  /// Several replays run on the GPU, a warp each. A single one runs on the CPU.
  void replay(const kernel::ReplayView& problem, std::span<const ReplayTask> tasks, std::span<const kernel::ReplayResult> results) override;
  void delay_replay(const kernel::DelayReplayView& problem, std::span<const DelayReplayTask> tasks,
                    std::span<const kernel::DelayReplayResult> results) override;
  void contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result) override;
  /// Several questions run on the GPU, a warp each. A single one runs on the CPU.
  void victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) override;
  /// The same as `score`, with or without collapsing, for measurements.
  void score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, cpu::Collapse collapse, kernel::CandidateRow* out);

 private:
  CudaBackend(const cuda_abi::Table* table, void* context, std::string device)
      : table_(table), context_(context), device_(std::move(device)) {}
  void require_context() const;
  void check(cuda_abi::Status status, const cuda_abi::Message& message);
  void on_cpu(const char* why);

  const cuda_abi::Table* table_;
  void* context_;  // null once it failed
  std::string device_;
  std::string failure_;
  std::int64_t gpu_operations_ = 0, cpu_operations_ = 0;
  const char* why_cpu_ = "";
  std::vector<cuda_abi::AbiPlaceTask> tasks_;
  std::vector<cuda_abi::AbiPriceTask> choices_;
  std::vector<cuda_abi::AbiReplayTask> replays_;
  std::vector<cuda_abi::AbiDelayReplayTask> delay_replays_;
  cpu::ScoreTable score_table_;
  std::vector<std::byte> memory_;  // of passes on the CPU
};

}  // namespace berth::core
