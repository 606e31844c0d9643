#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/work_leg.hpp"
#include "host/io/files/csv.hpp"
#include "host/io/traces/importers.hpp"
#include "host/io/traces/pollux.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kEpoch = 1'000'000;  // of epochs

using Applications = std::map<std::string, PolluxApplication>;

/// The folder of the file, because measurements do not name their application.
std::string application_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? std::string() : base_name(path.substr(0, slash));
  if (folder.empty() || folder == "." || folder == "..") {
    throw InvalidArgument(
        fmt::format("{}: measurements lie in a folder named after their application, such as bert/{}", path, base_name(path)));
  }
  return folder;
}

/// "validation-384.csv" -> 384, because the file does not state it.
std::int32_t batch_of(const std::string& path) {
  const std::string name = base_name(path), head = "validation-";
  const std::string tail = name.compare(0, head.size(), head) == 0 ? name.substr(head.size(), name.find('.') - head.size()) : std::string();
  const auto batch = core::parse_whole(tail, INT32_MAX);
  if (!batch || tail.front() == '0') {
    throw InvalidArgument(fmt::format("{}: expected a name validation-BATCH.csv, which says the global batch", path));
  }
  return static_cast<std::int32_t>(*batch);
}

/// "placements-rtx.csv" -> "rtx"; T4 for files of Pollux, which name no GPU type.
std::string type_of(const std::string& path, const std::string& what) {
  const std::string name = base_name(path), stem = name.substr(0, name.find('.'));
  if (stem == what) return kPolluxGpu;
  if (stem.compare(0, what.size() + 1, what + "-") != 0 || stem.size() == what.size() + 1) {
    throw InvalidArgument(fmt::format("{}: expected a name {}.csv or {}-TYPE.csv, which says the GPU type", path, what, what));
  }
  return stem.substr(what.size() + 1);
}

/// A file of an application, and its name.
struct Validation {
  std::string path, application;
  std::int32_t batch;
};

/// The work of the jobs of a workload.
enum class PolluxWork {
  kIterations,  ///< iterations, counted at the user's batch
  kProgress,    ///< progress until the last epoch, by the gradient statistics at that batch
  kGoodput,     ///< the same at any batch, with one rate for all epochs
  kEpochs,      ///< the same with the rate of each epoch
};

/// Sia's files of it measure stages of a pipeline, not steps.
constexpr std::string_view kPipelines = "gpt_pmp";

constexpr const char* kFormats[] = {"pollux", "pollux-progress", "pollux-goodput", "pollux-epochs"};

/// Validations are only stored: the smallest batch of an application must be known first.
void read_measurements(CsvReader& row, const std::string& path, Applications& applications, std::vector<Validation>& validations) {
  const std::string application = application_of(path);
  if (application == kPipelines) return;
  PolluxApplication& out = applications[application];
  const auto once = [&](bool first, const char* what) {
    if (!first) throw InvalidArgument(fmt::format("{}: a second file of {} of {}", path, what, application));
  };
  if (row.find("placement") >= 0) {
    PolluxType& type = out.types[type_of(path, "placements")];
    once(type.placements.empty(), "placements");
    read_pollux_placements(row, type);
  } else if (row.find("num_nodes") >= 0) {
    PolluxType& type = out.types[type_of(path, "scalability")];
    once(type.scalability.empty(), "scalability");
    read_pollux_scalability(row, type);
  } else {
    const std::int32_t batch = batch_of(path);
    once(out.validations.emplace(batch, PolluxValidation{}).second, "this validation");
    validations.push_back({path, application, batch});
  }
}

/// A node of a type has as many GPUs as the widest placement of any application; of T4s it has 4.
void set_nodes(Applications& applications) {
  std::map<std::string, std::int32_t> widest;
  for (const auto& [name, application] : applications) {
    for (const auto& [type, on] : application.types) widest[type] = std::max(widest[type], pollux_widest_node(on));
  }
  for (auto& [name, application] : applications) {
    for (auto& [type, on] : application.types) {
      if (type != kPolluxGpu && widest[type] > 0) on.node_gpus = widest[type];
    }
  }
}

std::string types_text(const Applications& applications) {
  std::map<std::string, std::int32_t> nodes;
  for (const auto& [name, application] : applications) {
    for (const auto& [type, on] : application.types) nodes[type] = on.node_gpus;
  }
  std::string text;
  for (const auto& [type, gpus] : nodes)
    text += fmt::format("{}{}{}, {} to a node", text.empty() ? "" : "; ", type, type == kPolluxGpu ? "s" : "", gpus);
  return text;
}

/// Reads jobs, and computes run times from the measurements.
class PolluxJobs {
 public:
  PolluxJobs(CsvReader& row, const Applications& applications, PolluxWork work)
      : row_(row),
        applications_(applications),
        work_(work),
        name_(row.column("name")),
        time_(row.column("time")),
        application_(row.column("application")),
        replicas_(row.column("num_replicas")),
        batch_(row.column("batch_size")) {}

  Trace read() {
    TraceBuilder trace(kFormats[static_cast<std::size_t>(work_)], row_.file());
    while (row_.next()) {
      TraceJob job;
      job.id = row_.text(name_);
      job.submit_us = row_.measured(time_, 6);
      if (job.submit_us > kMaxTimeUs) row_.refuse(time_, "seconds that can be counted");
      job.model = row_.text(application_);
      job.gpus = static_cast<std::int32_t>(row_.integer(replicas_, -kMaxGpusPerJob, kMaxGpusPerJob));
      job.batch = static_cast<std::int32_t>(row_.integer(batch_, 1, INT32_MAX));
      if (job.gpus > 0) set_work(job);
      trace.add(std::move(job), row_);
    }
    if (work_ != PolluxWork::kIterations) {
      trace.note(
          "a job is the progress until the last epoch, in steps of the initial batch; what a step of another batch gets on is what the "
          "gradient statistics of the epoch say");
      trace.note(work_ == PolluxWork::kProgress  ? "a rate is that of the whole training, at the job's own global batch"
                 : work_ == PolluxWork::kGoodput ? "a rate is that of the whole training, each epoch at the measured batch that gets it "
                                                   "done soonest on these GPUs"
                                                 : "a rate is that of an epoch, at the measured batch that gets it done soonest on these "
                                                   "GPUs");
    } else {
      trace.note("a job is the iterations that validation-BATCH.csv counts until the last epoch, at its own global batch");
    }
    trace.note(fmt::format(
        "rates are measured on {}; between two measured batches of a GPU a step is linear, above the largest one it is accumulated in "
        "several passes; nothing is fitted",
        types_text(applications_)));
    trace.note(fmt::format("jobs are elastic{}; the GPU count asked for is the tuned one of the workload",
                           any_batch() ? "" : " at their global batch"));
    Trace done = trace.finish();
    done.profiles.assign(profiles_.begin(), profiles_.end());
    return done;
  }

 private:
  const PolluxApplication& measured(const std::string& application) const {
    const auto found = applications_.find(application);
    if (found == applications_.end()) missing(application_, application, "placements.csv");
    return found->second;
  }

  [[noreturn]] void missing(int column, const std::string& application, const std::string& file) const {
    row_.refuse(column, fmt::format("something that was measured; {}/{} is missing among the files", application, file));
  }

  bool any_batch() const { return work_ == PolluxWork::kGoodput || work_ == PolluxWork::kEpochs; }

  void set_work(TraceJob& job) {
    if (job.model == kPipelines) row_.refuse(application_, "a job of data parallelism; pipelines of stages are not read");
    const PolluxApplication& application = measured(job.model);
    const auto placed = [](const auto& type) { return !type.second.placements.empty(); };
    if (std::none_of(application.types.begin(), application.types.end(), placed)) missing(application_, job.model, "placements.csv");
    const auto validation = application.validations.find(job.batch);
    if (validation == application.validations.end()) missing(batch_, job.model, fmt::format("validation-{}.csv", job.batch));
    const PolluxValidation& run = validation->second;
    job.elastic = true;
    if (work_ == PolluxWork::kEpochs) {
      set_epochs(job, application);
    } else if (work_ == PolluxWork::kIterations) {
      job.profile = fmt::format("{}, batch {}", job.model, job.batch);
      const std::int64_t rate = rate_of(job, [&] { return pollux_profile(application, job.model, job.batch); });
      set_run(job, run.iterations * 1'000'000, rate);
      job.epochs_micro = run.trained * kEpoch;
    } else {
      const std::size_t epochs = pollux_epochs(application);
      const std::int32_t batch = any_batch() ? 0 : job.batch;
      job.profile = any_batch() ? job.model + ", goodput" : fmt::format("{}, batch {}", job.model, job.batch);
      const std::int64_t rate = rate_of(job, [&] { return pollux_goodput_profile(application, job.model, batch, 0, epochs); });
      set_run(job, pollux_progress(application, epochs), rate);
      job.epochs_micro = static_cast<std::int64_t>(epochs) * kEpoch;
    }
    job.dataset_size = std::min(core::mul_div(run.iterations, job.batch, run.trained), kScoreCeiling);
    if (any_batch()) job.batch = 0;
  }

  static void set_run(TraceJob& job, std::int64_t work, std::int64_t rate) {
    job.work = work;
    job.run_us = core::mul_div(work, kSecond, rate);
  }

  /// A phase for each epoch that makes progress.
  void set_epochs(TraceJob& job, const PolluxApplication& application) {
    const std::size_t epochs = pollux_epochs(application);
    job.work = pollux_progress(application, epochs);
    job.epochs_micro = static_cast<std::int64_t>(epochs) * kEpoch;
    core::WorkLeg leg{0, job.work, 1, 0};
    for (std::size_t e = 0; e < epochs; ++e) {
      const std::int64_t from = pollux_progress(application, e);
      if (pollux_progress(application, e + 1) == from) continue;
      const bool first = job.profile.empty();
      job.profile = fmt::format("{}, goodput of epoch {}", job.model, e + 1);
      const std::int64_t rate = rate_of(job, [&] { return pollux_goodput_profile(application, job.model, 0, e, e + 1); });
      job.phases.push_back({from, job.profile, 0, static_cast<std::int64_t>(e) * kEpoch});
      leg = first ? core::WorkLeg{0, job.work, rate, 0} : core::next_leg(leg, job.work - from, rate);
    }
    if (job.phases.empty()) missing(application_, job.model, "validation-BATCH.csv with progress");
    job.profile = job.phases.front().profile;  // the profile at the start of a job is not a phase
    job.phases.erase(job.phases.begin());
    job.run_us = core::reaches(leg, 0);
  }

  /// The rate with the requested GPUs, by the profile of this name, which `make` creates.
  template <class Make>
  std::int64_t rate_of(const TraceJob& job, const Make& make) {
    auto profile = profiles_.find(job.profile);
    if (profile == profiles_.end()) profile = profiles_.emplace(job.profile, make()).first;
    for (const RatePoint& point : profile->second.points) {
      if (point.gpus == job.gpus && point.rate > 0) return point.rate;  // the most compact placement comes first
    }
    row_.refuse(replicas_, fmt::format("a GPU count that was measured at {} (more than 16: in scalability.csv)",
                                       any_batch() ? "a batch that was validated" : fmt::format("batch {}", job.batch)));
  }

  CsvReader& row_;
  const Applications& applications_;
  PolluxWork work_;
  int name_, time_, application_, replicas_, batch_;
  std::map<std::string, Profile> profiles_;
};

/// name,time,application,num_replicas,batch_size, and the measurements of its applications.
Imported import_for(PolluxWork work, const std::vector<std::string>& files) {
  Applications applications;
  std::vector<Validation> validations;
  std::optional<CsvReader> jobs;
  for (const std::string& file : files) {
    CsvReader row(file);
    if (row.find("application") >= 0) {
      if (jobs) throw InvalidArgument(fmt::format("{}: a second file of jobs", file));
      jobs.emplace(std::move(row));
    } else {
      read_measurements(row, file, applications, validations);
    }
  }
  if (!jobs)
    throw InvalidArgument("pollux: no file of jobs (a workload with the columns name, time, application, num_replicas, batch_size)");
  set_nodes(applications);
  for (const Validation& one : validations) {
    PolluxApplication& application = applications[one.application];
    const std::int32_t initial = work == PolluxWork::kIterations ? 0 : application.validations.begin()->first;
    CsvReader row(one.path);
    application.validations[one.batch] = read_pollux_validation(row, one.application, one.batch, initial);
  }
  return {PolluxJobs(*jobs, applications, work).read(), std::nullopt, {}};
}

Imported import_pollux(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  return import_for(PolluxWork::kIterations, files);
}

Imported import_pollux_progress(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  return import_for(PolluxWork::kProgress, files);
}

Imported import_pollux_goodput(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  return import_for(PolluxWork::kGoodput, files);
}

Imported import_pollux_epochs(const std::vector<std::string>& files, const ImportOptions& /*options*/) {
  return import_for(PolluxWork::kEpochs, files);
}

}  // namespace

std::vector<Importer> pollux_importers() {
  return {
      {"pollux", "Pollux (OSDI '21) and Sia (SOSP '23)",
       "one workload CSV; of its applications APPLICATION/placements[-TYPE].csv, scalability[-TYPE].csv, validation-BATCH.csv",
       import_pollux},
      {"pollux-epochs", "Pollux and Sia, work counted by gradient statistics, at any batch size and the rate of each epoch", "as pollux",
       import_pollux_epochs},
      {"pollux-goodput", "Pollux and Sia, work counted by gradient statistics, at any batch size", "as pollux", import_pollux_goodput},
      {"pollux-progress", "Pollux and Sia, work counted by gradient statistics as its simulator does", "as pollux", import_pollux_progress},
  };
}

}  // namespace berth::io
