#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "berth/kernel/choice.hpp"
#include "berth/kernel/ones.hpp"
#include "berth/kernel/plus.hpp"
#include "berth/kernel/problem.hpp"
#include "berth/kernel/score.hpp"

namespace berth::core {

/// When a walk on the CPU must stop before its end. The limit that repeats its answer is `stopped_at`.
struct Watch {
  const std::atomic<bool>* cancelled = nullptr;
  const std::function<bool(std::int64_t, std::int64_t)>* progress = nullptr;  // null: nobody wants to know
  std::int32_t n = 0;                                                         // jobs that are walked, for `progress`
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  std::int32_t stopped_at = -1;  // position, -1: ran to its end
  bool by_cancel = false;

  bool stop(std::int32_t position) {
    const bool unwanted = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    if (unwanted || (progress != nullptr && position % 64 == 0 && !(*progress)(position, n))) {
      by_cancel = true;
    } else if (deadline == std::chrono::steady_clock::time_point::max() || position % 64 != 0 ||
               std::chrono::steady_clock::now() < deadline) {
      return false;
    }
    stopped_at = position;
    return true;
  }

  /// The same between two evaluations of a search, which says itself how far it came.
  bool stop() {
    by_cancel = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    const bool late = deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() >= deadline;
    if (by_cancel || late) stopped_at = 0;
    return by_cancel || late;
  }

  /// The same of a search that is asked after every step how far it came.
  bool stop(std::int64_t done, std::int64_t all) {
    if (progress == nullptr || (*progress)(done, all)) return stop();
    by_cancel = true;
    stopped_at = 0;
    return true;
  }
};

/// One "what if" over a common problem: other orders, options and free GPUs.
struct Scenario {
  kernel::PlaceRequest request;
  std::span<const kernel::TakenRow> taken;  // bits that are not free are ignored
  Watch* watch = nullptr;                   // heeded by `place` on cpu and reference; null: run to the end
};

/// One choice of shapes (docs/prices.md).
struct ChoiceTask {
  kernel::ChoiceView problem;
  kernel::ChoiceRequest request;
  Watch* watch = nullptr;  // heeded by cpu and reference; null: run to the end
};

/// An evolution of ONES (docs/ones.md).
struct EvolveTask {
  kernel::OnesView problem;
  kernel::OnesRequest request;
  Watch* watch = nullptr;  // heeded after each generation; null: run to the end
};

/// A search of `ones-plus` (docs/ones-plus.md).
struct PlusTask {
  kernel::PlusView problem;
  kernel::PlusRequest request;
  Watch* watch = nullptr;  // heeded before each generation; null: run to the end
};

/// Who computes placements and choices. All answer alike, bit by bit (docs/placement.md).
class PlacementBackend {
 public:
  virtual ~PlacementBackend() = default;
  virtual const char* name() const = 0;
  /// One walk. `result` columns are sized by the caller (`entry_bound`).
  virtual void place(const kernel::ProblemView& problem, const Scenario& scenario, const kernel::PlaceResult& result) = 0;
  /// Many walks over one problem.
  virtual void place_batch(const kernel::ProblemView& problem, std::span<const Scenario> scenarios,
                           std::span<const kernel::PlaceResult> results) = 0;
  /// out: [n * k].
  virtual void score(const kernel::ProblemView& problem, const kernel::ScoreRequest& request, kernel::Candidate* out) = 0;
  /// Many choices, each by itself.
  virtual void choose(std::span<const ChoiceTask> tasks, std::span<const kernel::ChoiceResult> results) = 0;
  virtual void evolve(const EvolveTask& task, const kernel::OnesResult& result) = 0;
  virtual void evolve_plans(const PlusTask& task, const kernel::PlusResult& result) = 0;
};

/// The serial oracle (host/reference).
std::unique_ptr<PlacementBackend> make_reference_backend();
/// Threads of this machine (host/cpu). threads >= 1.
std::unique_ptr<PlacementBackend> make_cpu_backend(int threads);
/// The GPU, loaded from libberth_cuda at run time; null with the cause in `why` when there is none.
std::unique_ptr<PlacementBackend> make_cuda_backend(std::string& why);

/// Entries that suffice for any walk over the problem: one per GPU, and one per share that fits.
std::int32_t entry_bound(const kernel::ProblemView& problem);

}  // namespace berth::core
