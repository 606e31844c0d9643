#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "host/core/base/violations.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/testbed_cluster.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

/// `duration` is iterations x iteration_time, rounded to a whole second.
constexpr TimeUs kRounding = kSecond;

/// Times of submission and durations are milliseconds.
TimeUs milliseconds(const CsvReader& row, int column) { return row.signed_seconds(column) / 1'000; }

/// Muri's measurements of one model: time of an iteration, and of its stages.
class MuriProfiles {
 public:
  explicit MuriProfiles(const CsvReader& row)
      : model_(row.column("model_name")),
        batch_(row.column("batch_size")),
        iteration_(row.column("iteration_time")),
        stage_{row.column("resource_time_0"), row.column("resource_time_1"), row.column("resource_time_2")} {}

  std::int64_t iteration_ns(const CsvReader& row) const {
    const std::int64_t ns = row.measured(iteration_, 6);
    if (ns < 1 || ns > kMaxTimeUs) row.refuse(iteration_, "milliseconds above 0");
    return ns;
  }

  /// Name of the profile of the row's job.
  std::string name_of(const CsvReader& row, std::int32_t gpus) {
    Profile profile;
    profile.kind = ProfileKind::kTable;
    profile.model = row.text(model_);
    profile.unit = "steps";
    profile.points.push_back({"", gpus, 0, "", 1'000'000 * (kSecond * 1'000) / iteration_ns(row)});
    if (profile.points.front().rate == 0) row.refuse(iteration_, "milliseconds of one iteration");
    for (const int stage : stage_) profile.stage_us.push_back(row.measured(stage, 6) / 1'000);
    const std::string plain = fmt::format("{}, batch {}, {}", profile.model, row.text(batch_), core::counted(gpus, "GPU"));
    const auto [known, fresh] = names_.try_emplace({plain, profile.model, profile.points.front().rate, profile.stage_us});
    if (fresh) {
      const std::int64_t n = ++measured_[plain];  // the same model may be measured twice with different results
      known->second = n == 1 ? plain : fmt::format("{} ({})", plain, n);
      profiles_.emplace(known->second, std::move(profile));
    }
    return known->second;
  }

  std::vector<std::pair<std::string, Profile>> take() const { return {profiles_.begin(), profiles_.end()}; }

 private:
  int model_, batch_, iteration_;
  std::array<int, 3> stage_;
  std::map<std::string, Profile> profiles_;
  std::map<std::tuple<std::string, std::string, std::int64_t, std::vector<TimeUs>>, std::string>
      names_;                                     // by everything that distinguishes profiles
  std::map<std::string, std::int64_t> measured_;  // number of profiles with the same plain name
};

/// job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration,interval,iteration_time,resource_time_0..2,priority
Imported import_muri(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  Imported imported;
  CsvReader row = jobs_with_cluster("muri", open_tables(files), imported);
  const int id = row.column("job_id"), gpus = row.column("num_gpu"), submit = row.column("submit_time"),
            iterations = row.column("iterations"), model = row.column("model_name"), duration = row.column("duration"),
            priority = row.column("priority");
  MuriProfiles profiles(row);
  TraceBuilder trace("muri", row.file());
  std::int64_t other_duration = 0;
  while (row.next()) {
    TraceJob job;
    job.id = row.text(id);
    job.gpus = static_cast<std::int32_t>(row.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
    job.submit_us = milliseconds(row, submit);
    if (job.submit_us < 0) row.refuse(submit, "milliseconds, not negative");
    job.run_us = milliseconds(row, duration);
    job.model = row.text(model);
    job.priority = static_cast<std::int32_t>(row.integer(priority, INT32_MIN, INT32_MAX));
    const std::int64_t steps = row.integer(iterations, 0, kScoreCeiling / 1'000'000);
    if (job.gpus > 0 && job.run_us > 0) {
      job.profile = profiles.name_of(row, job.gpus);
      const __int128 off = static_cast<__int128>(steps) * profiles.iteration_ns(row) / 1'000 - job.run_us;
      if (off < kRounding && -off < kRounding) {
        job.work = steps * 1'000'000;
      } else {
        ++other_duration;
      }
    }
    trace.add(std::move(job), row);
  }
  trace.note("submit_time and duration are milliseconds, as are the times of an iteration and of its stages");
  trace.note(
      "stage_s of a profile holds resource_time_0 to 2; which resource each is the file does not say, nor whether batch_size is that of "
      "one GPU");
  if (other_duration > 0) {
    trace.note(core::counted(other_duration, "job") +
               " with another duration than iterations x iteration_time: the duration counts, and no work is stated");
  }
  imported.trace = trace.finish();
  imported.trace.profiles = profiles.take();
  return imported;
}

}  // namespace

std::vector<Importer> muri_importers() {
  return {
      {"muri", "Muri (SIGCOMM '22), times in milliseconds", "one jobs CSV; cluster spec CSV such as n8g8.csv", import_muri},
  };
}

}  // namespace berth::io
