#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "berth/job.hpp"
#include "host/io/fields/kinds.hpp"
#include "host/io/fields/profile_fields.hpp"
#include "host/io/fields/shape_fields.hpp"

/// Tables of the parts of a job, in the order in which they are written.
namespace berth::io {

inline constexpr Field<Estimate> kEstimateFields[] = {
    field<Seconds, &Estimate::run_us>("run_s"),
    field<Seconds, &Estimate::p50_us>("p50_s"),
    field<Seconds, &Estimate::p90_us>("p90_s"),
    field<Text, &Estimate::source>("source"),
};

inline constexpr Field<DeadlineStep> kDeadlineStepFields[] = {
    field<Seconds, &DeadlineStep::at_us>("at_s", kRequired),
    field<Integer<1, kScoreCeiling>, &DeadlineStep::value>("value", kRequired),
};

/// At most kMaxLaterSteps.
struct LaterSteps : List<Object<kDeadlineStepFields>> {
  static void describe(JsonWriter& w) { List::describe(w), w.number("maxItems", kMaxLaterSteps); }
};

inline constexpr Field<Deadline> kDeadlineFields[] = {
    field<Seconds, &Deadline::at_us>("at_s", kRequired),
    field<Boolean, &Deadline::hard>("hard"),
    field<Integer<-kScoreCeiling, kScoreCeiling>, &Deadline::value>("value"),
    field<LaterSteps, &Deadline::later>("later", kOptional, "soft: ascending, with values that fall"),
};

using LevelWait = std::pair<LevelRef, TimeUs>;
inline constexpr Field<LevelWait> kLevelWaitFields[] = {
    field<Topology, &LevelWait::first, &LevelRef::topology>("topology"),
    field<Text, &LevelWait::first, &LevelRef::level>("level", kRequired),
    field<Seconds, &LevelWait::second>("wait_s", kRequired),
};

/// ["one", "of", "these"], or "this".
struct LabelValues : List<Text> {
  static void read(JsonCursor& in, std::vector<std::string>& out) {
    if (in.type() == JsonType::kString) return Text::read(in, out.emplace_back());
    List::read(in, out, out);
  }
  static void describe(JsonWriter& w) {
    w.key("oneOf");
    w.array([&] {
      io::describe<Text>(w);
      w.object([&] { List::describe(w), w.number("minItems", 1); });
    });
  }
};

inline constexpr Field<Constraints> kConstraintsFields[] = {
    field<Map<LabelValues>, &Constraints::labels>("labels"),
    field<List<Text>, &Constraints::required_nodes>("required_nodes"),
    field<List<Text>, &Constraints::excluded_nodes>("excluded_nodes"),
    field<Milli, &Constraints::cpu_milli_per_gpu>("cpu_cores_per_gpu"),
    field<Bytes, &Constraints::memory_bytes_per_gpu>("memory_bytes_per_gpu"),
    field<Bytes, &Constraints::gpu_memory_bytes>("gpu_memory_bytes"),
    field<List<Object<kLevelWaitFields>>, &Constraints::longest_wait>("longest_wait"),
};

inline constexpr Field<Costs> kCheckpointFields[] = {
    field<Seconds, &Costs::checkpoint_every_us>("every_s"),
    field<Seconds, &Costs::checkpoint_save_us>("save_s"),
    field<Seconds, &Costs::checkpoint_restore_us>("restore_s"),
};

struct Checkpoint : Object<kCheckpointFields> {
  static bool absent(const Costs& c) { return c.checkpoint_every_us == 0 && c.checkpoint_save_us == 0 && c.checkpoint_restore_us == 0; }
};

inline constexpr Field<Costs> kCostsFields[] = {
    field<Seconds, &Costs::restart_us>("restart_s"),
    field<Checkpoint>("checkpoint"),
    field<Seconds, &Costs::scale_us>("scale_s"),
    field<Seconds, &Costs::migrate_us>("migrate_s"),
};

inline constexpr Field<Preemption> kPreemptionFields[] = {
    field<AnyInt32, &Preemption::preemption_class>("class"),
    field<Boolean, &Preemption::preemptible>("preemptible"),
    field<Seconds, &Preemption::minimum_run_us>("minimum_run_s"),
    field<Seconds, &Preemption::grace_us>("grace_s"),
    field<Seconds, &Preemption::guaranteed_until_us>("guaranteed_until_s"),
};

inline constexpr Field<AllocationEntry> kAllocationEntryFields[] = {
    field<Text, &AllocationEntry::group>("group"),
    field<Count, &AllocationEntry::member>("member", kAlways),
    field<Text, &AllocationEntry::node>("node", kRequired),
    field<List<DescribedAs<Count, GpuIndex>>, &AllocationEntry::gpus>("gpus", kRequired),
    field<GpuShare, &AllocationEntry::share_ppm>("share"),
    field<Boolean, &AllocationEntry::time_shared>("time_shared"),
};

inline constexpr std::int32_t kMemberNotSaid = -1;

/// Entries that do not state their member get kMemberNotSaid.
struct AllocationEntryObject : Object<kAllocationEntryFields> {
  static void read(JsonCursor& in, AllocationEntry& out) {
    out.member = kMemberNotSaid;
    Object::read(in, out);
  }
};

inline constexpr Field<Allocation> kAllocationFields[] = {
    field<Text, &Allocation::shape>("shape", kRequired),
    field<List<AllocationEntryObject>, &Allocation::entries>("entries", kRequired),
};

/// `gpus` of the short form: one count, or a range to expand.
struct GpuRange {
  enum class Step : std::uint8_t { kAny, kPow2, kNode };
  std::int32_t least = 0;  // 0: the short form was not used
  std::int32_t most = 0;
  Step step = Step::kAny;
  // For one GPU; 0: not stated.
  std::int32_t local_batch = 0;
  std::int64_t learning_rate_pico = 0, max_learning_rate_pico = 0;
};

struct GpuRangeStep {
  static constexpr std::string_view kNames[] = {"any", "pow2", "node"};

  static void read(JsonCursor& in, GpuRange::Step& out) {
    const auto* const at = std::find(std::begin(kNames), std::end(kNames), in.string());
    if (at == std::end(kNames)) in.fail(fmt::format("{} is none of: any, pow2, node", in.shown()));
    out = static_cast<GpuRange::Step>(at - std::begin(kNames));
  }
  static void describe(JsonWriter& w) {
    w.list("enum", kNames, [&](std::string_view name) { w.string(name); });
  }
};

inline constexpr Field<GpuRange> kGpuRangeFields[] = {
    field<Integer<1, kMaxGpusPerJob>, &GpuRange::least>("min", kRequired),
    field<Integer<1, kMaxGpusPerJob>, &GpuRange::most>("max", kRequired),
    field<GpuRangeStep, &GpuRange::step>("step"),
    field<Count, &GpuRange::local_batch>("local_batch"),
    field<LearningRate, &GpuRange::learning_rate_pico>("learning_rate", kOptional, "on one GPU"),
    field<LearningRate, &GpuRange::max_learning_rate_pico>("max_learning_rate"),
};

/// A count, or a range. Shapes are always written in full.
struct ShortGpus {
  using Total = Integer<1, kMaxGpusPerJob>;

  static void read(JsonCursor& in, GpuRange& out) {
    if (in.type() == JsonType::kObject) return read_object(in, out, kGpuRangeFields), void();
    Total::read(in, out.least);
    out.most = out.least;
  }
  static void describe(JsonWriter& w) {
    w.key("oneOf");
    w.array([&] {
      io::describe<Total>(w);
      w.object([&] { describe_fields(w, kGpuRangeFields); });
    });
  }
};

struct ShortTypes {
  static void read(JsonCursor& in, std::vector<std::string>& out) { List<Text>::read(in, out, out); }
  static void describe(JsonWriter& w) { List<Text>::describe(w), w.number("minItems", 1); }
};

/// A job while it is read, with the short forms that are not fields of a Job.
struct JobBeingRead {
  Job& value;
  Extensions& x;
  GpuRange gpus;
  std::vector<std::string> types;
};

inline constexpr Field<JobBeingRead, Job> kJobFields[] = {
    field<Id, &Job::id>("id", kRequired),
    field<Text, &Job::user>("user"),
    field<Text, &Job::tenant>("tenant"),
    field<Text, &Job::queue>("queue"),
    field<Text, &Job::virtual_cluster>("virtual_cluster"),
    field<Seconds, &Job::submit_us>("submit_s", kRequired),
    field<AnyInt32, &Job::priority>("priority"),
    field<Weight, &Job::weight_ppm>("weight"),
    field<Enum<JobKind>, &Job::kind>("kind"),
    field<Enum<JobState>, &Job::state>("state", kAlways),
    field<Seconds, &Job::time_limit_us>("time_limit_s"),
    field<Object<kDeadlineFields>, &Job::deadline>("deadline"),
    field<Object<kEstimateFields>, &Job::estimate>("estimate"),
    field<Shapes, &Job::shapes>("shapes", kAlways),
    field<ShortGpus, &JobBeingRead::gpus>("gpus"),
    field<ShortTypes, &JobBeingRead::types>("types"),
    field<Boolean, &Job::sharing>("sharing"),
    field<Object<kConstraintsFields>, &Job::constraints>("constraints"),
    field<Object<kCostsFields>, &Job::costs>("costs"),
    field<Object<kPreemptionFields>, &Job::preemption>("preemption"),
    field<Object<kProfileFields>, &Job::profile>("profile"),
    field<Object<kProgressFields>, &Job::progress>("progress"),
    field<Object<kAllocationFields>, &Job::allocation>("allocation"),
    field<Seconds, &Job::lease_end_us>("lease_end_s"),
    field<Seconds, &Job::last_assignment_us>("last_assignment_s"),
    field<Seconds, &Job::waiting_since_us>("waiting_since_s"),
};

/// `read_job` of host/io/formats/read_parts.hpp reads it.
struct JobObject {
  static void write(JsonWriter& w, const Job& job) { Object<kJobFields>::write(w, job); }
  static void describe(JsonWriter& w) {
    Object<kJobFields>::describe(w);
    w.key("oneOf");
    w.raw(R"([{"required":["shapes"],"not":{"anyOf":[{"required":["gpus"]},{"required":["types"]}]}},)"
          R"({"required":["gpus"],"not":{"required":["shapes"]}}])");
  }
};

inline constexpr Field<FinishedJob> kFinishedJobFields[] = {
    field<Id, &FinishedJob::id>("id", kRequired),
    field<Text, &FinishedJob::user>("user"),
    field<Text, &FinishedJob::virtual_cluster>("virtual_cluster"),
    field<Count, &FinishedJob::gpus>("gpus"),
    field<Seconds, &FinishedJob::submit_us>("submit_s"),
    field<Seconds, &FinishedJob::run_us>("run_s"),
    field<Text, &FinishedJob::status>("status"),
};

}  // namespace berth::io
