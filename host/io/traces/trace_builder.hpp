#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "berth/trace.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/job_ids.hpp"

namespace berth::io {

/// Limit at which the publishers of the Helios and PAI samples cut run times.
inline constexpr TimeUs kClamp48h = 172'800 * kSecond;

/// Note for a file without jobs.
inline constexpr const char* kNoJob = "there is no job in it";

/// The file name without folders, used as the source of a trace.
std::string base_name(const std::string& path);

/// The problem with a job's texts (too long, or with control characters) or its phases; empty when there is none.
std::string text_problem(const TraceJob& job);

/// Collects the jobs of one trace and counts dropped rows.
class TraceBuilder {
 public:
  /// @param what  The trace's name, for example "helios-venus".
  TraceBuilder(std::string name, const std::string& file);

  /// Keeps the job, or drops it when `gpus` or `run_us` is not positive. @returns whether it was kept.
  /// @throws InputError at `file`:`line` for an empty or repeated id, a text that is no name, a time beyond kMaxTimeUs, or more than
  ///         kMaxJobs jobs.
  bool add(TraceJob job, const std::string& file, int line);
  bool add(TraceJob job, const CsvReader& row) { return add(std::move(job), row.file(), row.line()); }
  void drop(std::string_view cause);
  void note(std::string text) { trace_.notes.push_back(std::move(text)); }
  /// Marks jobs whose run time equals the 48 h limit, and notes their number.
  void mark_clamped();

  std::vector<TraceJob>& jobs() { return trace_.jobs; }
  /// The kept job of that id, or null.
  TraceJob* find(std::string_view id);

  /// Makes the earliest submission time 0. Until then `submit_us` counts from 1970-01-01, local to the trace.
  /// @throws InputError when the submissions span more than kMaxTimeUs.
  void start_at_first_submission();
  /// @param origin_iso  Instant of time 0; empty: not known.
  Trace finish(const std::string& origin_iso);
  Trace finish() { return finish(origin_iso_); }

 private:
  Trace trace_;
  std::string file_;
  std::string origin_iso_;
  std::map<std::string, std::int64_t, std::less<>> dropped_;
  JobIds ids_;
  std::unordered_set<std::string> dropped_ids_;
};

}  // namespace berth::io
