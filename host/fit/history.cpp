#include "host/fit/history.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <unordered_map>

#include "berth/error.hpp"
#include "berth/units.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/files/csv.hpp"

namespace berth::fit {
namespace {

constexpr std::int64_t kEpoch = 1'000'000;

struct HistoryFileColumns {
  explicit HistoryFileColumns(const io::CsvReader& csv)
      : job(csv.column("job")),
        dataset_size(csv.column("dataset_size")),
        initial_loss(csv.column("initial_loss")),
        loss(csv.column("loss")),
        accuracy(csv.column("accuracy")),
        samples_done(csv.column("samples_done")),
        samples_total(csv.column("samples_total")) {}

  int job, dataset_size, initial_loss, loss, accuracy, samples_done, samples_total;
};

// The limit of a snapshot.
constexpr std::int64_t kMostSamples = 999'999'999'999'999'999;
static_assert(kMostSamples <= kScoreCeiling);

std::int64_t micro(const io::CsvReader& csv, int column) { return csv.text(column).empty() ? 0 : csv.measured(column, 6); }

HistoryRow read_row(const io::CsvReader& csv, const HistoryFileColumns& column) {
  HistoryRow row;
  row.report.dataset_size = csv.integer(column.dataset_size, 1, kMostSamples);
  row.report.initial_loss_micro = micro(csv, column.initial_loss);
  row.report.loss_micro = micro(csv, column.loss);
  row.report.accuracy_ppm = micro(csv, column.accuracy);
  if (row.report.accuracy_ppm > 1'000'000) csv.refuse(column.accuracy, "a part from 0 to 1");
  row.samples_total = csv.integer(column.samples_total, 1, kMostSamples);
  row.samples_done = csv.integer(column.samples_done, 0, row.samples_total);
  row.report.epochs = core::mul_div(row.samples_done, kEpoch, row.report.dataset_size);
  return row;
}

}  // namespace

History read_history(const std::string& path) {
  io::CsvReader csv(path);
  const HistoryFileColumns column(csv);
  History history;
  std::unordered_map<std::string, std::int32_t> known;
  std::vector<std::int64_t> total;
  while (csv.next()) {
    const std::string name(csv.text(column.job));
    if (name.empty()) csv.refuse(column.job, "the job's name");
    HistoryRow row = read_row(csv, column);
    const auto [job, is_new] = known.try_emplace(name, static_cast<std::int32_t>(known.size()));
    if (is_new) {
      history.jobs.push_back(name);
      total.push_back(row.samples_total);
    }
    row.job = job->second;
    const std::int64_t expected = total[static_cast<std::size_t>(row.job)];
    if (row.samples_total != expected) csv.refuse(column.samples_total, fmt::format("{} as before for this job", expected));
    if (row.report.epochs > 0 && row.samples_done < row.samples_total) {
      history.rows.push_back(row);
    } else {
      ++history.skipped;
    }
  }
  if (history.rows.empty()) throw InputError(csv.file(), "", 0, "no row with 0 < samples_done < samples_total: there is nothing to fit");
  return history;
}

}  // namespace berth::fit
