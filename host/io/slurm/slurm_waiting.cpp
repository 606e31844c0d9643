#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>

#include "host/core/base/split.hpp"
#include "host/io/slurm/slurm_jobs.hpp"
#include "host/io/slurm/slurm_request.hpp"

namespace berth::io {
namespace {

/// Maximum number of array tasks that one import expands.
constexpr std::size_t kMostTasks = 1'000'000;

/// Reasons of jobs that wait only for resources or for jobs before them.
constexpr std::string_view kSchedulable[] = {"", "None", "Priority", "Resources", "BeginTime", "JobArrayTaskLimit", "ReqNodeNotAvail"};

struct ArrayTasks {
  std::vector<std::int64_t> ids;
  bool cut = false;  // Slurm shows only the first of them
  bool good = true;  // the text is valid
};

// Reads "1-10:3,17%4": ranges with steps, and a limit, which 'array_max_tasks' has too. "..." ends a text that was cut.
ArrayTasks tasks_of(std::string_view text) {
  ArrayTasks out;
  text = text.substr(0, text.find('%'));
  if (text.size() >= 3 && text.substr(text.size() - 3) == "...") {
    out.cut = true;
    text.remove_suffix(3);
    // The number before the dots may have lost digits.
    text = text.substr(0, text.rfind(','));
  }
  if (text.empty()) return out;
  for (std::string_view item : core::split(text, ',')) {
    const std::size_t colon = item.find(':');
    const std::optional<std::int64_t> step = colon == item.npos ? 1 : core::parse_whole(item.substr(colon + 1), kSlurmLast32);
    item = item.substr(0, colon);
    const std::size_t dash = item.find('-');
    const auto low = core::parse_whole(item.substr(0, dash), kSlurmLast32);
    const auto high = dash == item.npos ? low : core::parse_whole(item.substr(dash + 1), kSlurmLast32);
    out.good = step && *step > 0 && low && high && *high >= *low;
    if (!out.good) break;
    for (std::int64_t id = *low; id <= *high && out.ids.size() <= kMostTasks; id += *step) out.ids.push_back(id);
  }
  return out;
}

bool starts_with(const std::string& text, std::string_view begin) { return text.compare(0, begin.size(), begin) == 0; }

}  // namespace

std::string SlurmJobs::hindrance(const SlurmJob& job, const SlurmOptions& options) const {
  const bool held = starts_with(job.reason, "JobHeld") || job.priority == 0;
  if (held && !options.held) return fmt::format("held ({})", job.reason.empty() ? "priority 0" : job.reason);
  const bool unfulfilled = job.dependency.find("unfulfilled") != std::string::npos || job.dependency.find("failed") != std::string::npos;
  if (unfulfilled || starts_with(job.reason, "Dependency")) return "waits for other jobs (dependency)";
  if (job.submit == 0) return "it has no submit_time";
  if (job.eligible * kSecond > snapshot_.now_us) return "begin time lies ahead";
  if (!job.reservation.empty()) return "waits for a reservation";
  if (held || std::find(std::begin(kSchedulable), std::end(kSchedulable), job.reason) != std::end(kSchedulable)) return {};
  return fmt::format("Slurm holds it back ({})", job.reason);
}

// Cores and memory per GPU are one amount for a whole job. Of components that differ the smallest is used.
// So no component is rejected because of the needs of another one.
void SlurmJobs::set_amounts(const SlurmJob& part, const SlurmRequest& asked, bool first, Constraints& out) {
  if (!first && (asked.cpu_milli_per_gpu != out.cpu_milli_per_gpu || asked.memory_bytes_per_gpu != out.memory_bytes_per_gpu))
    notes_.count("job", ": its components differ in cores or memory for a GPU; the least is asked for", slurm_job_name(part));
  out.cpu_milli_per_gpu = first ? asked.cpu_milli_per_gpu : std::min(out.cpu_milli_per_gpu, asked.cpu_milli_per_gpu);
  out.memory_bytes_per_gpu = first ? asked.memory_bytes_per_gpu : std::min(out.memory_bytes_per_gpu, asked.memory_bytes_per_gpu);
}

std::string SlurmJobs::request(const SlurmUnit& unit, Job& job) {
  Shape& shape = job.shapes.emplace_back();
  shape.gpus = 0;
  if (unit.size() > static_cast<std::size_t>(kMaxGroups)) return fmt::format("more than {} components", kMaxGroups);
  for (const SlurmJob* part : unit) {
    Job other;
    std::string problem = set_slurm_constraints(*part, cluster_, other);
    if (!problem.empty()) return problem;
    if (part == unit.front()) {
      job.virtual_cluster = other.virtual_cluster;
      job.constraints = other.constraints;
    }
    if (!asks_for_gpus(*part)) {
      notes_.count("job", ": a component without GPUs is not planned", slurm_job_name(*part));
      continue;
    }
    const SlurmRequest one = slurm_request(*part, cluster_, has_blocks_, notes_);
    if (!one.problem.empty()) return one.problem;
    if (part != unit.front()) {
      other.constraints.cpu_milli_per_gpu = job.constraints.cpu_milli_per_gpu;
      other.constraints.memory_bytes_per_gpu = job.constraints.memory_bytes_per_gpu;
      const bool same = other.virtual_cluster == job.virtual_cluster && other.constraints == job.constraints;
      if (!same || one.gpu_type != shape.gpu_type) return "its components ask for different GPUs or nodes";
    }
    shape.gpu_type = one.gpu_type;
    set_amounts(*part, one, shape.gpus == 0, job.constraints);
    const std::int64_t gpus = std::int64_t{one.group.members_want} * one.group.gpus_per_member;
    if (gpus > kMaxGpusPerJob - shape.gpus) return fmt::format("more than {} GPUs are asked for", kMaxGpusPerJob);
    shape.gpus += static_cast<std::int32_t>(gpus);
    shape.id = fmt::format("{}x{}", one.group.members_want, one.group.gpus_per_member);
    if (unit.size() == 1 && one.flat) {
      shape.id = fmt::format("g{}", shape.gpus);
    } else {
      shape.groups.push_back(one.group);
      if (unit.size() > 1) shape.groups.back().name = fmt::format("component{}", part->het_offset);
    }
  }
  if (shape.groups.size() > 1) shape.id = "het";
  wait_for_switches(unit, job.constraints);
  return {};
}

// A count of switches is a level of them: Berth knows no gangs on any two of ten leaf switches.
void SlurmJobs::wait_for_switches(const SlurmUnit& unit, Constraints& out) {
  const SlurmJob& job = *unit.front();
  const bool any = std::any_of(unit.begin(), unit.end(), [](const SlurmJob* part) { return part->switches > 0; });
  if (!any) return;
  const auto note = [&](const char* what) { notes_.count("job", what, slurm_job_name(job)); };
  const SlurmSwitches::Level level = switches_.level_of(job.switches);
  if (level.name.empty()) return note(": its count of switches is not kept, as the topology has none");
  if (unit.size() > 1) return note(": its count of switches is not kept, as it has components");
  if (job.switch_wait_s <= 0) return note(": its count of switches is not kept, as it does not wait for them");
  if (level.leaves < job.switches) note(": its count of switches is kept as a level with fewer of them");
  out.longest_wait.push_back({{TopologyKind::kSwitch, level.name}, job.switch_wait_s * kSecond});
}

// Lists only a few ids, so that an array of a million tasks with a limit of ten is cheap.
void SlurmJobs::leave_out_rest(SlurmJob one_of, std::span<const std::int64_t> tasks, const std::string& why) {
  constexpr std::size_t kNamed = 1000;
  for (std::size_t i = 0; i < std::min(kNamed, tasks.size()); ++i) {
    one_of.array_task = tasks[i];
    leave_out(one_of, why);
  }
  if (tasks.size() > kNamed) notes_.count("job", " left out: " + why, "", static_cast<std::int64_t>(tasks.size() - kNamed));
}

void SlurmJobs::add_tasks(const SlurmJob& from, const Job& job) {
  // Slurm has no arrays of heterogeneous jobs, and no array without an id.
  const bool several = from.het_id == 0 && from.array_id != 0 && from.array_task == kSlurmUnset && !from.array_tasks.empty();
  ArrayTasks tasks;
  if (several)
    tasks = tasks_of(from.array_tasks);
  else
    tasks.ids.push_back(from.array_task);
  if (!tasks.good) return leave_out(from, fmt::format("its tasks '{}' are no list of ranges", from.array_tasks.substr(0, 60)));
  if (tasks.cut)
    notes_.count("job array", " of which the last tasks are missing, for Slurm does not show them: SLURM_BITSTR_LEN=0 squeue --json does",
                 job.id);
  std::int64_t& running = tasks_running_[from.array_id];
  // Jobs are large. Memory for a whole array is allocated at once and at least doubled, so that many arrays do not move them repeatedly.
  const auto limit = static_cast<std::size_t>(std::max<std::int64_t>(from.array_limit - running, 0));
  const std::size_t need = snapshot_.jobs.size() + (from.array_limit > 0 ? std::min(tasks.ids.size(), limit) : tasks.ids.size());
  if (need > snapshot_.jobs.capacity()) snapshot_.jobs.reserve(std::max(need, 2 * snapshot_.jobs.capacity()));
  for (std::size_t i = 0; i < tasks.ids.size(); ++i) {
    SlurmJob one_of;
    one_of.array_id = from.array_id;
    one_of.array_task = tasks.ids[i];
    std::string why;
    if (from.array_id != 0 && from.array_limit > 0 && running >= from.array_limit) {
      why = "its array runs as many tasks as it may at once";
    } else if (snapshot_.jobs.size() >= static_cast<std::size_t>(kMaxJobs) || (several && task_count_ >= kMostTasks)) {
      why = fmt::format("more than {} tasks of arrays", kMostTasks);
    }
    if (!why.empty()) return leave_out_rest(one_of, std::span(tasks.ids).subspan(i), why);
    running += from.array_id != 0 ? 1 : 0;
    task_count_ += several ? 1 : 0;
    Job copy = job;
    if (several) copy.id = slurm_job_name(one_of);
    keep(std::move(copy), from, tasks.ids[i]);
  }
}

void SlurmJobs::add_waiting(const std::vector<SlurmUnit>& units, const SlurmOptions& options) {
  for (const SlurmUnit& unit : units) {
    const SlurmJob& first = *unit.front();
    const auto pending = [](const SlurmJob* part) { return part->state == SlurmJobState::kPending; };
    if (!std::all_of(unit.begin(), unit.end(), pending)) {
      if (first.state == SlurmJobState::kFinished) leave_out(first, "finished");
      continue;
    }
    if (std::none_of(unit.begin(), unit.end(), [](const SlurmJob* part) { return asks_for_gpus(*part); })) {
      leave_out(first, "no GPUs asked for");
      continue;
    }
    std::string why;
    for (std::size_t p = 0; p < unit.size() && why.empty(); ++p) why = hindrance(*unit[p], options);
    Job job;
    if (why.empty()) {
      job = common(unit);
      why = request(unit, job);
    }
    if (!why.empty()) {
      leave_out(first, why);
      continue;
    }
    add_tasks(first, job);
  }
}

}  // namespace berth::io
