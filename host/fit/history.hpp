#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/policy/base/progress_model.hpp"

namespace berth::fit {

/// One epoch of a job that has finished.
struct HistoryRow {
  std::int32_t job = 0;  // index in History::jobs
  policy::ProgressReport report;
  std::int64_t samples_done = 0, samples_total = 0;  // 0 < done < total
};

struct History {
  std::vector<std::string> jobs;  // with a row or without
  std::vector<HistoryRow> rows;
  std::int64_t skipped = 0;  // rows without information: nothing was done yet, or all
};

/// Reads a CSV file, plain or gzip ("-": standard input), with the columns job, dataset_size, initial_loss, loss,
/// accuracy, samples_done and samples_total in any order; other columns are ignored. Empty loss or accuracy: not
/// reported.
/// @throws InputError with file and line for a missing column, an impossible number, a job with two totals, and where
/// no row has information.
History read_history(const std::string& path);

}  // namespace berth::fit
