#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "berth/kernel/base/problem.hpp"
#include "berth/kernel/contend/columns.hpp"
#include "berth/kernel/delay_replay/columns.hpp"
#include "berth/kernel/ones/columns.hpp"
#include "berth/kernel/plan_search/columns.hpp"
#include "berth/kernel/price/columns.hpp"
#include "berth/kernel/replay/columns.hpp"
#include "berth/kernel/score/columns.hpp"
#include "berth/kernel/victims/columns.hpp"

namespace berth::core {

/// Stops a scheduling pass on the CPU before its end. As a limit, `stopped_at` reproduces the answer.
struct StopToken {
  const std::atomic<bool>* cancelled = nullptr;
  const std::function<bool(std::int64_t, std::int64_t)>* progress = nullptr;  // null: no progress reports
  std::int32_t n = 0;                                                         // number of jobs in the scheduling pass, for `progress`
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();
  const std::uint8_t* runs_on = nullptr;  // [n] 1: it does not stop at this position; null: it may at all
  std::int32_t stopped_at = -1;           // position, -1: it ran to its end
  bool by_cancel = false;

  bool stop(std::int32_t position) {
    if (runs_on != nullptr && runs_on[position] != 0) return false;
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

  /// Called between two evaluations of a search that reports its own progress.
  bool stop() {
    by_cancel = cancelled != nullptr && cancelled->load(std::memory_order_relaxed);
    const bool late = deadline != std::chrono::steady_clock::time_point::max() && std::chrono::steady_clock::now() >= deadline;
    if (by_cancel || late) stopped_at = 0;
    return by_cancel || late;
  }

  /// Called by a search after each step, with its progress.
  bool stop(std::int64_t done, std::int64_t all) {
    if (progress == nullptr || (*progress)(done, all)) return stop();
    by_cancel = true;
    stopped_at = 0;
    return true;
  }
};

/// One "what if" scenario over a common problem, with its own orders, options and free GPUs.
struct PlaceTask {
  kernel::PlaceRequest request;
  std::span<const kernel::TakenRow> taken;  // bits that are not free are ignored
  StopToken* stop_token = nullptr;          // respected by `place` on cpu and reference; null: run to the end
};

/// One choice of shapes (docs/prices.md).
struct PriceTask {
  kernel::PriceView problem;
  kernel::PriceRequest request;
  StopToken* stop_token = nullptr;  // respected by cpu and reference; null: run to the end
};

/// An evolution of ONES (docs/ones.md).
struct OnesTask {
  kernel::OnesView problem;
  kernel::OnesRequest request;
  StopToken* stop_token = nullptr;  // respected after each generation; null: run to the end
};

/// A search of `ones-plus` (docs/ones-plus.md).
struct PlanSearchTask {
  kernel::PlanSearchView problem;
  kernel::PlanSearchRequest request;
  StopToken* stop_token = nullptr;  // respected before each generation; null: run to the end
};

/// A replay of a trace (docs/replays.md).
struct ReplayTask {
  kernel::ReplayRequest request;
  StopToken* stop_token = nullptr;  // respected by cpu and reference; null: run to the end
};

/// A replay of a trace with delay timers (docs/dally.md).
struct DelayReplayTask {
  kernel::DelayReplayRequest request;
  StopToken* stop_token = nullptr;  // respected by cpu and reference; null: run to the end
};

/// A backend for placements, choices and replays. All backends give bit-identical answers (docs/placement.md).
class PlacementBackend {
 public:
  virtual ~PlacementBackend() = default;
  virtual const char* name() const = 0;
  /// Operations that a GPU has completed.
  virtual std::int64_t gpu_operations() const { return 0; }
  /// Operations of a GPU's backend that ran on the CPU, and why the last of them did. Those without work do not count.
  virtual std::int64_t cpu_operations() const { return 0; }
  virtual const char* why_cpu() const { return ""; }
  /// The GPU, as text for users; empty for a CPU.
  virtual std::string device() const { return {}; }
  /// Runs one scheduling pass. The caller sizes the columns of `result` (`entry_bound`).
  virtual void place(const kernel::ProblemView& problem, const PlaceTask& scenario, const kernel::PlaceResult& result) = 0;
  /// Runs many scheduling passes over one problem.
  virtual void place_batch(const kernel::ProblemView& problem, std::span<const PlaceTask> scenarios,
                           std::span<const kernel::PlaceResult> results) = 0;
  /// out: [n * k].
  virtual void score(const kernel::ProblemView& problem, const kernel::ScoreQuery& request, kernel::CandidateRow* out) = 0;
  /// Runs many independent choices.
  virtual void price(std::span<const PriceTask> tasks, std::span<const kernel::PriceResult> results) = 0;
  virtual void ones(const OnesTask& task, const kernel::OnesResult& result) = 0;
  virtual void plan_search(const PlanSearchTask& task, const kernel::PlanSearchResult& result) = 0;
  /// Runs many independent replays of one trace.
  virtual void replay(const kernel::ReplayView& problem, std::span<const ReplayTask> tasks,
                      std::span<const kernel::ReplayResult> results) = 0;
  /// The same with delay timers.
  virtual void delay_replay(const kernel::DelayReplayView& problem, std::span<const DelayReplayTask> tasks,
                            std::span<const kernel::DelayReplayResult> results) = 0;
  /// Loads of links, and which candidates share links with which running jobs. Columns are valid (check_contend.hpp).
  virtual void contend(const kernel::ContendView& problem, const kernel::ContendRequest& request, const kernel::ContendResult& result) = 0;
  /// Which running jobs leave so that a job fits into a domain: many questions. Columns are valid (check_victims.hpp).
  virtual void victims(const kernel::ProblemView& problem, const kernel::VictimsRequest& request, const kernel::VictimsResult& result) = 0;
};

/// The serial oracle (host/reference).
std::unique_ptr<PlacementBackend> make_reference_backend();
/// Threads of this machine (host/cpu). threads >= 1.
std::unique_ptr<PlacementBackend> make_cpu_backend(int threads);
/// The GPU, loaded from libberth_cuda at run time. Null when there is none; `why` then has the cause.
/// @param short_memory  out: whether a GPU could not be used for want of memory
/// @param device        its index or UUID; empty: the first that can be used
/// @throws InvalidArgument for a device that is none of those that there are
std::unique_ptr<PlacementBackend> make_cuda_backend(std::string& why, bool* short_memory = nullptr, const std::string& device = {});

/// Entries that suffice for any scheduling pass over the problem: one per GPU, and one per share that fits; where every
/// waiting job may be reserved, those of all jobs.
std::int32_t entry_bound(const kernel::ProblemView& problem, kernel::Discipline discipline = kernel::Discipline::kGreedy);
/// Of this pass, which may have few of the jobs.
std::int32_t entry_bound(const kernel::ProblemView& problem, const kernel::PlaceRequest& request);

}  // namespace berth::core
