#include <cstddef>
#include <memory>
#include <vector>

#include "host/backend/backend.hpp"
#include "host/cpu/contend.hpp"
#include "host/cpu/delay_replay.hpp"
#include "host/cpu/ones.hpp"
#include "host/cpu/place.hpp"
#include "host/cpu/plan_search.hpp"
#include "host/cpu/price.hpp"
#include "host/cpu/replay.hpp"
#include "host/cpu/score.hpp"
#include "host/cpu/victims.hpp"

namespace berth::cpu {
namespace {

/// Runs the group bodies with one thread per scheduling pass. Batches and scores use several threads.
class CpuBackend final : public core::PlacementBackend {
 public:
  explicit CpuBackend(int threads) : threads_(threads) {}

  const char* name() const override { return "cpu"; }

  void place(const kernel::ProblemView& problem, const core::PlaceTask& task, const kernel::PlaceResult& result) override {
    cpu::place(problem, task, result, memory_);
  }

  void place_batch(const kernel::ProblemView& problem, std::span<const core::PlaceTask> tasks,
                   std::span<const kernel::PlaceResult> results) override {
    cpu::place_batch(problem, tasks, results, threads_);
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

  void replay(const kernel::ReplayView& problem, std::span<const core::ReplayTask> tasks,
              std::span<const kernel::ReplayResult> results) override {
    cpu::replay(problem, tasks, results, threads_);
  }

  void delay_replay(const kernel::DelayReplayView& problem, std::span<const core::DelayReplayTask> tasks,
                    std::span<const kernel::DelayReplayResult> results) override {
    cpu::delay_replay(problem, tasks, results, threads_);
  }

  void contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result) override {
    contention_.run(problem, request, result, threads_);
  }

  void victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) override {
    victims_.run(problem, request, result, threads_);
  }

 private:
  int threads_;
  std::vector<std::byte> memory_;
  ScoreTable table_;
  OnesSearch ones_;
  CpuPlanSearch plan_search_;
  CpuContention contention_;
  CpuVictims victims_;
};

}  // namespace
}  // namespace berth::cpu

namespace berth::core {

std::unique_ptr<PlacementBackend> make_cpu_backend(int threads) { return std::make_unique<cpu::CpuBackend>(threads); }

}  // namespace berth::core
