#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/plan.hpp"
#include "berth/state.hpp"
#include "tests/property/live_loop.hpp"

/// What comes between decisions of a loop, where plans are applied other than as they are.
namespace berth::test {

// Some of what a plan starts ends at once, and some of what it displaces runs on. Or only some of that stops.
inline void apply_plans_in_part(Loop& loop, const std::string& where) {
  for (std::int32_t i = loop.random.within(2, 4); i > 0; --i) {
    if (loop.random.percent(50)) loop.go_on();
    const Snapshot before = loop.state.snapshot();
    loop.decide(where);
    if (::testing::Test::HasFatalFailure()) return;
    std::vector<std::pair<std::string, Action>> changed;
    for (const Decision& d : loop.plan.decisions) changed.emplace_back(loop.state.job(d.job)->id, d.action);
    const bool starts = loop.random.percent(60);
    if (starts) commit(loop.state, loop.plan);
    for (const auto& [id, action] : changed) {
      if (!loop.random.percent(40)) continue;
      if (action == Action::kPreempt && starts) {
        const auto job = std::find_if(before.jobs.begin(), before.jobs.end(), [of = id](const Job& one) { return one.id == of; });
        loop.apply(delta::StartJob{id, job->allocation});
      } else if (action == Action::kPreempt || (action == Action::kStart && starts)) {
        loop.random.percent(50) ? loop.apply(delta::StopJob{id}) : loop.apply(delta::RemoveJob{id, ""});
      }
    }
  }
  loop.decide(where + ", after all");
}

/// Of those that run on a node of this one.
inline std::vector<std::string> jobs_beside(const Snapshot& s, const Job& job) {
  std::vector<std::string> ids;
  for (const Job& other : s.jobs) {
    const bool beside = std::any_of(other.allocation.entries.begin(), other.allocation.entries.end(), [&](const AllocationEntry& e) {
      return std::any_of(job.allocation.entries.begin(), job.allocation.entries.end(),
                         [&](const AllocationEntry& own) { return own.node == e.node; });
    });
    if (beside && other.id != job.id) ids.push_back(other.id);
  }
  return ids;
}

// A job that has just started, and one that runs beside it or anywhere. The other one may not be displaced any more.
inline void exchange_what_two_jobs_need(Loop& loop, const std::string& where) {
  loop.decide(where);
  if (::testing::Test::HasFatalFailure()) return;
  std::vector<std::string> started;
  for (const Decision& d : loop.plan.decisions) {
    if (d.action == Action::kStart) started.push_back(loop.state.job(d.job)->id);
  }
  commit(loop.state, loop.plan);
  for (const std::string& first : started) {
    const Snapshot s = loop.state.snapshot();
    Job a = *loop.state.job(loop.state.find_job(first));
    const std::vector<std::string> beside = jobs_beside(s, a);
    Job b = *loop.state.job(
        loop.state.find_job(beside.empty() || loop.random.percent(30) ? loop.random.of(s.jobs).id : loop.random.of(beside)));
    if (a.id == b.id) continue;
    std::swap(a.constraints.cpu_milli_per_gpu, b.constraints.cpu_milli_per_gpu);
    std::swap(a.constraints.memory_bytes_per_gpu, b.constraints.memory_bytes_per_gpu);
    if (loop.random.percent(50)) std::swap(a.queue, b.queue);
    if (loop.random.percent(50)) b.preemption.preemptible = false;
    if (!loop.apply(std::vector<Delta>{delta::PutJob{b}, delta::PutJob{a}}))
      loop.apply(std::vector<Delta>{delta::PutJob{a}, delta::PutJob{b}});
  }
  loop.decide(where + ", exchanged");
}

}  // namespace berth::test
