#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "berth/job.hpp"
#include "berth/units.hpp"
#include "host/sim/iterations/all_reduces.hpp"
#include "host/sim/iterations/iteration_form.hpp"

namespace berth::sim {

/// The order of jobs on a shared GPU.
enum class GpuOrder : std::uint8_t {
  kFifo,   ///< the job that has been ready longest
  kLeast,  ///< the job with the least remaining service: iterations left x computing time of one x GPUs
};

struct IterationRules {
  Admission admission = Admission::kAny;
  GpuOrder gpu_order = GpuOrder::kFifo;
};

/// What a job did with its GPUs. The time of a shared GPU belongs to the job whose stage it runs.
/// Otherwise, and always where stages have their own resources, each job gets an equal part, rounded down.
struct Executed {
  std::int64_t done = 0;        ///< work of whole iterations
  std::int64_t saved = 0;       ///< saved part of `done`
  TimeUs saving_us = 0;         ///< time spent saving
  __int128 paid_gpu_us = 0;     ///< GPU-time before it began to work
  __int128 had_gpu_us = 0;      ///< GPU-time since then
  __int128 saving_gpu_us = 0;   ///< part of `had_gpu_us` while saving
  __int128 busy_gpu_us = 0;     ///< computing of whole iterations
  __int128 unsaved_gpu_us = 0;  ///< part of `busy_gpu_us` since the last save
};

/// Jobs simulated by the stages of their iterations, on GPUs that they may share in time slices and over shared network cards
/// (arXiv 2002.10105, section 3). Each resource of a GPU serves one stage at a time to its end, and a free resource is never left idle.
/// A job that is alone on its GPUs and network cards is not followed step by step.
///
/// Events of one instant are processed together. Then ready all-reduces are admitted, least remaining service first.
/// Then free resources are assigned.
class Iterations {
 public:
  struct Place {
    std::int32_t node, gpu;
  };
  struct Start {
    std::int32_t job = 0;
    std::int32_t rank = 0;    ///< position in the trace, for ties
    std::int64_t left = 0;    ///< work, > 0
    TimeUs working_from = 0;  ///< at least now
    const Costs* costs = nullptr;
    std::span<const Place> places;  ///< one worker each
  };

  /// @param gpus  [nodes] number of GPU indices of a node, from 0
  Iterations(const NetworkCost& cost, const IterationRules& rules, std::span<const std::int32_t> gpus);

  void start(const Start& start, IterationForm form, TimeUs now);
  /// Stops a job at its last whole iteration and releases its GPUs, unless it `stays`, when it holds them idle.
  /// @returns what it did since its start or last stop.
  Executed stop(std::int32_t job, TimeUs now, bool stays = false);
  /// Work of whole iterations since it started.
  std::int64_t done(std::int32_t job, TimeUs now) const;
  /// GPUs that are in use.
  std::int64_t gpus_in_use() const { return in_use_; }

  /// Simulates until `limit`, or until the first instant at which a job has finished its work (`ended`).
  /// @param interrupted  Called regularly; true: stop at the current instant.
  /// @returns that instant; kNever: no more events, and `limit` is kNever.
  /// @throws InvalidArgument where time would overflow.
  TimeUs run_until(TimeUs now, TimeUs limit, const std::function<bool()>& interrupted);
  /// Jobs in the order of the trace; the caller must stop them.
  const std::vector<std::int32_t>& ended() const { return ended_; }

 private:
  enum class Phase : std::uint8_t { kNone, kPaying, kAlone, kTogether, kWaitsForCards, kExchanges, kSaving, kOver };
  struct Worker {
    std::int32_t gpu = 0;
    std::int32_t stage = 0;
    TimeUs ready_since = 0;
    enum class State : std::uint8_t { kOff, kReady, kOn } state = State::kOff;
  };
  struct Exec {
    IterationForm form;
    std::vector<Worker> workers;
    std::vector<std::int32_t> nodes;
    std::int32_t rank = 0;
    std::int64_t left = 0, done = 0, saved = 0;
    TimeUs every_us = 0, save_us = 0, since_save = 0;
    TimeUs begun = 0;             // start of this iteration, or of the first one alone
    std::int64_t until_save = 0;  // number of iterations alone
    std::int32_t at_barrier = 0;
    Phase phase = Phase::kNone;
    std::uint64_t run = 0;  // events of an earlier run are void
    __int128 had = 0, had_at_save = 0;
    Executed out;

    bool networked() const { return form.bytes > 0 && nodes.size() > 1; }
    std::int64_t work() const { return std::min(form.step, left - done); }  // Work of this iteration.
  };
  struct Gpu {
    std::vector<std::pair<std::int32_t, std::int32_t>> hosted;  // (job, worker)
    std::uint32_t busy = 0;                                     // resources
    std::int32_t runs = -1;                                     // job whose stage has exclusive use of it
    TimeUs since = 0;                                           // its time is attributed until then
    bool dirty = false;
  };
  struct Event {
    TimeUs at;
    enum class What : std::uint8_t { kBegin, kAlone, kStage, kExchanged, kSaved } what;
    std::int32_t rank, job, worker;
    std::uint64_t run;
    bool operator>(const Event& other) const {
      return std::tie(at, what, rank, worker) > std::tie(other.at, other.what, other.rank, other.worker);
    }
  };
  struct Solo {
    std::int64_t iterations, work;
    TimeUs compute, rest;  // computing of these; time since the last one ended
  };

  bool stale(const Event& event) const;
  void expect(TimeUs when, Event::What what, std::int32_t job, std::int32_t worker = 0);
  void happen(const Event& event);
  void foretell();
  void settle_instant();
  void admit();
  void dispatch_workers(std::int32_t gpu);
  bool alone(const Exec& job) const;
  TimeUs iteration_us(const Exec& job, std::int64_t work) const;
  Solo solo_at(const Exec& job, TimeUs now) const;
  void take_in(Exec& job, const Solo& solo);
  void next_iteration(std::int32_t job);
  void begin_together(std::int32_t job, TimeUs begun);
  void advance(std::int32_t job, std::int32_t worker);
  void finish_iteration(std::int32_t job);
  void go_together(std::int32_t job);
  void save_or_go_on(std::int32_t job);
  void settle(Gpu& gpu);
  void settle(const Exec& job);
  void mark(std::int32_t gpu);
  void take(std::int32_t job, Worker& worker);
  void leave(std::int32_t job, Worker& worker);
  __int128 service(const Exec& job) const;

  NetworkCost cost_;
  IterationRules rules_;
  std::vector<std::int32_t> gpu_begin_;  // [nodes + 1]
  std::vector<Gpu> gpus_;
  std::vector<std::int32_t> networked_;  // [nodes] number of jobs that use its card
  std::vector<Exec> jobs_;               // [jobs]
  AllReduces cards_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<std::int32_t> waiting_;  // jobs that wait for cards
  std::vector<std::int32_t> dirty_;    // GPUs whose resources or jobs have changed
  std::vector<std::int32_t> ended_;
  TimeUs now_ = 0;
  std::int64_t in_use_ = 0;
  bool cards_changed_ = false;
};

}  // namespace berth::sim
