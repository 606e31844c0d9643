#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>

#include "berth/io.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/quota/queue_standing.hpp"
#include "host/core/state/state_view.hpp"
#include "host/io/fields/kinds.hpp"
#include "host/io/formats/bound_json.hpp"
#include "host/io/formats/plan_promises.hpp"
#include "host/io/formats/plan_shape.hpp"
#include "host/io/formats/queue_rows.hpp"
#include "host/io/formats/schemas.hpp"

namespace berth::io {
namespace {

// The most frequent cause of unknown names is a plan of another state.
constexpr std::string_view kOther = "is this plan of another snapshot?";

struct Hexadecimal : Unsigned {
  static void read(JsonCursor& in, std::uint64_t& out) { parse(in, in.string(), 16, out); }
  static void write(JsonWriter& w, std::uint64_t value) { w.string(fmt::format("{:016x}", value)); }
  static void describe(JsonWriter& w) { w.text("type", "string"), w.text("pattern", "^[0-9a-f]{1,16}$"); }
};

struct BackendNote : Text {
  static void read(JsonCursor& in, std::string& out) { out = core::escape_control(in.string(), true); }
};

struct StoppedBy : DisplayedText {
  static void describe(JsonWriter& w) { w.key("enum"), w.raw(R"(["done","iterations","budget","cancel"])"); }
};

// A wall-clock time, measured.
struct MeasuredSeconds {
  static void read(JsonCursor& in, double& out) {
    const std::string_view text = in.raw();
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) {
      in.fail(fmt::format("expected a number, not {}", in.shown()));
    }
  }
  static void write(JsonWriter& w, double value) { w.raw(fmt::format("{:.6f}", value)); }
  static void describe(JsonWriter& w) { w.text("type", "number"); }
};

using NotNegative = Integer<0, INT64_MAX>;
using Counted = DescribedAs<AnyInteger, NotNegative>;
using Counted32 = DescribedAs<AnyInt32, NotNegative>;

// In the file a job, a node or a queue has its id, in a plan its index. Every row has the state.

struct JobId : Text {
  static void read(JsonCursor& in, std::int32_t& out, const auto& row) {
    out = row.state.find_job(in.string());
    if (out < 0) in.fail(fmt::format("the snapshot has no job {}: {}", in.shown(), kOther));
  }
  static void write(JsonWriter& w, std::int32_t job, const auto& row) { w.string(row.state.job(job)->id); }
};

struct OtherJobId : JobId {
  static bool absent(std::int32_t job, const auto& row) {
    return job < 0 || job >= row.state.job_index_end() || row.state.job(job) == nullptr;
  }
};

struct NodeId : Text {
  static void read(JsonCursor& in, std::int32_t& out, const auto& row) {
    out = row.state.find_node(in.string());
    if (out < 0) in.fail(fmt::format("the snapshot has no node {}: {}", in.shown(), kOther));
  }
  static void write(JsonWriter& w, std::int32_t node, const auto& row) { w.string(row.state.node(node).id); }
};

struct QueueId : Text {
  static void read(JsonCursor& in, std::int32_t& out, const auto& row) {
    const std::string_view id = in.string();
    const std::vector<Queue>& queues = StateView(row.state).queues();
    const auto found = std::find_if(queues.begin(), queues.end(), [&](const Queue& queue) { return queue.id == id; });
    if (found == queues.end()) in.fail(fmt::format("the snapshot has no queue {}: {}", in.shown(), kOther));
    out = static_cast<std::int32_t>(found - queues.begin());
  }
  static bool absent(std::int32_t queue, const auto& row) {
    return queue < 0 || queue >= static_cast<std::int32_t>(StateView(row.state).queues().size());
  }
  static void write(JsonWriter& w, std::int32_t queue, const auto& row) {
    w.string(StateView(row.state).queues()[static_cast<std::size_t>(queue)].id);
  }
};

struct ReasonIn {
  const ClusterState& state;
  Reason& value;
};
struct ReasonOut {
  const ClusterState& state;
  const Reason& value;
  std::int32_t job;
};

struct UnavailableNodes : List<NodeId> {
  using Nodes = decltype(Reason::unavailable_on);

  static void read(JsonCursor& in, Nodes& out, const ReasonIn& row) {
    std::size_t n = 0;
    in.array([&] {
      std::int32_t node = -1;
      NodeId::read(in, node, row);
      if (n == out.size()) in.fail(fmt::format("at most {} nodes stand here", n));
      out[n++] = node;
    });
  }
  static void write(JsonWriter& w, const Nodes& nodes, const ReasonOut& row) {
    w.array([&] {
      for (const std::int32_t node : nodes) {
        if (node >= 0) NodeId::write(w, node, row);
      }
    });
  }
  static void describe(JsonWriter& w) { List::describe(w), w.number("maxItems", static_cast<std::int64_t>(Nodes{}.size())); }
};

constexpr Field<ReasonIn, ReasonOut> kUnavailableFields[] = {
    field<Counted, &Reason::drained>("drained"),
    field<Counted, &Reason::failed>("failed"),
    field<DescribedAs<AnyInt32, Integer<1, INT64_MAX>>, &Reason::unavailable_nodes>("node_count", kRequired),
    field<UnavailableNodes, &Reason::unavailable_on>("nodes", kRequired),
};

struct Unavailable : Object<kUnavailableFields> {
  static bool absent(const ReasonOut& row) { return row.value.unavailable_nodes == 0; }
};

constexpr Field<ReasonIn, ReasonOut> kEvidenceFields[] = {
    field<Boolean, &Reason::certified>("certified"),
    field<Integer<0, kTopologyKinds - 1>, &Reason::topology>("topology"),
    field<Integer<-1, kMaxLevels>, &Reason::level>("level"),
    field<AnyInt32, &Reason::where>("where"),
    field<OtherJobId, &Reason::other_job>("other_job"),
    field<QueueId, &Reason::queue>("queue"),
    field<AnyInt32, &Reason::gpu_type>("gpu_type"),
    field<AnyInteger, &Reason::missing>("missing"),
    field<Counted32, &Reason::members>("members"),
    field<Counted32, &Reason::apart>("apart"),
    field<Boolean, &Reason::with_cpu_and_memory>("with_cpu_and_memory"),
    field<Boolean, &Reason::some_nodes>("some_nodes"),
    field<Counted, &Reason::free>("free"),
    field<AnyMicro, &Reason::until_us>("until_s"),
    field<Unavailable>("unavailable"),
};

// Texts are generated from the evidence; reading them back could only introduce contradictions.
template <auto Render>
constexpr Field<ReasonIn, ReasonOut> rendered(std::string_view name) {
  return {name, [](JsonCursor& in, ReasonIn& /*row*/) { in.string(); }, false,
          [](JsonWriter& w, std::string_view key, const ReasonOut& row) { w.text_unless(key, Render(row), ""); }, &describe<Text>};
}

std::string reason_text(const ReasonOut& row) { return render_reason(row.state, row.value, row.job); }
std::string where_text(const ReasonOut& row) { return render_where(row.state, row.value); }
std::string change_text(const ReasonOut& row) { return render_would_start_if(row.state, row.value, row.job); }

constexpr Field<ReasonIn, ReasonOut> kReasonFields[] = {
    field<Enum<ReasonCode>, &Reason::code>("code", kRequired),
    rendered<reason_text>("text"),
    field<AnyInteger, &Reason::asked>("asked", kAlways),
    field<AnyInteger, &Reason::best>("best", kAlways),
    rendered<where_text>("where"),
    rendered<change_text>("would_start_if"),
    field<Object<kEvidenceFields>>("evidence", kAlways),
};

struct EntryIn {
  const ClusterState& state;
  PlanEntry value;
  std::string group;
  bool has_members = false;
};
struct EntryOut {
  const ClusterState& state;
  const PlanEntry& value;
  const Shape* shape;
};

struct GpuMask {
  static void read(JsonCursor& in, std::uint64_t& out) {
    in.array([&] {
      const std::uint64_t bit = std::uint64_t{1} << in.integer(0, kMaxGpusPerNode - 1);
      if ((out & bit) != 0) in.fail(fmt::format("duplicate GPU {}", in.shown()));
      out |= bit;
    });
  }
  static void write(JsonWriter& w, std::uint64_t gpus) {
    w.array([&] {
      for (std::uint64_t left = gpus; left != 0; left &= left - 1) w.integer(std::countr_zero(left));
    });
  }
  static void describe(JsonWriter& w) { List<GpuIndex>::describe(w); }
};

// Named, where the shape has groups.
struct GroupName : Text {
  static void read(JsonCursor& in, std::int32_t& /*settled later*/, EntryIn& row) { row.group = in.string(); }
  static bool absent(std::int32_t /*group*/, const EntryOut& row) { return row.shape == nullptr || row.shape->groups.empty(); }
  static void write(JsonWriter& w, std::int32_t group, const EntryOut& row) {
    w.string(row.shape->groups.at(static_cast<std::size_t>(group)).name);
  }
};

struct EntryMembers : Count {
  static void read(JsonCursor& in, std::int32_t& out, EntryIn& row) {
    Count::read(in, out);
    row.has_members = true;
  }
  static bool absent(std::int32_t members, const EntryOut& row) { return members == members_of(row.shape, row.value); }
};

constexpr Field<EntryIn, EntryOut> kEntryFields[] = {
    field<NodeId, &PlanEntry::node>("node", kRequired),
    field<GpuMask, &PlanEntry::gpus>("index", kRequired),
    field<GroupName, &PlanEntry::group>("group"),
    field<Count, &PlanEntry::member>("member"),
    field<EntryMembers, &PlanEntry::members>("members"),
    field<GpuShare, &PlanEntry::share_ppm>("share"),
    field<Boolean, &PlanEntry::time_shared>("time_shared", kOptional, "the holders of shares of the GPU use it in time slices"),
};

struct DecisionIn {
  const ClusterState& state;
  Decision value;
  std::string shape;
  std::vector<EntryIn> entries;
};
struct DecisionOut {
  const ClusterState& state;
  const Plan& plan;
  const Decision& value;
  const Shape* shape;
};

struct ShapeId : Text {
  static void read(JsonCursor& in, std::int32_t& /*settled later*/, DecisionIn& row) { row.shape = in.string(); }
  static bool absent(std::int32_t /*shape*/, const DecisionOut& row) { return row.shape == nullptr; }
  static void write(JsonWriter& w, std::int32_t /*shape*/, const DecisionOut& row) { w.string(row.shape->id); }
};

struct Entries {
  static void read(JsonCursor& in, DecisionIn& row) {
    in.array([&] { read_object(in, row.entries.emplace_back(EntryIn{row.state, {}, {}, false}), kEntryFields); });
  }
  static bool absent(const DecisionOut& row) { return row.value.entry_begin == row.value.entry_end; }
  static void write(JsonWriter& w, const DecisionOut& row) {
    w.array([&] {
      for (std::int32_t i = row.value.entry_begin; i < row.value.entry_end; ++i) {
        Object<kEntryFields>::write(w, EntryOut{row.state, row.plan.entries.at(static_cast<std::size_t>(i)), row.shape});
      }
    });
  }
  static void describe(JsonWriter& w) { List<Object<kEntryFields>>::describe(w); }
};

struct ReasonObject : Object<kReasonFields> {
  static void read(JsonCursor& in, Reason& out, const DecisionIn& row) {
    ReasonIn reason{row.state, out};
    Object::read(in, reason);
  }
  static void write(JsonWriter& w, const Reason& reason, const DecisionOut& row) {
    Object::write(w, ReasonOut{row.state, reason, row.value.job});
  }
};

constexpr Field<DecisionIn, DecisionOut> kDecisionFields[] = {
    field<JobId, &Decision::job>("job", kRequired),
    field<Enum<Action>, &Decision::action>("action", kRequired),
    field<ShapeId, &Decision::shape>("shape"),
    field<Entries>("gpus"),
    field<Count, &Decision::local_batch>("local_batch"),
    field<LearningRate, &Decision::learning_rate_pico>("learning_rate"),
    field<AnyMicro, &Decision::rate>("rate"),
    field<AnyMicro, &Decision::start_us>("start_s"),
    field<AnyMicro, &Decision::finish_us>("finish_s"),
    field<AnyMicro, &Decision::cost_us>("cost_s"),
    field<ReasonObject, &Decision::reason>("reason"),
};

// Shapes and groups are named within the job, which may come after them in the file.
const Shape* settle_shape(const JsonCursor& in, const char* at, DecisionIn& r) {
  if (r.shape.empty()) return nullptr;
  const Job& job = *r.state.job(r.value.job);
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    if (job.shapes[i].id != r.shape) continue;
    r.value.shape = static_cast<std::int32_t>(i);
    return &job.shapes[i];
  }
  in.fail_at(at, fmt::format("job '{}' has no shape '{}': {}", job.id, r.shape, kOther));
}

void settle_entry(const JsonCursor& in, const char* at, const Shape* shape, EntryIn& r) {
  if (!r.group.empty()) {
    const std::size_t n = shape == nullptr ? 0 : shape->groups.size();
    std::size_t g = 0;
    while (g < n && shape->groups[g].name != r.group) ++g;
    if (g == n) in.fail_at(at, fmt::format("the shape has no group '{}'", r.group));
    r.value.group = static_cast<std::int32_t>(g);
  }
  if (!r.has_members) r.value.members = members_of(shape, r.value);
}

struct PlanIn {
  const ClusterState& state;
  Plan& value;
  Promises* promises = nullptr;
};
struct PlanOut {
  const ClusterState& state;
  const Plan& value;
  bool with_timing;
  const Promises* promises = nullptr;
};

struct Decisions {
  static void read(JsonCursor& in, PlanIn& file) {
    Plan& plan = file.value;
    in.array([&] {
      const char* at = in.next_mark();
      DecisionIn row{file.state, {}, {}, {}};
      read_object(in, row, kDecisionFields);
      const Shape* shape = settle_shape(in, at, row);
      row.value.entry_begin = static_cast<std::int32_t>(plan.entries.size());
      for (EntryIn& entry : row.entries) {
        settle_entry(in, at, shape, entry);
        plan.entries.push_back(entry.value);
      }
      row.value.entry_end = static_cast<std::int32_t>(plan.entries.size());
      plan.decisions.push_back(row.value);
    });
  }
  static void write(JsonWriter& w, const PlanOut& file) {
    w.array([&] {
      for (const Decision& d : file.value.decisions) {
        const Shape* shape = d.shape < 0 ? nullptr : &file.state.job(d.job)->shapes.at(static_cast<std::size_t>(d.shape));
        w.new_line();
        Object<kDecisionFields>::write(w, DecisionOut{file.state, file.value, d, shape});
      }
    });
  }
  static void describe(JsonWriter& w) { List<Object<kDecisionFields>>::describe(w); }
};

constexpr Field<Totals> kTotalsFields[] = {
    field<AnyInteger, &Totals::gpus>("gpus", kAlways),         field<AnyInteger, &Totals::gpus_used>("gpus_used", kAlways),
    field<AnyInteger, &Totals::starts>("starts", kAlways),     field<AnyInteger, &Totals::keeps>("keeps", kAlways),
    field<AnyInteger, &Totals::moves>("moves", kAlways),       field<AnyInteger, &Totals::preempts>("preempts", kAlways),
    field<AnyInteger, &Totals::waits>("waits", kAlways),       field<AnyInteger, &Totals::rejects>("rejects", kAlways),
    field<AnyInteger, &Totals::replaces>("replaces", kAlways), field<AnyInteger, &Totals::reserves>("reserves", kAlways),
};

constexpr Field<Timing> kTimingFields[] = {
    field<MeasuredSeconds, &Timing::load_s>("load_s", kAlways),         field<MeasuredSeconds, &Timing::compile_s>("compile_s", kAlways),
    field<MeasuredSeconds, &Timing::decide_s>("decide_s", kAlways),     field<MeasuredSeconds, &Timing::order_s>("order_s", kAlways),
    field<MeasuredSeconds, &Timing::place_s>("place_s", kAlways),       field<MeasuredSeconds, &Timing::reasons_s>("reasons_s", kAlways),
    field<MeasuredSeconds, &Timing::validate_s>("validate_s", kAlways),
};

struct DroppedJobs : List<JobId> {
  static void read(JsonCursor& in, std::vector<std::int32_t>& out, const PlanIn& file) {
    in.array([&] { JobId::read(in, out.emplace_back(), file); });
  }
  static bool absent(const std::vector<std::int32_t>& jobs, const PlanOut& /*file*/) { return jobs.empty(); }
  static void write(JsonWriter& w, const std::vector<std::int32_t>& jobs, const PlanOut& file) {
    w.array([&] {
      for (const std::int32_t job : jobs) JobId::write(w, job, file);
    });
  }
};

struct PlanTiming : Object<kTimingFields> {
  static bool absent(const Timing& /*timing*/, const PlanOut& file) { return !file.with_timing; }
};

// [generation, score from there on]
struct ScoreStep {
  using Pair = std::pair<std::int64_t, std::int64_t>;

  static void read(JsonCursor& in, Pair& out) {
    int values = 0;
    in.array([&] {
      std::int64_t value = 0;
      AnyInteger::read(in, value);
      if (values < 2) (values == 0 ? out.first : out.second) = value;
      ++values;
    });
    if (values != 2) in.fail(fmt::format("expected a generation and a score, found {} numbers", values));
  }
  static void write(JsonWriter& w, const Pair& change) { w.raw(fmt::format("[{},{}]", change.first, change.second)); }
  static void describe(JsonWriter& w) {
    List<AnyInteger>::describe(w);
    w.number("minItems", 2), w.number("maxItems", 2);
  }
};

struct PlanBound {
  static void read(JsonCursor& in, Bound& out) {
    if (*in.next_mark() == 'n') return in.null();
    BoundObject::read(in, out);
  }
  static void write(JsonWriter& w, const Bound& bound) {
    if (bound.objective.empty()) return w.raw("null");
    BoundObject::write(w, bound);
  }
  static void describe(JsonWriter& w) {
    w.key("oneOf");
    w.array([&] {
      w.raw(R"({"type":"null"})");
      io::describe<BoundObject>(w);
    });
  }
};

// They follow from the state and the decisions, and are not read back.
struct PlanQueues {
  static void read(JsonCursor& in, const PlanIn& /*file*/) { in.raw(); }
  static bool absent(const PlanOut& file) { return !core::any_quota(StateView(file.state)); }
  static void write(JsonWriter& w, const PlanOut& file) {
    QueueRows::write(w, queue_rows(file.state, core::queue_standings(StateView(file.state), &file.value)), file);
  }
  static void describe(JsonWriter& w) { QueueRows::describe(w); }
};

// Of the jobs in the state only, by id. They follow from what the policy keeps.
struct PromiseRow {
  std::int32_t job = -1;
  TimeUs until = kNever;
  bool warned = false, broken = false;
};
struct PromiseIn {
  const ClusterState& state;
  PromiseRow& value;
};
struct PromiseOut {
  const ClusterState& state;
  const PromiseRow& value;
};

constexpr Field<PromiseIn, PromiseOut> kPromiseFields[] = {
    field<JobId, &PromiseRow::job>("job", kRequired),
    field<AnyMicro, &PromiseRow::until>("until_s", kOptional, "the job ends by then at the latest"),
    field<Boolean, &PromiseRow::warned>("warned", kOptional, "accepted, and nothing is promised"),
    field<Boolean, &PromiseRow::broken>("broken", kOptional, "a promise was broken"),
};

struct PlanPromises {
  static void read(JsonCursor& in, PlanIn& file) {
    in.array([&] {
      PromiseRow row;
      PromiseIn into{file.state, row};
      read_object(in, into, kPromiseFields);
      if (file.promises == nullptr) return;
      const std::int64_t said = row.broken ? kBrokenPromise : row.warned || row.until == kNever ? kWarnedOf : row.until;
      (*file.promises)[file.state.job(row.job)->id] = said;
    });
  }
  static bool absent(const PlanOut& file) {
    return file.promises == nullptr ||
           std::none_of(file.promises->begin(), file.promises->end(), [&](const auto& one) { return file.state.find_job(one.first) >= 0; });
  }
  static void write(JsonWriter& w, const PlanOut& file) {
    w.array([&] {
      for (const auto& [id, said] : *file.promises) {
        const PromiseRow row{file.state.find_job(id), said >= 0 ? said : kNever, said == kWarnedOf, said == kBrokenPromise};
        if (row.job < 0) continue;
        w.new_line();
        Object<kPromiseFields>::write(w, PromiseOut{file.state, row});
      }
    });
  }
  static void describe(JsonWriter& w) { List<Object<kPromiseFields>>::describe(w); }
};

constexpr std::string_view kPlanFormat = "berth.plan.v1";

constexpr Field<PlanIn, PlanOut> kPlanFields[] = {
    field<SchemaName<kPlanFormat>>("schema", kRequired),
    field<Unsigned, &Plan::revision>("revision", kRequired),
    field<Seconds, &Plan::now_us>("now_s", kRequired),
    field<DisplayedText, &Plan::policy>("policy", kRequired),
    field<Map<DisplayedText>, &Plan::params>("params", kAlways),
    field<DisplayedText, &Plan::backend>("backend", kAlways),
    field<BackendNote, &Plan::backend_note>("backend_note"),
    field<BackendNote, &Plan::device>("device"),
    field<Unsigned, &Plan::seed>("seed", kAlways),
    field<Counted, &Plan::iterations>("iterations", kAlways),
    field<StoppedBy, &Plan::stopped_by>("stopped_by", kAlways),
    field<Enum<Proof>, &Plan::proof>("proof", kRequired),
    field<Hexadecimal, &Plan::tables>("tables", kAlways),
    field<AnyMicro, &Plan::order_until_us>("order_until_s"),
    field<Map<AnyInteger>, &Plan::objective>("objective", kAlways),
    field<PlanBound, &Plan::bound>("bound", kAlways),
    field<List<ScoreStep>, &Plan::history>("history"),
    field<Object<kTotalsFields>, &Plan::totals>("totals", kAlways),
    field<Boolean, &Plan::changes_only>("changes_only"),
    field<Unsigned, &Plan::reservations_since>("reservations_since"),
    field<DroppedJobs, &Plan::reservations_dropped>("reservations_dropped"),
    field<PlanQueues>("queues", kOptional, "how queues stand after the plan, where quotas are stated"),
    field<PlanPromises>("promises", kOptional, "what a policy that promises deadlines said of jobs that have one"),
    field<Decisions>("decisions", kRequired),
    field<PlanTiming, &Plan::timing>("timing"),
};

}  // namespace

const Promises* promises_of(const PolicyState& kept) {
  const auto column = kept.columns.find("promised_end_us");
  return column == kept.columns.end() ? nullptr : &column->second;
}

Plan parse_plan(std::string_view json, const ClusterState& state, const std::string& name, Promises& promises) {
  Plan plan;
  PlanIn file{state, plan, &promises};
  JsonCursor in(json, name);
  read_object(in, file, kPlanFields);
  in.finish();
  return plan;
}

Plan parse_plan(std::string_view json, const ClusterState& state, const std::string& name) {
  Promises promises;
  return parse_plan(json, state, name, promises);
}

std::string plan_json(const Plan& plan, const ClusterState& state, bool with_timing, const Promises* promises) {
  JsonWriter w;
  Object<kPlanFields>::write(w, PlanOut{state, plan, with_timing, promises});
  return w.finish();
}

std::string to_json(const Plan& plan, const ClusterState& state, bool with_timing) { return plan_json(plan, state, with_timing, nullptr); }

std::string plan_schema() { return schema_of<kPlanFields>(kPlanFormat, "What becomes of every job"); }

}  // namespace berth::io
