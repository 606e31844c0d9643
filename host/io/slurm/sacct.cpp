#include "host/io/slurm/sacct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "berth/error.hpp"
#include "host/core/base/violations.hpp"

namespace berth::io {
namespace {

constexpr std::array<std::string_view, 9> kEndedStates{"COMPLETED",     "CANCELLED", "FAILED",    "TIMEOUT", "NODE_FAIL",
                                                       "OUT_OF_MEMORY", "PREEMPTED", "BOOT_FAIL", "DEADLINE"};
constexpr std::array<std::string_view, 16> kOpenStates{
    "PENDING",   "RUNNING",   "SUSPENDED", "REQUEUED",     "RESIZING",    "COMPLETING",   "CONFIGURING",   "STOPPED",
    "STAGE_OUT", "SIGNALING", "REVOKED",   "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD", "LAUNCH_FAILED"};

template <std::size_t N>
bool is_one_of(std::string_view state, const std::array<std::string_view, N>& states) {
  return std::find(states.begin(), states.end(), state) != states.end();
}

}  // namespace

bool is_job_step(std::string_view id) { return id.find('.') != id.npos; }

// Slurm's own run time is preferred to its instants, which contradict each other where a clock was set back.
bool SacctTrace::set_run_time(const SacctJob& job, int line, TraceJob& out) {
  const auto odd = [&](const char* what) { odd_.count("row", what, fmt::format("job {}, line {}", job.id, line)); };
  const bool backwards = job.end_us >= 0 && job.end_us < job.start_us;
  if (job.run_us < 0 && backwards) {
    odd(" whose end lies before the start, without elapsed time: left out");
    trace_.drop("ends before it starts");
    return false;
  }
  out.run_us = job.run_us >= 0 ? job.run_us : job.end_us - job.start_us;
  if (out.run_us <= 0) {
    trace_.drop("run time <= 0");
    return false;
  }
  if (backwards)
    odd(" whose end lies before the start: the elapsed time is taken");
  else if (job.end_us >= 0 && out.run_us > job.end_us - job.start_us)
    odd(" whose elapsed time is longer than from start to end: it is taken");
  if (job.start_us < job.submit_us) odd(" whose start lies before the submission");
  if (job.allocated.gpus_differ)
    odd(" whose GPUs are of several types, or not all of the type that is named: the larger count is taken, of any type");
  return true;
}

void SacctTrace::add(SacctJob job, const std::string& file, int line) {
  ++records_;
  const std::string_view state = std::string_view(job.state).substr(0, job.state.find(' '));  // "CANCELLED by 1001"
  const bool ended = is_one_of(state, kEndedStates);
  if (!ended && !is_one_of(state, kOpenStates)) {
    throw InputError(file, "", line, fmt::format("job '{}' has the state '{}', which Slurm does not have", job.id, state.substr(0, 60)));
  }
  if (job.allocated.gpus <= 0) {
    ++without_gpus_;
    return trace_.drop("no GPUs allocated");
  }
  if (!ended) return trace_.drop(fmt::format("state {}", state));
  if (job.submit_us < 0) return trace_.drop("no submission time");
  if (job.start_us < 0) return trace_.drop("never started");
  if (job.run_us < 0 && job.end_us < 0) return trace_.drop("no end time");
  TraceJob out;
  if (!set_run_time(job, line, out)) return;
  if (job.allocated.gpus > kMaxGpusPerJob)
    throw InputError(file, "", line, fmt::format("job '{}' has more than {} GPUs", job.id, kMaxGpusPerJob));
  out.id = std::move(job.id);
  out.user = std::move(job.user);
  out.virtual_cluster = std::move(job.partition);
  out.status = state;
  std::transform(out.status.begin(), out.status.end(), out.status.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  out.gpu_type = std::move(job.allocated.gpu_type);
  out.submit_us = job.submit_us;
  out.time_limit_us = job.time_limit_us;
  out.gpus = static_cast<std::int32_t>(job.allocated.gpus);
  out.cpu_milli = std::clamp<std::int64_t>(job.allocated.cpus, 0, kMaxBytes / 1'000) * 1'000;
  out.memory_bytes = std::max<std::int64_t>(job.allocated.memory_bytes, 0);
  components_ += out.id.find('+') != std::string::npos ? 1 : 0;
  if (TraceJob* earlier = trace_.find(out.id)) {
    if (out == *earlier) return trace_.drop("the same job again");  // start and end may differ, because a trace has only the run time
    if (out.submit_us == earlier->submit_us) {
      throw InputError(file, "", line, fmt::format("duplicate job '{}' with the same submission but other values", out.id));
    }
    trace_.drop("an earlier run of a requeued job");
    if (out.submit_us > earlier->submit_us) *earlier = std::move(out);
    return;
  }
  trace_.add(std::move(out), file, line);
}

Trace SacctTrace::finish(std::string_view zone) {
  trace_.note("run time is what Slurm counts, without suspensions; of a requeued job it is that of the last one that ran");
  trace_.note(fmt::format("time 0 is the first submission kept; times are {}", zone));
  trace_.note("virtual_cluster is the partition; cores and memory are those allocated");
  if (components_ > 0) trace_.note(core::counted(components_, "component") + " of heterogeneous jobs taken for jobs of their own");
  if (records_ > 0 && records_ == without_gpus_)
    trace_.note("no record has GPUs: Slurm accounts for them only with AccountingStorageTRES=gres/gpu");
  for (std::string& line : odd_.lines()) trace_.note(std::move(line));
  trace_.start_at_first_submission();
  return trace_.finish();
}

}  // namespace berth::io
