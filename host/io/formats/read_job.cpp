#include <algorithm>
#include <map>
#include <string_view>

#include "host/core/base/huge_pages.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

constexpr Field<Estimate> kEstimate[] = {
    {"run_s", [](JsonCursor& in, Estimate& e) { e.run_us = read_time(in); }},
    {"p50_s", [](JsonCursor& in, Estimate& e) { e.p50_us = read_time(in); }},
    {"p90_s", [](JsonCursor& in, Estimate& e) { e.p90_us = read_time(in); }},
    {"source", [](JsonCursor& in, Estimate& e) { e.source = in.string(); }},
};

constexpr Field<Deadline> kDeadline[] = {
    {"at_s", [](JsonCursor& in, Deadline& d) { d.at_us = read_time(in); }, true},
    {"hard", [](JsonCursor& in, Deadline& d) { d.hard = in.boolean(); }},
    {"value", [](JsonCursor& in, Deadline& d) { d.value = in.integer(-kScoreCeiling, kScoreCeiling); }},
};

struct Wait {
  LevelRef at;
  TimeUs wait_us = 0;
};

constexpr Field<Wait> kWait[] = {
    {"topology", [](JsonCursor& in, Wait& w) { w.at.topology = read_enum<TopologyKind>(in); }},
    {"level", [](JsonCursor& in, Wait& w) { w.at.level = in.string(); }, true},
    {"wait_s", [](JsonCursor& in, Wait& w) { w.wait_us = read_time(in); }, true},
};

void read_waits(JsonCursor& in, Constraints& c) {
  in.array([&] {
    Wait wait;
    read_object(in, wait, kWait);
    c.longest_wait.emplace_back(std::move(wait.at), wait.wait_us);
  });
}

// {"key": ["one", "of", "these"]}, or {"key": "this"}.
void read_label_demands(JsonCursor& in, Constraints& c) {
  DistinctKeys keys;
  in.object([&](std::string_view key) {
    if (!keys.add(key)) in.fail(fmt::format("the field '{}' stands here twice", key));
    std::vector<std::string>& values = c.labels.emplace_back(std::string(key), std::vector<std::string>()).second;
    if (in.type() == JsonType::kString)
      values.emplace_back(in.string());
    else
      values = read_strings(in);
  });
}

constexpr Field<Constraints> kConstraints[] = {
    {"labels", read_label_demands},
    {"required_nodes", [](JsonCursor& in, Constraints& c) { c.required_nodes = read_strings(in); }},
    {"excluded_nodes", [](JsonCursor& in, Constraints& c) { c.excluded_nodes = read_strings(in); }},
    {"cpu_cores_per_gpu", [](JsonCursor& in, Constraints& c) { c.cpu_milli_per_gpu = read_milli(in); }},
    {"memory_bytes_per_gpu", [](JsonCursor& in, Constraints& c) { c.memory_bytes_per_gpu = read_bytes(in); }},
    {"gpu_memory_bytes", [](JsonCursor& in, Constraints& c) { c.gpu_memory_bytes = read_bytes(in); }},
    {"longest_wait", read_waits},
};

constexpr Field<Costs> kCheckpoint[] = {
    {"every_s", [](JsonCursor& in, Costs& c) { c.checkpoint_every_us = read_time(in); }},
    {"save_s", [](JsonCursor& in, Costs& c) { c.checkpoint_save_us = read_time(in); }},
    {"restore_s", [](JsonCursor& in, Costs& c) { c.checkpoint_restore_us = read_time(in); }},
};

constexpr Field<Costs> kCosts[] = {
    {"restart_s", [](JsonCursor& in, Costs& c) { c.restart_us = read_time(in); }},
    {"checkpoint", [](JsonCursor& in, Costs& c) { read_object(in, c, kCheckpoint); }},
    {"scale_s", [](JsonCursor& in, Costs& c) { c.scale_us = read_time(in); }},
    {"migrate_s", [](JsonCursor& in, Costs& c) { c.migrate_us = read_time(in); }},
};

std::int32_t read_int32(JsonCursor& in) { return static_cast<std::int32_t>(in.integer(INT32_MIN, INT32_MAX)); }

constexpr Field<Preemption> kPreemption[] = {
    {"class", [](JsonCursor& in, Preemption& p) { p.preemption_class = read_int32(in); }},
    {"preemptible", [](JsonCursor& in, Preemption& p) { p.preemptible = in.boolean(); }},
    {"minimum_run_s", [](JsonCursor& in, Preemption& p) { p.minimum_run_us = read_time(in); }},
    {"grace_s", [](JsonCursor& in, Preemption& p) { p.grace_us = read_time(in); }},
    {"guaranteed_until_s", [](JsonCursor& in, Preemption& p) { p.guaranteed_until_us = read_time(in); }},
};

constexpr Field<AllocationEntry> kAllocationFields[] = {
    {"group", [](JsonCursor& in, AllocationEntry& e) { e.group = in.string(); }},
    {"member", [](JsonCursor& in, AllocationEntry& e) { e.member = read_count(in); }},
    {"node", [](JsonCursor& in, AllocationEntry& e) { e.node = in.string(); }, true},
    {"gpus", [](JsonCursor& in, AllocationEntry& e) { e.gpus = read_indices(in); }, true},
    {"share", [](JsonCursor& in, AllocationEntry& e) { e.share_ppm = read_share(in); }},
    {"time_shared", [](JsonCursor& in, AllocationEntry& e) { e.time_shared = in.boolean(); }},
};

void read_entries(JsonCursor& in, Allocation& a) {
  in.array([&] {
    AllocationEntry& entry = a.entries.emplace_back();
    entry.member = kMemberNotSaid;
    read_object(in, entry, kAllocationFields);
  });
}

constexpr Field<Allocation> kAllocation[] = {
    {"shape", [](JsonCursor& in, Allocation& a) { a.shape = in.string(); }, true},
    {"entries", read_entries, true},
};

constexpr std::string_view kSteps[] = {"any", "pow2", "node"};

constexpr Field<GpuRange> kGpuRange[] = {
    {"min", [](JsonCursor& in, GpuRange& g) { g.least = static_cast<std::int32_t>(in.integer(1, kMaxGpusPerJob)); }, true},
    {"max", [](JsonCursor& in, GpuRange& g) { g.most = static_cast<std::int32_t>(in.integer(1, kMaxGpusPerJob)); }, true},
    {"step",
     [](JsonCursor& in, GpuRange& g) {
       const auto at = std::find(std::begin(kSteps), std::end(kSteps), in.string());
       if (at == std::end(kSteps)) in.fail(fmt::format("{} is none of: any, pow2, node", in.shown()));
       g.step = static_cast<GpuRange::Step>(at - std::begin(kSteps));
     }},
    {"local_batch", [](JsonCursor& in, GpuRange& g) { g.local_batch = read_count(in); }},
    {"learning_rate", [](JsonCursor& in, GpuRange& g) { g.learning_rate_pico = in.decimal(12, 0, kScoreCeiling); }},
    {"max_learning_rate", [](JsonCursor& in, GpuRange& g) { g.max_learning_rate_pico = in.decimal(12, 0, kScoreCeiling); }},
};

// A job while it is read, with the short forms that are not fields of a Job.
struct JobBeingRead {
  Job& job;
  Extensions& x;
  GpuRange gpus;
  std::vector<std::string> types;
};

void read_gpu_range(JsonCursor& in, JobBeingRead& r) {
  if (in.type() == JsonType::kObject) {
    read_object(in, r.gpus, kGpuRange);
  } else {
    r.gpus.least = r.gpus.most = static_cast<std::int32_t>(in.integer(1, kMaxGpusPerJob));
  }
}

constexpr Field<JobBeingRead> kJobFields[] = {
    {"id", [](JsonCursor& in, JobBeingRead& r) { r.job.id = in.string(); }, true},
    {"user", [](JsonCursor& in, JobBeingRead& r) { r.job.user = in.string(); }},
    {"tenant", [](JsonCursor& in, JobBeingRead& r) { r.job.tenant = in.string(); }},
    {"queue", [](JsonCursor& in, JobBeingRead& r) { r.job.queue = in.string(); }},
    {"virtual_cluster", [](JsonCursor& in, JobBeingRead& r) { r.job.virtual_cluster = in.string(); }},
    {"submit_s", [](JsonCursor& in, JobBeingRead& r) { r.job.submit_us = read_time(in); }, true},
    {"priority", [](JsonCursor& in, JobBeingRead& r) { r.job.priority = read_int32(in); }},
    {"weight", [](JsonCursor& in, JobBeingRead& r) { r.job.weight_ppm = read_weight(in); }},
    {"kind", [](JsonCursor& in, JobBeingRead& r) { r.job.kind = read_enum<JobKind>(in); }},
    {"state", [](JsonCursor& in, JobBeingRead& r) { r.job.state = read_enum<JobState>(in); }},
    {"time_limit_s", [](JsonCursor& in, JobBeingRead& r) { r.job.time_limit_us = read_time(in); }},
    {"deadline", [](JsonCursor& in, JobBeingRead& r) { read_object(in, r.job.deadline, kDeadline); }},
    {"estimate", [](JsonCursor& in, JobBeingRead& r) { read_object(in, r.job.estimate, kEstimate); }},
    {"shapes", [](JsonCursor& in, JobBeingRead& r) { read_shapes(in, r.job.shapes); }},
    {"gpus", read_gpu_range},
    {"types", [](JsonCursor& in, JobBeingRead& r) { r.types = read_strings(in); }},
    {"sharing", [](JsonCursor& in, JobBeingRead& r) { r.job.sharing = in.boolean(); }},
    {"constraints", [](JsonCursor& in, JobBeingRead& r) { read_object(in, r.job.constraints, kConstraints); }},
    {"costs", [](JsonCursor& in, JobBeingRead& r) { read_costs(in, r.job.costs); }},
    {"preemption", [](JsonCursor& in, JobBeingRead& r) { read_object(in, r.job.preemption, kPreemption); }},
    {"profile", [](JsonCursor& in, JobBeingRead& r) { read_profile(in, r.job.profile); }},
    {"progress", [](JsonCursor& in, JobBeingRead& r) { read_progress(in, r.job.progress); }},
    {"allocation", [](JsonCursor& in, JobBeingRead& r) { read_object(in, r.job.allocation, kAllocation); }},
    {"lease_end_s", [](JsonCursor& in, JobBeingRead& r) { r.job.lease_end_us = read_time(in); }},
    {"last_assignment_s", [](JsonCursor& in, JobBeingRead& r) { r.job.last_assignment_us = read_time(in); }},
    {"waiting_since_s", [](JsonCursor& in, JobBeingRead& r) { r.job.waiting_since_us = read_time(in); }},
};
constexpr std::size_t kShapesField = 13, kGpusField = 14, kTypesField = 15;
static_assert(kJobFields[kShapesField].name == "shapes" && kJobFields[kGpusField].name == "gpus" &&
              kJobFields[kTypesField].name == "types");

void settle_shapes(JsonCursor& in, const char* at, std::uint64_t seen, JobBeingRead& row, std::size_t index,
                   std::vector<PendingShapes>& pending) {
  const auto has = [seen](std::size_t field) { return (seen >> field & 1) != 0; };
  if (has(kShapesField)) {
    if (has(kGpusField) || has(kTypesField))
      in.fail_at(at, "'gpus' and 'types' are the short form of 'shapes'; only one of the two forms may stand here");
    return;
  }
  if (!has(kGpusField)) in.fail_at(at, "the field 'shapes' (or its short form 'gpus') is missing");
  if (has(kTypesField) && row.types.empty()) in.fail_at(at, "'types' is empty: the job could run nowhere");
  if (row.gpus.step == GpuRange::Step::kNode) {
    pending.push_back({index, row.gpus, std::move(row.types)});
    return;
  }
  const std::string problem = expand_shapes(row.gpus, row.types, {}, row.job.shapes);
  if (!problem.empty()) in.fail_at(at, problem);
}

// Estimates the number of jobs in the text, rather too high than too low.
// It counts a key that each job must have, in samples of a long text.
std::size_t jobs_in(std::string_view text) {
  constexpr std::string_view kKey = "\"submit_s\"";
  constexpr std::size_t kPieces = 16, kPiece = std::size_t{1} << 16;
  std::size_t found = 0, read = 0;
  const std::size_t step = std::max(kPiece, text.size() / kPieces);
  for (std::size_t begin = 0; begin < text.size(); begin += step) {
    const std::string_view piece = text.substr(begin, kPiece);
    for (std::size_t at = piece.find(kKey); at != piece.npos; at = piece.find(kKey, at + kKey.size())) ++found;
    read += piece.size();
  }
  if (read == text.size() || read == 0) return found;
  return static_cast<std::size_t>(static_cast<double>(found) / static_cast<double>(read) * static_cast<double>(text.size()) * 1.05);
}

constexpr Field<FinishedJob> kFinished[] = {
    {"id", [](JsonCursor& in, FinishedJob& f) { f.id = in.string(); }, true},
    {"user", [](JsonCursor& in, FinishedJob& f) { f.user = in.string(); }},
    {"virtual_cluster", [](JsonCursor& in, FinishedJob& f) { f.virtual_cluster = in.string(); }},
    {"gpus", [](JsonCursor& in, FinishedJob& f) { f.gpus = read_count(in); }},
    {"submit_s", [](JsonCursor& in, FinishedJob& f) { f.submit_us = read_time(in); }},
    {"run_s", [](JsonCursor& in, FinishedJob& f) { f.run_us = read_time(in); }},
    {"status", [](JsonCursor& in, FinishedJob& f) { f.status = in.string(); }},
};

}  // namespace

void read_costs(JsonCursor& in, Costs& out) { read_object(in, out, kCosts); }

void settle_members(const std::vector<Shape>& shapes, Allocation& allocation) {
  struct Ranks {
    std::int32_t gpus_per_member = 1;
    std::int64_t next = 0;
  };
  std::map<std::string_view, Ranks> groups;
  for (const Shape& shape : shapes) {
    if (shape.id != allocation.shape) continue;
    for (const Group& g : shape.groups) groups[g.name].gpus_per_member = std::max(1, g.gpus_per_member);
  }
  for (AllocationEntry& e : allocation.entries) {
    Ranks& ranks = groups[e.group];
    if (e.member == kMemberNotSaid) e.member = static_cast<std::int32_t>(std::min<std::int64_t>(ranks.next, INT32_MAX));
    ranks.next = e.member + static_cast<std::int64_t>(e.gpus.size()) / ranks.gpus_per_member;
  }
}

void read_job(JsonCursor& in, Job& job, std::size_t index, std::vector<PendingShapes>& pending) {
  const char* at = in.next_mark();
  JobBeingRead row{job, job.x, {}, {}};
  const std::uint64_t seen = read_object(in, row, kJobFields);
  settle_shapes(in, at, seen, row, index, pending);
  if (!job.allocation.entries.empty()) settle_members(job.shapes, job.allocation);
}

void read_jobs(JsonCursor& in, std::vector<Job>& out, std::vector<PendingShapes>& pending) {
  // Jobs are large, so a list that grows by doubling would move all of them repeatedly.
  constexpr std::size_t kFew = 64;
  in.array([&] {
    if (out.size() == kFew) {
      out.reserve(kFew + jobs_in(in.rest()));
      core::prefer_huge_pages(out.data(), out.capacity() * sizeof(Job));
    }
    Job& job = out.emplace_back();
    read_job(in, job, out.size() - 1, pending);
  });
}

void read_allocation(JsonCursor& in, Allocation& out) { read_object(in, out, kAllocation); }

void read_history(JsonCursor& in, std::vector<FinishedJob>& out) { read_rows(in, out, kFinished); }

}  // namespace berth::io
