#pragma once

#include <string>
#include <utility>
#include <vector>

#include "berth/trace.hpp"

namespace berth::sim {

inline TraceJob job(const std::string& id, std::int64_t submit_s, std::int64_t run_s, std::int32_t gpus, const std::string& user = "") {
  TraceJob one;
  one.id = id;
  one.user = user;
  one.submit_us = submit_s * kSecond;
  one.run_us = run_s * kSecond;
  one.gpus = gpus;
  return one;
}

inline Trace trace_of(std::vector<TraceJob> jobs) {
  Trace trace;
  trace.name = "t";
  trace.jobs = std::move(jobs);
  return trace;
}

}  // namespace berth::sim
