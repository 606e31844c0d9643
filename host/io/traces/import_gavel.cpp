#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/violations.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/work_leg.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/traces/gavel.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/shockwave_batches.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

struct GavelFiles {
  std::unique_ptr<GzipInput> rows;
  GavelThroughputs throughputs;
};

GavelFiles open_files(const std::string& format, const std::vector<std::string>& files) {
  std::unique_ptr<GzipInput> rows;
  std::optional<GavelThroughputs> throughputs;
  for (const std::string& file : files) {
    auto input = std::make_unique<GzipInput>(file);
    const bool json = input->peek() == '{';
    if (json ? throughputs.has_value() : rows != nullptr) {
      throw InvalidArgument(fmt::format("{}: a second file of {}", file, json ? "throughputs" : "jobs"));
    }
    if (json) {
      throughputs = read_gavel_throughputs(*input);
    } else {
      rows = std::move(input);
    }
  }
  if (rows == nullptr) throw InvalidArgument(format + ": no file of jobs (a tab-separated .trace)");
  if (!throughputs) {
    throw InvalidArgument(format +
                          ": no file of throughputs (JSON, such as simulation_throughputs.json): run times are steps / throughput");
  }
  return {std::move(rows), std::move(*throughputs)};
}

/// Steps per second on this number of V100s, in millionths; 0: it does not run there.
std::int64_t reference_rate(const GavelThroughputs& throughputs, const std::string& file, const GavelRow& row, const std::string& model) {
  const auto& measured = throughputs.alone.at(std::string(kGavelReference));
  const auto rate = measured.find({model, row.job.gpus});
  if (rate == measured.end()) {
    throw InputError(file, "", row.line, fmt::format("{} has no throughput of ('{}', {}) on v100", throughputs.file, model, row.job.gpus));
  }
  return rate->second.together;
}

/// Sets run time and deadline. @returns false when the job does not run on the reference type.
bool set_run_time(const GavelThroughputs& throughputs, const std::string& file, GavelRow& row) {
  const std::int64_t rate = reference_rate(throughputs, file, row, row.job.model);
  if (rate == 0) return false;
  row.job.run_us = core::mul_div(row.job.work, kSecond, rate);
  if (row.slo_ppm > 0) {
    row.job.deadline_us = core::saturating_add(row.job.submit_us, core::mul_div(row.job.run_us, row.slo_ppm, 1'000'000));
    if (row.job.deadline_us > kMaxTimeUs) throw InputError(file, "column 'SLO'", row.line, "a deadline that cannot be counted");
  }
  return true;
}

/// Converts a rate from steps of another batch to steps of the first one.
std::int64_t in_first_steps(std::int64_t rate, std::int32_t batch, std::int32_t first) { return core::mul_div(rate, batch, first); }

/// Rates of a model with another batch, in steps of the first one.
Profile scaled_profile(const GavelThroughputs& throughputs, const BatchedModel& model, std::int32_t batch) {
  Profile profile = gavel_profile(throughputs, with_batch(model, batch));
  for (RatePoint& point : profile.points) point.rate = in_first_steps(point.rate, batch, model.batch);
  return profile;
}

/// Sets the phases with another batch, their profiles, and the run time with them.
/// @returns false when the job does not run on the reference type in one of them.
bool set_phases(const GavelThroughputs& throughputs, const std::string& file, const GavelRow& row, TraceJob& job,
                std::map<std::string, Profile>& profiles) {
  const BatchedModel model = batched_model(job.model);
  const std::int64_t epoch_steps = model.steps_per_epoch();
  if (epoch_steps == 0) return true;
  const std::int64_t epoch = epoch_steps * 1'000'000;
  core::WorkLeg leg{0, job.work, reference_rate(throughputs, file, row, job.model), 0};
  for (const BatchChange& change : shockwave_batches(row.mode, model, job.gpus, (job.work + epoch - 1) / epoch)) {
    const std::string batched = with_batch(model, change.batch);
    const std::int64_t rate = in_first_steps(reference_rate(throughputs, file, row, batched), change.batch, model.batch);
    if (rate == 0) return false;
    const std::string name = change.batch == model.batch ? batched : fmt::format("{}, in steps of batch size {}", batched, model.batch);
    if (profiles.count(name) == 0) profiles.emplace(name, scaled_profile(throughputs, model, change.batch));
    job.phases.push_back({change.epoch * epoch, name, 0});
    leg = core::next_leg(leg, job.work - job.phases.back().from, rate);
  }
  if (!job.phases.empty()) job.run_us = core::reaches(leg, 0);
  return true;
}

/// For models whose data set the artifacts of Gavel and Shockwave name.
void set_epochs(TraceJob& job) {
  const BatchedModel model = batched_model(job.model);
  const std::int64_t steps = model.steps_per_epoch();
  if (steps == 0) return;
  job.epochs_micro = job.work / steps;
  job.dataset_size = model.samples_per_epoch();
}

Imported import_family(const std::string& format, const std::vector<std::string>& files, bool shockwave) {
  const GavelFiles in = open_files(format, files);
  const std::string& file = in.rows->name();
  TraceBuilder trace(format, file);
  std::map<std::string, Profile> profiles;
  std::int64_t other_duration = 0, number = 0, dynamic = 0, changing = 0;
  for (GavelRow& row : read_gavel_rows(*in.rows, shockwave)) {
    TraceJob& job = row.job;
    job.id = fmt::format("{}", number++);
    if (job.gpus > 0 && job.work > 0) {
      if (!set_run_time(in.throughputs, file, row)) {
        trace.drop("not runnable on V100 (throughput 0)");
        continue;
      }
      const TimeUs off = job.run_us - row.stated_us;  // the duration of the source is for the first batch
      if (!row.mode.empty() && !set_phases(in.throughputs, file, row, job, profiles)) {
        trace.drop("not runnable on V100 (throughput 0)");
        continue;
      }
      set_epochs(job);
      dynamic += row.mode.empty() || row.mode == "static" ? 0 : 1;
      changing += job.phases.empty() ? 0 : 1;
      job.profile = job.model;
      if (profiles.count(job.model) == 0) profiles.emplace(job.model, gavel_profile(in.throughputs, job.model));
      if (shockwave && (off > kSecond || -off > kSecond)) ++other_duration;
    }
    trace.add(std::move(job), file, row.line);
  }
  trace.note("ids are the numbers of the rows, from 0");
  trace.note(fmt::format("run time is total_steps / steps per second on as many V100s, by {}; on other types work / rate of the profile",
                         base_name(in.throughputs.file)));
  trace.note("points of several GPUs: TYPE within a node, TYPE_unconsolidated for any wider span; colocation: on one V100, cut at 1");
  trace.note("the batch size stands in the model's name; whether it is that of one GPU the source does not say");
  if (shockwave) {
    trace.note(
        fmt::format("modes accordion and gns (x_mode) change the batch size, and so the speed: {} of {} such jobs do, by epoch as the "
                    "artefact lays it down; work is counted in steps of the first batch, an epoch is the same work at any",
                    changing, dynamic));
  }
  if (other_duration > 0) {
    trace.note(core::counted(other_duration, "row") +
               " with another duration than total_steps / throughput at the first batch, which counts");
  }
  Imported imported;
  imported.trace = trace.finish();
  imported.trace.profiles.assign(profiles.begin(), profiles.end());
  return imported;
}

/// Workloads of 7 or 10 columns, and the throughputs of their models.
Imported import_gavel(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  return import_family("gavel", files, false);
}

/// Workloads of 12 columns: those of Gavel with a mode and a duration.
Imported import_shockwave(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  return import_family("shockwave", files, true);
}

}  // namespace

std::vector<Importer> gavel_importers() {
  return {
      {"gavel", "Gavel (OSDI '20)", "one tab-separated .trace of 7 or 10 columns, and the throughputs of its models (JSON)", import_gavel},
      {"shockwave", "Shockwave (NSDI '23)", "one tab-separated .trace of 12 columns, and the throughputs of its models (JSON)",
       import_shockwave},
  };
}

}  // namespace berth::io
