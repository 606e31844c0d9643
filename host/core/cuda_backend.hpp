#pragma once

#include <memory>
#include <string>
#include <vector>

#include "host/core/backend.hpp"
#include "host/core/devices.hpp"
#include "host/cpu/score_table.hpp"

namespace berth::core {

/// Placement on one GPU, through the table of libberth_cuda. One thread at a time.
///
/// Every call may throw DeviceError. After one the GPU's context is given up and all later calls throw too.
class CudaBackend final : public PlacementBackend {
 public:
  /// Opens the first GPU that can be used; null with the cause in `why`.
  static std::unique_ptr<CudaBackend> open(std::string& why);
  ~CudaBackend() override;
  CudaBackend(const CudaBackend&) = delete;
  CudaBackend& operator=(const CudaBackend&) = delete;

  const char* name() const override { return "cuda"; }
  void place(const kernel::ProblemView& problem, const Scenario& scenario, const kernel::PlaceResult& result) override;
  void place_batch(const kernel::ProblemView& problem, std::span<const Scenario> scenarios,
                   std::span<const kernel::PlaceResult> results) override;
  void score(const kernel::ProblemView& problem, const kernel::ScoreRequest& request, kernel::Candidate* out) override;
  /// Many on the GPU, a thread block each. A single one is the CPU's: it can be cancelled there, and much of it is one thread's work.
  void choose(std::span<const ChoiceTask> tasks, std::span<const kernel::ChoiceResult> results) override;
  void evolve(const EvolveTask& task, const kernel::OnesResult& result) override;
  void evolve_plans(const PlusTask& task, const kernel::PlusResult& result) override;
  /// The same as `score`, with or without collapsing, for measurements.
  void score(const kernel::ProblemView& problem, const kernel::ScoreRequest& request, cpu::Collapse collapse, kernel::Candidate* out);

 private:
  CudaBackend(const cuda_abi::Table* table, void* context) : table_(table), context_(context) {}
  void check(cuda_abi::Status status, const cuda_abi::Message& message);

  const cuda_abi::Table* table_;
  void* context_;  // null once it failed
  std::string failure_;
  std::vector<cuda_abi::PlaceTask> tasks_;
  std::vector<cuda_abi::ChooseTask> choices_;
  cpu::ScoreTable score_table_;
};

}  // namespace berth::core
