#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "host/io/slurm/slurm_json.hpp"

namespace berth::io {
namespace {

struct SlurmJobRow {
  SlurmJob& job;
  std::int64_t& names_left;
  std::int64_t seen_at = 0;
};

struct StateName {
  std::string_view name;
  SlurmJobState state;
};
constexpr StateName kJobStates[] = {
    {"PENDING", SlurmJobState::kPending},        {"RUNNING", SlurmJobState::kRunning},     {"CONFIGURING", SlurmJobState::kRunning},
    {"RESIZING", SlurmJobState::kRunning},       {"SIGNALING", SlurmJobState::kRunning},   {"STOPPED", SlurmJobState::kRunning},
    {"POWER_UP_NODE", SlurmJobState::kRunning},  {"SUSPENDED", SlurmJobState::kSuspended}, {"COMPLETING", SlurmJobState::kCompleting},
    {"STAGE_OUT", SlurmJobState::kCompleting},   {"COMPLETED", SlurmJobState::kFinished},  {"CANCELLED", SlurmJobState::kFinished},
    {"FAILED", SlurmJobState::kFinished},        {"TIMEOUT", SlurmJobState::kFinished},    {"NODE_FAIL", SlurmJobState::kFinished},
    {"PREEMPTED", SlurmJobState::kFinished},     {"BOOT_FAIL", SlurmJobState::kFinished},  {"DEADLINE", SlurmJobState::kFinished},
    {"OUT_OF_MEMORY", SlurmJobState::kFinished},
};

void read_state(JsonCursor& in, SlurmJobRow& row) {
  for (const std::string& name : read_slurm_names(in)) {
    const auto known = std::find_if(std::begin(kJobStates), std::end(kJobStates), [&](const StateName& s) { return s.name == name; });
    const SlurmJobState state = known == std::end(kJobStates) ? SlurmJobState::kOther : known->state;
    if (row.job.state_name.empty() || state > row.job.state) row.job.state_name = name;
    row.job.state = std::max(row.job.state, state);
  }
}

void read_gpu_list(JsonCursor& in, GpuCount& out) {
  const std::string text = read_slurm_text(in);
  const std::string problem = parse_gpus(text, out);
  if (!problem.empty()) in.fail(problem);
  if (out.type == "*") in.fail("'*' is no GPU type");
  check_slurm_name(in, out.type);
  if (out.count > kMaxGpusPerJob) in.fail(fmt::format("{} are more than {} GPUs", out.count, kMaxGpusPerJob));
}

void read_tres_list(JsonCursor& in, Tres& out) {
  const std::string text = read_slurm_text(in);
  const std::string problem = parse_tres(text, out);
  if (!problem.empty()) in.fail(problem);
}

// One text per node, in the order of the job's nodes.
void read_node_gpus(JsonCursor& in, SlurmJobRow& row) {
  if (in.type() != JsonType::kArray) {
    in.raw();
    return;
  }
  in.array([&] {
    const std::string text = read_slurm_text(in);
    std::vector<Gres> list;
    const std::string problem = parse_gres(text, list);
    if (!problem.empty()) in.fail(problem);
    SlurmJob::NodeGpus& gpus = row.job.node_gpus.emplace_back();
    gpus.indexed = true;
    for (const Gres& one : list) {
      if (one.name != "gpu") continue;
      gpus.count += one.count;
      gpus.indices |= one.indices;
      gpus.indexed = gpus.indexed && (one.indexed || one.count == 0);
      gpus.beyond = gpus.beyond || one.beyond;
    }
  });
}

// A count that is 0 where Slurm leaves it unset.
std::int64_t read_small(JsonCursor& in) {
  const std::int64_t number = read_slurm_number(in);
  if (number == kSlurmUnset || number == kSlurmInfinite) return 0;
  if (number < 0 || number > UINT32_MAX) in.fail(fmt::format("{} is not within 0 to {}", number, UINT32_MAX));
  return number > kSlurmLast32 ? 0 : number;
}

bool read_flag(JsonCursor& in) {
  if (in.type() == JsonType::kBool) return in.boolean();
  return read_small(in) != 0;
}

void read_shared(JsonCursor& in, SlurmJobRow& row) {
  const std::vector<std::string> names = read_slurm_names(in);
  row.job.exclusive = std::find(names.begin(), names.end(), "none") != names.end();
}

std::int64_t read_minutes(JsonCursor& in) {
  const std::int64_t minutes = read_slurm_number(in);
  if (minutes == kSlurmUnset || minutes == kSlurmInfinite) return minutes;
  if (minutes < 0 || minutes > kMaxTimeUs / (60 * kSecond)) in.fail(fmt::format("{} is no number of minutes", minutes));
  return minutes;
}

// A duration that can be added to instants without overflow.
std::int64_t read_seconds(JsonCursor& in) {
  const std::int64_t seconds = read_slurm_number(in);
  if (seconds == kSlurmUnset || seconds == kSlurmInfinite) return 0;
  constexpr std::int64_t kMost = kMaxTimeUs / kSecond - kSlurmLastInstant;
  if (seconds < 0 || seconds > kMost) in.fail(fmt::format("{} is no number of seconds", seconds));
  return seconds;
}

std::int64_t read_task_id(JsonCursor& in) {
  const bool plain = in.type() == JsonType::kNumber;
  const std::int64_t task = read_slurm_number(in);
  if (task == kSlurmInfinite || (task == kSlurmUnset && !plain)) return kSlurmUnset;
  if (task < 0 || task > UINT32_MAX) in.fail(fmt::format("{} is not within 0 to {}", task, UINT32_MAX));
  return task > kSlurmLast32 ? kSlurmUnset : task;
}

std::int64_t read_priority(JsonCursor& in) {
  const std::int64_t priority = read_slurm_number(in);
  if (priority < kSlurmUnset) in.fail(fmt::format("{} is no priority", priority));
  return std::max<std::int64_t>(priority, 0);
}

void read_cpus_per_gpu(JsonCursor& in, SlurmJobRow& row) {
  GpuCount count;
  read_gpu_list(in, count);
  row.job.cpus_per_gpu = count.count;
}

constexpr Field<SlurmJobRow> kSlurmJobFields[] = {
    {"account", [](JsonCursor& in, SlurmJobRow& r) { r.job.account = read_slurm_name(in); }},
    {"array_job_id", [](JsonCursor& in, SlurmJobRow& r) { r.job.array_id = read_small(in); }},
    {"array_task_id", [](JsonCursor& in, SlurmJobRow& r) { r.job.array_task = read_task_id(in); }},
    {"array_max_tasks", [](JsonCursor& in, SlurmJobRow& r) { r.job.array_limit = read_small(in); }},
    {"array_task_string", [](JsonCursor& in, SlurmJobRow& r) { r.job.array_tasks = read_slurm_text(in); }},
    {"contiguous", [](JsonCursor& in, SlurmJobRow& r) { r.job.contiguous = read_flag(in); }},
    {"cpus_per_tres", read_cpus_per_gpu},
    {"deadline", [](JsonCursor& in, SlurmJobRow& r) { r.job.deadline = read_slurm_instant(in); }},
    {"dependency", [](JsonCursor& in, SlurmJobRow& r) { r.job.dependency = read_slurm_text(in); }},
    {"eligible_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.eligible = read_slurm_instant(in); }, true},
    {"end_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.end = read_slurm_instant(in); }},
    {"excluded_nodes", [](JsonCursor& in, SlurmJobRow& r) { r.job.excluded_nodes = read_slurm_hosts(in, r.names_left); }},
    {"features", [](JsonCursor& in, SlurmJobRow& r) { r.job.features = read_slurm_expression(in); }},
    {"gres_detail", read_node_gpus},
    {"het_job_id", [](JsonCursor& in, SlurmJobRow& r) { r.job.het_id = read_small(in); }},
    {"het_job_offset", [](JsonCursor& in, SlurmJobRow& r) { r.job.het_offset = read_small(in); }},
    {"job_id", [](JsonCursor& in, SlurmJobRow& r) { r.job.id = in.integer(0, UINT32_MAX); }, true},
    {"job_state", read_state, true},
    {"last_sched_evaluation", [](JsonCursor& in, SlurmJobRow& r) { r.seen_at = read_slurm_instant(in); }},
    {"licenses", [](JsonCursor& in, SlurmJobRow& r) { r.job.licenses = read_slurm_text(in); }},
    {"max_nodes", [](JsonCursor& in, SlurmJobRow& r) { r.job.max_nodes = read_small(in); }},
    {"maximum_switch_wait_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.switch_wait_s = read_seconds(in); }},
    {"nodes", [](JsonCursor& in, SlurmJobRow& r) { r.job.nodes = read_slurm_hosts(in, r.names_left); }, true},
    {"node_count", [](JsonCursor& in, SlurmJobRow& r) { r.job.node_count = read_small(in); }, true},
    {"tasks", [](JsonCursor& in, SlurmJobRow& r) { r.job.tasks = read_small(in); }},
    {"partition", [](JsonCursor& in, SlurmJobRow& r) { r.job.partition = read_slurm_expression(in); }, true},
    {"prefer", [](JsonCursor& in, SlurmJobRow& r) { r.job.prefer = read_slurm_text(in); }},
    {"pre_sus_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.ran_before_s = read_seconds(in); }},
    {"priority", [](JsonCursor& in, SlurmJobRow& r) { r.job.priority = read_priority(in); }, true},
    {"qos", [](JsonCursor& in, SlurmJobRow& r) { r.job.qos = read_slurm_name(in); }},
    {"required_nodes", [](JsonCursor& in, SlurmJobRow& r) { r.job.required_nodes = read_slurm_hosts(in, r.names_left); }},
    {"required_switches", [](JsonCursor& in, SlurmJobRow& r) { r.job.switches = read_small(in); }},
    {"minimum_switches", [](JsonCursor& in, SlurmJobRow& r) { r.job.switches = read_small(in); }},  // the same field, up to v0.0.41
    {"requeue", [](JsonCursor& in, SlurmJobRow& r) { r.job.requeue = read_flag(in); }},
    {"restart_cnt", [](JsonCursor& in, SlurmJobRow& r) { r.job.restarts = read_small(in); }},
    {"resv_name", [](JsonCursor& in, SlurmJobRow& r) { r.job.reservation = read_slurm_text(in); }},
    {"segment_size", [](JsonCursor& in, SlurmJobRow& r) { r.job.segment = read_small(in); }},
    {"shared", read_shared},
    {"start_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.start = read_slurm_instant(in); }, true},
    {"state_reason", [](JsonCursor& in, SlurmJobRow& r) { r.job.reason = read_slurm_text(in); }, true},
    {"submit_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.submit = read_slurm_instant(in); }, true},
    {"suspend_time", [](JsonCursor& in, SlurmJobRow& r) { r.job.suspended_at = read_slurm_instant(in); }},
    {"time_limit", [](JsonCursor& in, SlurmJobRow& r) { r.job.time_limit_min = read_minutes(in); }, true},
    {"tres_per_job", [](JsonCursor& in, SlurmJobRow& r) { read_gpu_list(in, r.job.per_job); }, true},
    {"tres_per_node", [](JsonCursor& in, SlurmJobRow& r) { read_gpu_list(in, r.job.per_node); }, true},
    {"tres_per_socket", [](JsonCursor& in, SlurmJobRow& r) { read_gpu_list(in, r.job.per_socket); }},
    {"tres_per_task", [](JsonCursor& in, SlurmJobRow& r) { read_gpu_list(in, r.job.per_task); }, true},
    {"tres_req_str", [](JsonCursor& in, SlurmJobRow& r) { read_tres_list(in, r.job.asked); }, true},
    {"tres_alloc_str", [](JsonCursor& in, SlurmJobRow& r) { read_tres_list(in, r.job.held); }},
    {"user_name", [](JsonCursor& in, SlurmJobRow& r) { r.job.user = read_slurm_name(in); }},
    {"steps", [](JsonCursor& in, SlurmJobRow&) { in.fail("this is accounting data (sacct); 'berth import sacct' reads it"); }},
};
static_assert(std::size(kSlurmJobFields) <= 64, "one bit a field");

}  // namespace

std::string slurm_job_name(const SlurmJob& job) {
  if (job.het_id != 0) return std::to_string(job.het_id);
  if (job.array_id != 0 && job.array_task >= 0) return fmt::format("{}_{}", job.array_id, job.array_task);
  return std::to_string(job.id);
}

void read_slurm_jobs(JsonCursor& in, SlurmData& data, std::int64_t& names_left, SlurmGap& gap) {
  SlurmRows<SlurmJobRow> rows(kSlurmJobFields);
  // Rows by job_id, and by heterogeneous job and offset.
  std::unordered_map<std::int64_t, std::size_t> ids;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> components;
  in.array([&] {
    const char* at = in.next_mark();
    const std::size_t number = data.jobs.size();
    if (number == static_cast<std::size_t>(kMaxJobs)) in.fail(fmt::format("more than {} jobs", kMaxJobs));
    SlurmJobRow row{data.jobs.emplace_back(), names_left};
    row.job.at = at;
    const std::uint64_t seen = rows.read(in, row);
    std::string missing = rows.missing(seen);
    const SlurmJob& job = row.job;
    // Without it the components of a job cannot be distinguished.
    if (missing.empty() && job.het_id != 0 && !rows.has(seen, "het_job_offset")) missing = "het_job_offset";
    if (!missing.empty() && gap.at == nullptr) gap = {at, fmt::format("/jobs/{}", number), missing};
    if (!missing.empty()) return;
    rows.note_lack(seen, [&] { return slurm_job_name(job); });
    if (const auto [first, fresh] = ids.emplace(job.id, number); !fresh)
      in.fail_at(at, fmt::format("job_id {} is that of /jobs/{} too", job.id, first->second));
    if (job.het_id != 0) {
      const auto [first, fresh] = components.emplace(std::pair(job.het_id, job.het_offset), number);
      if (!fresh)
        in.fail_at(at,
                   fmt::format("het_job_offset {} of het_job_id {} is that of /jobs/{} too", job.het_offset, job.het_id, first->second));
    }
    const bool started = job.state == SlurmJobState::kRunning || job.state == SlurmJobState::kSuspended;
    data.now = std::max({data.now, row.seen_at, job.submit, job.suspended_at, started ? job.start : 0});
  });
  gap.jobs = rows.lacks();
}

}  // namespace berth::io
