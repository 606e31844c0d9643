#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include "host/cli/sweep/sweep_launch.hpp"
#include "host/cli/sweep/sweep_run.hpp"
#include "host/cli/sweep/sweep_wire.hpp"

namespace berth::cli {

/// The other processes of a sweep, as its first process sees them. A worker whose connection ends is lost, and so are its runs.
class SweepWorkers {
 public:
  /// Listens where `launch` has several processes. @throws EnvironmentError.
  SweepWorkers(const SweepPlan& plan, const std::string& store, const SweepLaunch& launch);
  ~SweepWorkers();
  SweepWorkers(const SweepWorkers&) = delete;
  SweepWorkers& operator=(const SweepWorkers&) = delete;

  /// What to wait for.
  void add_to(std::vector<pollfd>& waits) const;
  /// Takes what has come: results, and the runs of workers that were lost.
  void take(std::vector<SweepDone>& done, std::vector<SweepTask>& lost);
  bool has_room() const;
  /// Gives a run to the worker that has the fewest.
  void give(const SweepTask& task);
  std::int64_t running() const;
  /// Whether every process has come, or has had the time to.
  bool all_came() const;
  std::int64_t lost() const { return lost_; }
  /// All runs are done.
  void end();
  /// There are no runs to make, as something is wrong that the first process reports.
  void refuse_all();

 private:
  struct Worker {
    explicit Worker(int fd) : socket(fd) {}
    WireSocket socket;
    std::chrono::steady_clock::time_point came = std::chrono::steady_clock::now();
    std::size_t room = 0;  // 0: it has not said hello
    std::vector<SweepTask> tasks;
    bool over = false;
  };

  void greet(Worker& worker, const std::string& body);
  void take_message(Worker& worker, const WireMessage& message, std::vector<SweepDone>& done);

  const SweepPlan& plan_;
  std::string file_;
  SweepMeeting meeting_;
  std::int64_t others_;
  int listening_ = -1;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<Worker>> workers_;
  std::int64_t came_ = 0, lost_ = 0;
};

/// The work of another process than the first: makes the runs that it is given, until the first has no more. @returns the exit code
int work_for_sweep(const SweepPlan& plan, const std::string& store, const SweepLaunch& launch, int threads);

}  // namespace berth::cli
