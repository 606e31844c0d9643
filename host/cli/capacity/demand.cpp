#include "host/cli/capacity/demand.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace berth::cli {

GpuDemand demand_of(sim::JobSource& jobs) {
  using End = std::pair<TimeUs, std::int64_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> running;
  GpuDemand demand;
  TimeUs first = 0, last = 0;
  std::int64_t now = 0;
  double gpu_us = 0;
  while (const TraceJob* job = jobs.next()) {
    if (demand.jobs++ == 0) first = job->submit_us;
    last = job->submit_us;
    for (; !running.empty() && running.top().first <= last; running.pop()) now -= running.top().second;
    now += job->gpus;
    running.emplace(last + std::max<TimeUs>(job->run_us, 0), job->gpus);
    gpu_us += static_cast<double>(job->gpus) * static_cast<double>(job->run_us);
    demand.peak = std::max(demand.peak, now);
    demand.largest = std::max<std::int64_t>(demand.largest, job->gpus);
    jobs.release(*job);
  }
  if (last > first) demand.mean = gpu_us / static_cast<double>(last - first);
  return demand;
}

}  // namespace berth::cli
