#include <cstddef>
#include <memory>
#include <vector>

#include "berth/kernel/place.hpp"
#include "host/core/backend.hpp"
#include "host/cpu/for_each.hpp"
#include "host/cpu/ones.hpp"
#include "host/cpu/plus.hpp"
#include "host/cpu/price.hpp"
#include "host/cpu/score.hpp"

namespace berth::cpu {
namespace {

/// Runs the group bodies with one thread a walk; many walks, and scores, on several threads.
class CpuBackend final : public core::PlacementBackend {
 public:
  explicit CpuBackend(int threads) : threads_(threads) {}

  const char* name() const override { return "cpu"; }

  void place(const kernel::ProblemView& problem, const core::Scenario& scenario, const kernel::PlaceResult& result) override {
    run(problem, scenario, result, memory_);
  }

  void place_batch(const kernel::ProblemView& problem, std::span<const core::Scenario> scenarios,
                   std::span<const kernel::PlaceResult> results) override {
    const auto n = static_cast<std::int64_t>(scenarios.size());
    for_each_n(threads_, n, 1, [&](std::int64_t i) {
      // One block of memory a thread, kept between calls.
      thread_local std::vector<std::byte> memory;
      run(problem, scenarios[static_cast<std::size_t>(i)], results[static_cast<std::size_t>(i)], memory);
    });
  }

  void score(const kernel::ProblemView& problem, const kernel::ScoreRequest& request, kernel::Candidate* out) override {
    score_candidates(table_, problem, request, threads_, Collapse::kOn, out);
  }

  void choose(std::span<const core::ChoiceTask> tasks, std::span<const kernel::ChoiceResult> results) override {
    cpu::choose(tasks, results, threads_);
  }

  void evolve(const core::EvolveTask& task, const kernel::OnesResult& result) override { ones_.run(task, result, threads_); }

  void evolve_plans(const core::PlusTask& task, const kernel::PlusResult& result) override { plus_.run(task, result, threads_); }

 private:
  static void run(const kernel::ProblemView& problem, const core::Scenario& scenario, const kernel::PlaceResult& result,
                  std::vector<std::byte>& memory) {
    const std::size_t bytes = kernel::place_workspace_bytes(problem, scenario.request) + 16;
    if (memory.size() < bytes) memory.resize(bytes);
    void* aligned = memory.data();
    std::size_t room = memory.size();
    std::align(16, bytes - 16, aligned, room);
    const kernel::PlaceWorkspace ws = kernel::carve_workspace(aligned, problem, scenario.request);
    kernel::SerialGroup group;
    const auto n_taken = static_cast<std::int32_t>(scenario.taken.size());
    if (scenario.watch != nullptr) {
      kernel::place_in_order(group, problem, scenario.request, scenario.taken.data(), n_taken, ws, result, *scenario.watch);
    } else {
      kernel::place_in_order(group, problem, scenario.request, scenario.taken.data(), n_taken, ws, result);
    }
  }

  int threads_;
  std::vector<std::byte> memory_;
  ScoreTable table_;
  OnesEvolution ones_;
  PlusSearch plus_;
};

}  // namespace
}  // namespace berth::cpu

namespace berth::core {

std::unique_ptr<PlacementBackend> make_cpu_backend(int threads) { return std::make_unique<cpu::CpuBackend>(threads); }

}  // namespace berth::core
