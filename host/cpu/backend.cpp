#include <cstddef>
#include <memory>
#include <vector>

#include "berth/kernel/place/place.hpp"
#include "host/backend/backend.hpp"
#include "host/cpu/for_each.hpp"
#include "host/cpu/ones.hpp"
#include "host/cpu/plan_search.hpp"
#include "host/cpu/price.hpp"
#include "host/cpu/score.hpp"

namespace berth::cpu {
namespace {

/// Runs the group bodies with one thread per scheduling pass. Batches and scores use several threads.
class CpuBackend final : public core::PlacementBackend {
 public:
  explicit CpuBackend(int threads) : threads_(threads) {}

  const char* name() const override { return "cpu"; }

  void place(const kernel::ProblemView& problem, const core::PlaceTask& scenario, const kernel::PlaceResult& result) override {
    run(problem, scenario, result, memory_);
  }

  void place_batch(const kernel::ProblemView& problem, std::span<const core::PlaceTask> scenarios,
                   std::span<const kernel::PlaceResult> results) override {
    const auto n = static_cast<std::int64_t>(scenarios.size());
    for_each_n(threads_, n, 1, [&](std::int64_t i) {
      // One block of memory per thread, kept between calls.
      thread_local std::vector<std::byte> memory;
      run(problem, scenarios[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i)], memory);
    });
  }

  void score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) override {
    cpu::score(table_, problem, request, threads_, Collapse::kOn, out);
  }

  void price(std::span<const core::PriceTask> tasks, std::span<const kernel::PriceResult> results) override {
    cpu::price(tasks, results, threads_);
  }

  void ones(const core::OnesTask& task, const kernel::OnesResult& result) override { ones_.run(task, result, threads_); }

  void plan_search(const core::PlanSearchTask& task, const kernel::PlanSearchResult& result) override {
    plan_search_.run(task, result, threads_);
  }

 private:
  static void run(const kernel::ProblemView& problem, const core::PlaceTask& scenario, const kernel::PlaceResult& result,
                  std::vector<std::byte>& memory) {
    const std::size_t bytes = kernel::place_workspace_bytes(problem, scenario.request) + 16;
    if (memory.size() < bytes) memory.resize(bytes);
    void* aligned = memory.data();
    std::size_t room = memory.size();
    std::align(16, bytes - 16, aligned, room);
    const kernel::PlaceWorkspace ws = kernel::carve_workspace(aligned, problem, scenario.request);
    kernel::SerialGroup group;
    const auto n_taken = static_cast<std::int32_t>(scenario.taken.size());
    if (scenario.stop_token != nullptr) {
      kernel::place(group, problem, scenario.request, scenario.taken.data(), n_taken, ws, result, *scenario.stop_token);
    } else {
      kernel::place(group, problem, scenario.request, scenario.taken.data(), n_taken, ws, result);
    }
  }

  int threads_;
  std::vector<std::byte> memory_;
  ScoreTable table_;
  OnesSearch ones_;
  CpuPlanSearch plan_search_;
};

}  // namespace
}  // namespace berth::cpu

namespace berth::core {

std::unique_ptr<PlacementBackend> make_cpu_backend(int threads) { return std::make_unique<cpu::CpuBackend>(threads); }

}  // namespace berth::core
