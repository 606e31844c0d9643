#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>

#include "host/sim/base/job_source.hpp"
#include "host/sim/base/random.hpp"

namespace berth::test {

/// Jobs of one GPU that arrive as a Poisson process and are discarded when they have ended: the arrivals of M/G/c.
class PoissonJobs final : public sim::JobSource {
 public:
  using Service = std::function<TimeUs(sim::ItemDraws&)>;

  PoissonJobs(std::int64_t jobs, TimeUs mean_between_us, Service service, std::uint64_t seed)
      : jobs_(jobs), between_us_(mean_between_us), service_(std::move(service)), seed_(seed) {}

  const TraceJob* next() override {
    if (made_ == jobs_) return nullptr;
    sim::ItemDraws draws(seed_, sim::RandomStream::kJob, static_cast<std::uint64_t>(made_));
    at_us_ += draws.exponential(between_us_);
    TraceJob& job = rooms_.take();
    job.id = fmt::format("{:08}", made_++);
    job.submit_us = at_us_;
    job.run_us = std::max<TimeUs>(1, service_(draws));
    return &job;
  }
  void release(const TraceJob& job) override { rooms_.release(job); }

 private:
  std::int64_t jobs_, made_ = 0;
  TimeUs between_us_, at_us_ = 0;
  Service service_;
  std::uint64_t seed_;
  sim::JobRooms rooms_;
};

}  // namespace berth::test
