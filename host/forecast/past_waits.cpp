#include "host/forecast/past_waits.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "host/core/base/civil_time.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/slurm/slurm_tres.hpp"

namespace berth::forecasts {
namespace {

// A local time, or seconds since 1970.
std::optional<TimeUs> instant_at(const io::CsvReader& row, int column) {
  const std::string_view text = row.text(column);
  if (const auto seconds = core::parse_whole(text, kMaxTimeUs / kSecond)) return *seconds * kSecond;
  return core::parse_civil(text);
}

}  // namespace

PastWaits read_past_waits(const std::string& path) {
  PastWaits waits;
  auto input = std::make_unique<io::GzipInput>(path);
  if (input->peek() == '{') return waits;
  io::CsvReader row(std::move(input), {'|', false});
  const int id = row.find("JobID") >= 0 ? row.find("JobID") : row.find("JobIDRaw");
  const int state = row.find("State"), submit = row.find("Submit"), start = row.find("Start"), end = row.find("End");
  const int asked = row.find("ReqTRES");
  if (id < 0 || state < 0 || submit < 0 || start < 0 || end < 0) return waits;  // the importer says what is missing
  while (row.next()) {
    const auto submitted = instant_at(row, submit), started = instant_at(row, start), ended = instant_at(row, end);
    if (!submitted) continue;
    if (started) {
      waits.wait_us[std::string(row.text(id))] = std::max<TimeUs>(0, *started - *submitted);
      continue;
    }
    const bool cancelled = row.text(state).substr(0, 9) == "CANCELLED";
    if (!cancelled || !ended || *ended <= *submitted || asked < 0) continue;
    io::Tres tres;
    if (!io::parse_tres(row.text(asked), tres).empty() || tres.gpus <= 0) continue;
    waits.withdrawn.push_back(
        {*submitted, *ended - *submitted, static_cast<std::int32_t>(std::min<std::int64_t>(tres.gpus, kMaxGpusPerJob))});
  }
  return waits;
}

JobHistory history_with(const PastWaits& waits, const Trace& trace, const ClusterState& state) {
  std::vector<TimeUs> starts(trace.jobs.size(), kNever);
  for (std::size_t j = 0; j < starts.size(); ++j) {
    const auto found = waits.wait_us.find(trace.jobs[j].id);
    if (found != waits.wait_us.end()) starts[j] = trace.jobs[j].submit_us + found->second;
  }
  TimeUs shift = 0;
  JobHistory history = history_of_starts(trace, state, starts, shift);
  const TimeUs origin = core::parse_civil(std::string_view(trace.origin_iso).substr(0, 19)).value_or(0);
  for (const PastWaits::Withdrawn& one : waits.withdrawn) {
    PastJob job;
    job.gpus = one.gpus;
    job.submit_us = one.submit_us - origin + shift;
    job.withdrawn_after_us = one.waited_us;
    if (job.submit_us + one.waited_us <= state.now()) history.jobs.push_back(std::move(job));
  }
  std::stable_sort(history.jobs.begin(), history.jobs.end(), [](const PastJob& a, const PastJob& b) { return a.submit_us < b.submit_us; });
  return history;
}

}  // namespace berth::forecasts
