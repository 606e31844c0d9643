#include "host/cli/sweep/sweep_serve.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

#include "berth/error.hpp"
#include "host/cli/base/interrupt.hpp"
#include "host/cli/sweep/sweep_pool.hpp"

namespace berth::cli {
namespace {

/// Results on their way from the threads to the one that stores them.
class DoneQueue {
 public:
  DoneQueue() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_ < 0) throw EnvironmentError(fmt::format("cannot wait for threads: {}", std::generic_category().message(errno)));
  }
  ~DoneQueue() { ::close(event_); }
  DoneQueue(const DoneQueue&) = delete;
  DoneQueue& operator=(const DoneQueue&) = delete;

  void add(SweepDone done) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      done_.push_back(std::move(done));
    }
    const std::uint64_t one = 1;
    (void)!::write(event_, &one, sizeof one);
  }
  std::vector<SweepDone> take() {
    std::uint64_t ignored = 0;
    (void)!::read(event_, &ignored, sizeof ignored);
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::exchange(done_, {});
  }
  int event() const { return event_; }

 private:
  int event_;
  std::mutex mutex_;
  std::vector<SweepDone> done_;
};

/// Runs whose workers were lost.
class LostRuns {
 public:
  explicit LostRuns(SweepState& state) : state_(state) {}

  // A run that takes its process along each time must not take them all.
  void add(const SweepTask& task) {
    constexpr int kMostLosses = 3;
    if (++losses_[{task.cell, task.seed}] < kMostLosses) {
      state_.put_back(task);
    } else {
      state_.failed(task, fmt::format("{} processes were lost that made it", kMostLosses));
    }
  }

 private:
  SweepState& state_;
  std::map<std::pair<std::size_t, std::int64_t>, int> losses_;
};

}  // namespace

void serve_sweep(const SweepPlan& plan, SweepState& state, results::SweepStore& store, SweepInputs& inputs, int threads,
                 SweepWorkers& workers, const SweepShow& show) {
  constexpr int kWakeMs = 200;  // a signal may come right before the wait
  DoneQueue done;
  LostRuns lost_runs(state);
  SweepPool pool(plan, inputs, threads, [&](SweepDone one) { done.add(std::move(one)); });
  int running = 0;
  while (remembered_signal() == 0) {
    // One more than there are threads, so that none waits for the next run.
    while (running <= threads && state.has_tasks()) {
      pool.add(*state.next());
      ++running;
    }
    while (state.has_tasks() && workers.has_room()) workers.give(*state.next());
    if (running == 0 && workers.running() == 0 && !state.has_tasks() && workers.all_came()) break;
    show(state);
    std::vector<pollfd> waits{{done.event(), POLLIN, 0}};
    workers.add_to(waits);
    (void)::poll(waits.data(), waits.size(), kWakeMs);
    std::vector<SweepDone> all = done.take();
    running -= static_cast<int>(all.size());
    std::vector<SweepTask> lost;
    workers.take(all, lost);
    for (const SweepTask& task : lost) lost_runs.add(task);
    for (SweepDone& one : all) {
      if (one.interrupted) continue;
      if (!one.problem.empty()) {
        state.failed(one.task, one.problem);
      } else if (one.packed.empty()) {
        state.stored(one.task, store.add(one.entry, one.run));
      } else {
        try {
          state.stored(one.task, store.add_packed(one.entry.key, one.packed));
        } catch (const InputError&) {  // the worker sent rubbish
          lost_runs.add(one.task);
        }
      }
    }
  }
  workers.end();
}

}  // namespace berth::cli
