#include "host/io/traces/trace_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/model/trace_phases.hpp"
#include "host/io/files/name_problem.hpp"

namespace berth::io {

std::string base_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path == "-" ? "standard input" : slash == std::string::npos ? path : path.substr(slash + 1);
}

std::string text_problem(const TraceJob& job) {
  for (const std::string* text :
       {&job.id, &job.user, &job.virtual_cluster, &job.queue, &job.model, &job.status, &job.gpu_type, &job.profile}) {
    std::string problem = name_problem(*text);
    if (!problem.empty()) return problem;
  }
  for (const TracePhase& phase : job.phases) {
    std::string problem = name_problem(phase.profile);
    if (!problem.empty()) return problem;
  }
  return core::phases_problem(job);
}

TraceBuilder::TraceBuilder(std::string name, const std::string& file) : file_(file) {
  trace_.source = name + ": " + base_name(file);
  trace_.name = std::move(name);
}

bool TraceBuilder::add(TraceJob job, const std::string& file, int line) {
  if (job.id.empty()) throw InputError(file, "", line, "a job without id");
  const std::string problem = text_problem(job);
  if (!problem.empty()) throw InputError(file, "", line, problem);
  if (job.run_us > kMaxTimeUs) throw InputError(file, "", line, fmt::format("job '{}' runs longer than can be counted", job.id));
  const bool kept = job.gpus > 0 && job.run_us > 0;
  if (ids_.find(job.id, trace_.jobs) >= 0 || dropped_ids_.count(job.id) != 0 || (!kept && !dropped_ids_.insert(job.id).second)) {
    throw InputError(file, "", line, fmt::format("job id '{}' occurs twice", job.id));
  }
  if (!kept) {
    drop(job.gpus <= 0 ? "gpus <= 0" : "run time <= 0");
    return false;
  }
  if (trace_.jobs.size() == static_cast<std::size_t>(kMaxJobs))
    throw InputError(file, "", line, fmt::format("more than {} jobs", kMaxJobs));
  trace_.jobs.push_back(std::move(job));
  ids_.add_last(trace_.jobs);
  return true;
}

TraceJob* TraceBuilder::find(std::string_view id) {
  const std::int64_t at = ids_.find(id, trace_.jobs);
  return at < 0 ? nullptr : &trace_.jobs[static_cast<std::size_t>(at)];
}

void TraceBuilder::drop(std::string_view cause) {
  const auto found = dropped_.find(cause);
  if (found == dropped_.end()) {
    dropped_.emplace(cause, 1);
  } else {
    ++found->second;
  }
}

void TraceBuilder::mark_clamped() {
  std::int64_t marked = 0;
  for (TraceJob& job : trace_.jobs) {
    job.clamped = job.run_us == kClamp48h;
    marked += job.clamped ? 1 : 0;
  }
  note(fmt::format("run times were cut at 48 h by the publisher; {} jobs stand at the limit and are marked 'clamped'", marked));
}

void TraceBuilder::start_at_first_submission() {
  if (trace_.jobs.empty()) return;
  const auto first = std::min_element(trace_.jobs.begin(), trace_.jobs.end(),
                                      [](const TraceJob& a, const TraceJob& b) { return a.submit_us < b.submit_us; });
  const TimeUs origin = first->submit_us;
  for (TraceJob& job : trace_.jobs) {
    job.submit_us -= origin;
    if (job.submit_us > kMaxTimeUs) {
      throw InputError(file_, "", 0,
                       fmt::format("job '{}' is submitted later than can be counted from {}", job.id, core::format_civil(origin)));
    }
  }
  origin_iso_ = core::format_civil(origin);
}

Trace TraceBuilder::finish(const std::string& origin_iso) {
  trace_.origin_iso = origin_iso;
  trace_.dropped.assign(dropped_.begin(), dropped_.end());
  if (trace_.jobs.empty() && dropped_.empty()) note(kNoJob);
  std::sort(trace_.jobs.begin(), trace_.jobs.end(),
            [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); });
  return std::move(trace_);
}

}  // namespace berth::io
