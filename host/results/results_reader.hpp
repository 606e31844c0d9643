#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/results/database.hpp"
#include "host/results/results_file.hpp"
#include "host/sim/measures/series.hpp"

namespace berth::results {

/// A row of `runs`. Texts are valid UTF-8, without control characters.
class StoredRun {
 public:
  std::string file;
  std::int64_t id = 0;
  std::map<std::string, std::string, std::less<>> texts;
  std::map<std::string, std::optional<std::int64_t>, std::less<>> numbers;
  const std::string& text(std::string_view column) const;
  /// 0 where the column is null.
  std::int64_t number(std::string_view column) const;
};

struct StoredTimes {
  std::vector<std::int64_t> jct_us, queue_us;  ///< of completed jobs, ascending
  std::vector<std::int64_t> late_us;           ///< end - deadline of completed jobs that have one, ascending; below 0: in time
};

/// A row of `deadlines`, with that of `deadline_steps`.
struct StoredDeadlines {
  std::int64_t value = 0, value_met = 0;
  std::int64_t promised = 0, promised_missed = 0, warned = 0, warned_met = 0, refused = 0;
  std::int64_t best_effort = 0, best_effort_completed = 0;
  std::int64_t met_later = 0;
};

/// A row of `jobs`.
struct StoredJob {
  std::string id;
  std::int64_t gpus = 0, submit_us = 0;
  TimeUs start_us = kNever, end_us = kNever;
  std::uint8_t outcome = 0;  ///< of sim::kEndNames
};

/// A row of `stays`.
struct StoredStay {
  std::string job;
  std::int64_t node = 0, share_ppm = 0;
  std::uint64_t gpus = 0;
  std::int64_t from_us = 0, until_us = 0;
};

/// Reads a `berth.results.v1` file, and changes nothing. All that is read is of one instant, also while runs are added.
class ResultsReader {
 public:
  /// @throws InputError when it is damaged, something else, or of another version; EnvironmentError when it cannot be read.
  explicit ResultsReader(const std::string& path);
  ~ResultsReader();
  ResultsReader(const ResultsReader&) = delete;
  ResultsReader& operator=(const ResultsReader&) = delete;

  std::vector<StoredRun> runs();
  StoredTimes times(std::int64_t run);
  std::optional<StoredDeadlines> deadlines(std::int64_t run);  ///< none: no job has one, or the file is from before the table
  std::int64_t job_count(std::int64_t run);
  std::vector<StoredJob> jobs(std::int64_t run);
  std::vector<sim::Sample> series(std::int64_t run);
  std::map<std::string, std::int64_t> losses(std::int64_t run);  ///< GPU-time by cause
  std::map<std::string, std::string> details(std::int64_t run);
  std::string sweep_inputs(std::int64_t run);  ///< a JSON object; empty: it is not of a sweep
  std::vector<InputFile> inputs(std::int64_t run);
  std::vector<sim::StayNode> nodes(std::int64_t run);
  std::int64_t stay_count(std::int64_t run);
  std::vector<StoredStay> stays(std::int64_t run);

 private:
  bool has_table(const std::string& name);
  void query(const std::string& sql, std::int64_t run, const std::function<void(const Statement&)>& row);

  Database database_;
};

}  // namespace berth::results
