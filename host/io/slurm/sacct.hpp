#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "host/io/files/import_notes.hpp"
#include "host/io/slurm/slurm_tres.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/trace_builder.hpp"

/// Jobs of Slurm's accounting, from the text and the JSON output of sacct.
namespace berth::io {

/// One record of a job.
struct SacctJob {
  std::string id, user, partition, state;
  TimeUs submit_us = -1, start_us = -1, end_us = -1;  ///< since 1970-01-01, in the zone of the file; -1: not known
  TimeUs run_us = -1;                                 ///< as counted by Slurm, without suspensions; -1: end - start
  TimeUs time_limit_us = kNever;
  Tres allocated;
};

/// Collects the records of one file: GPU jobs that ended, with the last run of each.
class SacctTrace {
 public:
  explicit SacctTrace(const std::string& file) : trace_("sacct", file) {}

  /// @throws InputError at `file`:`line` for an unknown state, for a second and different record of the same run, and
  ///         as TraceBuilder::add.
  void add(SacctJob job, const std::string& file, int line);
  void drop(std::string_view cause) { trace_.drop(cause); }
  ImportNotes& odd() { return odd_; }
  Trace finish(std::string_view zone);

 private:
  bool set_run_time(const SacctJob& job, int line, TraceJob& out);

  TraceBuilder trace_;
  ImportNotes odd_;  // rows that contradict themselves
  std::int64_t records_ = 0, without_gpus_ = 0, components_ = 0;
};

/// "12.batch" is a step of job 12.
bool is_job_step(std::string_view id);

Trace read_sacct_json(const std::string& text, const std::string& name);

}  // namespace berth::io
