// What the artifact of ONES (SC'21) reads and writes:
//   a trace        time,model,task,epoch_size,patience,batch_size,lr,max_lr,target_acc,num_gpus; a job's id is the number of its row
//   its history    id,epoch,epoch_size,num_samples,total_workload,batch_size,lr,...,throughput: a row for each epoch of finished jobs
//   a profile      id,completion_time,execution_time,waiting_time: how its jobs fared under one scheduler
// The trace has no run times, and the history names no models. So a job of the trace is as long and as fast as the jobs of the history that
// have its epochs, batch and learning rate: they say on how many GPUs a row was trained, as both grow in proportion to them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/testbed_cluster.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMostSamples = 1'000'000'000'000;

/// How a job of the trace is trained, as far as the history states it.
struct OnesTraining {
  std::int64_t epoch_size, batch, learning_rate_pico, most_learning_rate_pico;
  bool operator<(const OnesTraining& other) const {
    return std::tie(epoch_size, batch, learning_rate_pico, most_learning_rate_pico) <
           std::tie(other.epoch_size, other.batch, other.learning_rate_pico, other.most_learning_rate_pico);
  }
};

struct OnesEpoch {
  std::int64_t batch, learning_rate_pico, micro_samples_per_s;
};

struct OnesFinished {
  std::int64_t epoch_size = 0, samples = 0;  // of an epoch, of all
  std::vector<OnesEpoch> epochs;
};

/// What the history says of jobs that are trained alike.
struct OnesMeasured {
  std::int64_t samples = 0;  // of a job, in the mean; 0: there is none
  Profile profile;
};

/// GPUs of the epoch when a job of `training` has it, or 0.
std::int32_t gpus_of(const OnesTraining& training, const OnesEpoch& epoch) {
  if (epoch.batch % training.batch != 0) return 0;
  const std::int64_t gpus = epoch.batch / training.batch;
  if (gpus < 1 || gpus > kMaxGpusPerJob || core::Wide{training.learning_rate_pico} * gpus != epoch.learning_rate_pico) return 0;
  const bool grows = training.most_learning_rate_pico == 0 || epoch.learning_rate_pico <= training.most_learning_rate_pico;
  return grows ? static_cast<std::int32_t>(gpus) : 0;
}

/// A job's rows follow each other; an id may come again for another job.
std::vector<OnesFinished> read_history(CsvReader& row) {
  const int id = row.column("id"), epoch = row.column("epoch"), size = row.column("epoch_size"), total = row.column("total_workload"),
            batch = row.column("batch_size"), rate = row.column("lr"), throughput = row.column("throughput");
  std::vector<OnesFinished> jobs;
  std::int64_t last_id = -1, last_epoch = 0;
  while (row.next()) {
    const std::int64_t this_id = row.integer(id, 0, kMaxJobs), this_epoch = row.integer(epoch, 0, INT32_MAX);
    const std::int64_t epoch_size = row.integer(size, 1, kMostSamples);
    if (jobs.empty() || this_id != last_id || this_epoch <= last_epoch || epoch_size != jobs.back().epoch_size) {
      jobs.push_back({epoch_size, row.integer(total, 1, kMostSamples), {}});
    }
    last_id = this_id;
    last_epoch = this_epoch;
    jobs.back().epochs.push_back({row.integer(batch, 1, INT32_MAX), row.measured(rate, 12), row.measured(throughput, 6)});
  }
  return jobs;
}

/// Execution times by row of the trace.
std::map<std::int64_t, TimeUs> read_profile(CsvReader& row) {
  const int id = row.column("id"), execution = row.column("execution_time");
  std::map<std::int64_t, TimeUs> times;
  while (row.next()) {
    if (!times.emplace(row.integer(id, 0, kMaxJobs), row.seconds(execution)).second) row.refuse(id, "each job once");
  }
  return times;
}

OnesMeasured measured_of(const OnesTraining& training, const std::vector<OnesFinished>& history) {
  std::map<std::int32_t, std::pair<core::Wide, std::int64_t>> rates;  // sum and number by GPUs
  core::Wide samples = 0;
  std::int64_t jobs = 0;
  for (const OnesFinished& job : history) {
    if (job.epoch_size != training.epoch_size) continue;
    bool alike = false;
    for (const OnesEpoch& epoch : job.epochs) {
      const std::int32_t gpus = gpus_of(training, epoch);
      alike = alike || gpus > 0;
      if (gpus == 0 || epoch.micro_samples_per_s == 0) continue;
      auto& [sum, number] = rates[gpus];
      sum += epoch.micro_samples_per_s;
      ++number;
    }
    if (!alike) continue;
    samples += job.samples;
    ++jobs;
  }
  OnesMeasured measured;
  if (jobs == 0) return measured;
  measured.samples = core::saturate(core::floor_div(samples, jobs));
  measured.profile.kind = ProfileKind::kTable;
  measured.profile.unit = "samples";
  for (const auto& [gpus, rate] : rates) {
    measured.profile.points.push_back({"", gpus, 0, "", core::saturate(core::floor_div(rate.first, rate.second))});
  }
  return measured;
}

class OnesJobs {
 public:
  OnesJobs(CsvReader& row, const std::optional<std::vector<OnesFinished>>& history,
           const std::optional<std::map<std::int64_t, TimeUs>>& times)
      : row_(row), history_(history), times_(times) {}

  Trace read() {
    const int time = row_.column("time"), model = row_.column("model"), task = row_.column("task"), gpus = row_.column("num_gpus");
    TraceBuilder trace("ones", row_.file());
    std::int64_t rows = 0;
    for (; row_.next(); ++rows) {
      TraceJob job;
      job.id = fmt::format("{}", rows);
      job.model = fmt::format("{} {}", row_.text(model), row_.text(task));
      job.submit_us = row_.seconds(time);
      job.gpus = static_cast<std::int32_t>(row_.integer(gpus, -kMaxGpusPerJob, kMaxGpusPerJob));
      const std::string missing = job.gpus > 0 ? set_run(job, rows) : std::string();
      if (missing.empty()) {
        trace.add(std::move(job), row_);
      } else {
        trace.drop(missing);
      }
    }
    if (times_ && !times_->empty() && times_->rbegin()->first >= rows) {
      throw InputError(
          row_.file(), "", row_.line(),
          fmt::format("{}, and the profile has job {}: it is of another trace", core::counted(rows, "job"), times_->rbegin()->first));
    }
    add_notes(trace);
    Trace done = trace.finish();
    done.profiles.assign(profiles_.begin(), profiles_.end());
    return done;
  }

 private:
  /// @returns what is missing for the run time of the job.
  std::string set_run(TraceJob& job, std::int64_t number) {
    const auto [known, fresh] = measured_.try_emplace(training_of(row_));
    if (fresh && history_) known->second = measured_of(known->first, *history_);
    const OnesMeasured& measured = known->second;
    if (measured.samples > 0) {
      job.dataset_size = known->first.epoch_size;
      job.epochs_micro = core::mul_div(measured.samples, 1'000'000, job.dataset_size);
    }
    if (times_) {
      const auto time = times_->find(number);
      if (time == times_->end()) return "not in the profile";
      job.run_us = time->second;
      return {};
    }
    if (measured.samples == 0) return "nothing like it in the history";
    for (const RatePoint& point : measured.profile.points) {
      if (point.gpus != job.gpus) continue;
      job.work = measured.samples * 1'000'000;
      job.run_us = core::mul_div(job.work, kSecond, std::max<std::int64_t>(1, point.rate));
      job.elastic = measured.profile.points.size() > 1;
      job.profile = fmt::format("epochs of {} samples, batch {}, learning rate {}e-12", known->first.epoch_size, known->first.batch,
                                known->first.learning_rate_pico);
      if (known->first.most_learning_rate_pico > 0) job.profile += fmt::format(" to {}e-12", known->first.most_learning_rate_pico);
      profiles_.try_emplace(job.profile, measured.profile);
      return {};
    }
    return "not on its GPUs in the history";
  }

  static OnesTraining training_of(const CsvReader& row) {
    const int batch = row.column("batch_size"), rate = row.column("lr"), most = row.column("max_lr"), size = row.column("epoch_size");
    OnesTraining training{row.integer(size, 1, kMostSamples), row.integer(batch, 1, INT32_MAX), row.measured(rate, 12), 0};
    if (!row.text(most).empty()) training.most_learning_rate_pico = row.measured(most, 12);
    return training;
  }

  void add_notes(TraceBuilder& trace) const {
    trace.note("a job's id is the number of its row, from 0, as in the artifact");
    if (times_) {
      trace.note("run times are the execution times of the profile: of the GPUs that its scheduler gave, with what starting took");
    } else {
      trace.note(
          "work and rates are means over the jobs of the history with the same size of epochs, batch and learning rate, whose models are "
          "not named; a learning rate tells the GPUs");
    }
  }

  CsvReader& row_;
  const std::optional<std::vector<OnesFinished>>& history_;
  const std::optional<std::map<std::int64_t, TimeUs>>& times_;
  std::map<OnesTraining, OnesMeasured> measured_;
  std::map<std::string, Profile> profiles_;
};

Imported import_ones(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  std::optional<CsvReader> jobs;
  std::optional<std::vector<OnesFinished>> history;
  std::optional<std::map<std::int64_t, TimeUs>> times;
  const auto once = [](bool first, const CsvReader& row, const char* what) {
    if (!first) throw InvalidArgument(fmt::format("{}: a second {}", row.file(), what));
  };
  for (CsvReader& row : open_tables(files)) {
    if (row.find("total_workload") >= 0) {
      once(!history, row, "history");
      history = read_history(row);
    } else if (row.find("execution_time") >= 0) {
      once(!times, row, "profile");
      times = read_profile(row);
    } else {
      once(!jobs, row, "trace");
      jobs.emplace(std::move(row));
    }
  }
  if (!jobs) throw InvalidArgument("ones: no trace (a file with the columns time, model, task, epoch_size, ...)");
  if (!history && !times) {
    throw InvalidArgument(
        "ones: a trace has no run times: add job_history.csv, or the profile of a scheduler such as TIRESIAS_profile.csv");
  }
  return {OnesJobs(*jobs, history, times).read(), std::nullopt, {}};
}

}  // namespace

std::vector<Importer> ones_importers() {
  return {
      {"ones", "ONES (SC '21)", "one trace CSV; job_history.csv, or the profile of a scheduler such as TIRESIAS_profile.csv, or both",
       import_ones},
  };
}

}  // namespace berth::io
