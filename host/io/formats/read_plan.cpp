#include <algorithm>
#include <charconv>
#include <cmath>

#include "berth/io.hpp"
#include "host/core/base/escape_control.hpp"
#include "host/core/state/state_view.hpp"
#include "host/io/formats/plan_shape.hpp"
#include "host/io/json/json_fields.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kPlanSchema = "berth.plan.v1";

std::uint64_t read_unsigned(JsonCursor& in, int base = 10) {
  const std::string_view text = base == 16 ? in.string() : in.raw();
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) in.fail(fmt::format("{} is no whole number of 64 bits", in.shown()));
  return value;
}

std::int64_t read_any(JsonCursor& in) { return in.integer(INT64_MIN, INT64_MAX); }
std::int64_t read_any_micro(JsonCursor& in) { return in.decimal(6, INT64_MIN, INT64_MAX); }
std::int32_t read_any32(JsonCursor& in) { return static_cast<std::int32_t>(in.integer(INT32_MIN, INT32_MAX)); }

// These texts are displayed, so they must not contain control sequences for terminals.
std::string read_text(JsonCursor& in) {
  std::string text(in.string());
  if (core::escape_control(text) != text) in.fail("a text must not hold control characters");
  return text;
}

double read_seconds(JsonCursor& in) {
  const std::string_view text = in.raw();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    in.fail(fmt::format("expected a number, not {}", in.shown()));
  }
  return value;
}

struct ReasonRow {
  const ClusterState& state;
  Reason& reason;
};

// The most frequent cause of unknown names is a plan of another state.
constexpr std::string_view kOther = "is this plan of another snapshot?";

std::int32_t read_job(JsonCursor& in, const ClusterState& state) {
  const std::int32_t job = state.find_job(in.string());
  if (job < 0) in.fail(fmt::format("the snapshot has no job {}: {}", in.shown(), kOther));
  return job;
}

std::int32_t read_queue(JsonCursor& in, const ClusterState& state) {
  const std::string_view id = in.string();
  const std::vector<Queue>& queues = StateView(state).queues();
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const Queue& queue) { return queue.id == id; });
  if (found == queues.end()) in.fail(fmt::format("the snapshot has no queue {}: {}", in.shown(), kOther));
  return static_cast<std::int32_t>(found - queues.begin());
}

void read_unavailable_node(JsonCursor& in, ReasonRow& r, std::size_t& n) {
  const std::int32_t node = r.state.find_node(in.string());
  if (node < 0) in.fail(fmt::format("the snapshot has no node {}: {}", in.shown(), kOther));
  if (n == r.reason.unavailable_on.size()) in.fail(fmt::format("at most {} nodes stand here", n));
  r.reason.unavailable_on[n++] = node;
}

constexpr Field<ReasonRow> kUnavailable[] = {
    {"drained", [](JsonCursor& in, ReasonRow& r) { r.reason.drained = read_any(in); }},
    {"failed", [](JsonCursor& in, ReasonRow& r) { r.reason.failed = read_any(in); }},
    {"node_count", [](JsonCursor& in, ReasonRow& r) { r.reason.unavailable_nodes = read_any32(in); }, true},
    {"nodes",
     [](JsonCursor& in, ReasonRow& r) {
       std::size_t n = 0;
       in.array([&] { read_unavailable_node(in, r, n); });
     },
     true},
};

constexpr Field<ReasonRow> kEvidence[] = {
    {"certified", [](JsonCursor& in, ReasonRow& r) { r.reason.certified = in.boolean(); }},
    {"topology", [](JsonCursor& in, ReasonRow& r) { r.reason.topology = static_cast<std::uint8_t>(in.integer(0, kTopologyKinds - 1)); }},
    {"level", [](JsonCursor& in, ReasonRow& r) { r.reason.level = static_cast<std::int8_t>(in.integer(-1, kMaxLevels)); }},
    {"where", [](JsonCursor& in, ReasonRow& r) { r.reason.where = read_any32(in); }},
    {"other_job", [](JsonCursor& in, ReasonRow& r) { r.reason.other_job = read_job(in, r.state); }},
    {"queue", [](JsonCursor& in, ReasonRow& r) { r.reason.queue = read_queue(in, r.state); }},
    {"gpu_type", [](JsonCursor& in, ReasonRow& r) { r.reason.gpu_type = read_any32(in); }},
    {"missing", [](JsonCursor& in, ReasonRow& r) { r.reason.missing = read_any(in); }},
    {"members", [](JsonCursor& in, ReasonRow& r) { r.reason.members = read_any32(in); }},
    {"apart", [](JsonCursor& in, ReasonRow& r) { r.reason.apart = read_any32(in); }},
    {"beside", [](JsonCursor& in, ReasonRow& r) { r.reason.beside = in.boolean(); }},
    {"some_nodes", [](JsonCursor& in, ReasonRow& r) { r.reason.some_nodes = in.boolean(); }},
    {"free", [](JsonCursor& in, ReasonRow& r) { r.reason.free = read_any(in); }},
    {"until_s", [](JsonCursor& in, ReasonRow& r) { r.reason.until_us = read_any_micro(in); }},
    {"unavailable", [](JsonCursor& in, ReasonRow& r) { read_object(in, r, kUnavailable); }},
};

// Texts are generated from the evidence; reading them back could only introduce contradictions.
constexpr Field<ReasonRow> kReason[] = {
    {"code", [](JsonCursor& in, ReasonRow& r) { r.reason.code = read_enum<ReasonCode>(in); }, true},
    {"text", [](JsonCursor& in, ReasonRow&) { in.string(); }},
    {"asked", [](JsonCursor& in, ReasonRow& r) { r.reason.asked = read_any(in); }},
    {"best", [](JsonCursor& in, ReasonRow& r) { r.reason.best = read_any(in); }},
    {"where", [](JsonCursor& in, ReasonRow&) { in.string(); }},
    {"would_start_if", [](JsonCursor& in, ReasonRow&) { in.string(); }},
    {"evidence", [](JsonCursor& in, ReasonRow& r) { read_object(in, r, kEvidence); }},
};

struct EntryRow {
  const ClusterState& state;
  PlanEntry entry;
  std::string group;
  bool has_members = false;
};

void read_indices(JsonCursor& in, EntryRow& r) {
  in.array([&] {
    const std::uint64_t bit = std::uint64_t{1} << in.integer(0, kMaxGpusPerNode - 1);
    if ((r.entry.gpus & bit) != 0) in.fail(fmt::format("GPU {} stands here twice", in.shown()));
    r.entry.gpus |= bit;
  });
}

constexpr Field<EntryRow> kEntryFields[] = {
    {"node",
     [](JsonCursor& in, EntryRow& r) {
       r.entry.node = r.state.find_node(in.string());
       if (r.entry.node < 0) in.fail(fmt::format("the snapshot has no node {}: {}", in.shown(), kOther));
     },
     true},
    {"index", read_indices, true},
    {"group", [](JsonCursor& in, EntryRow& r) { r.group = in.string(); }},
    {"member", [](JsonCursor& in, EntryRow& r) { r.entry.member = read_count(in); }},
    {"members", [](JsonCursor& in, EntryRow& r) { r.entry.members = read_count(in), r.has_members = true; }},
    {"share", [](JsonCursor& in, EntryRow& r) { r.entry.share_ppm = read_share(in); }},
    {"time_shared", [](JsonCursor& in, EntryRow& r) { r.entry.time_shared = in.boolean(); }},
};

struct DecisionRow {
  const ClusterState& state;
  Decision decision;
  std::string shape;
  std::vector<EntryRow> entries;
};

constexpr Field<DecisionRow> kDecision[] = {
    {"job", [](JsonCursor& in, DecisionRow& r) { r.decision.job = read_job(in, r.state); }, true},
    {"action", [](JsonCursor& in, DecisionRow& r) { r.decision.action = read_enum<Action>(in); }, true},
    {"shape", [](JsonCursor& in, DecisionRow& r) { r.shape = in.string(); }},
    {"gpus",
     [](JsonCursor& in, DecisionRow& r) {
       in.array([&] { read_object(in, r.entries.emplace_back(EntryRow{r.state, {}, {}, false}), kEntryFields); });
     }},
    {"local_batch", [](JsonCursor& in, DecisionRow& r) { r.decision.local_batch = read_count(in); }},
    {"learning_rate", [](JsonCursor& in, DecisionRow& r) { r.decision.learning_rate_pico = in.decimal(12, 0, kScoreCeiling); }},
    {"rate", [](JsonCursor& in, DecisionRow& r) { r.decision.rate = read_any_micro(in); }},
    {"start_s", [](JsonCursor& in, DecisionRow& r) { r.decision.start_us = read_any_micro(in); }},
    {"finish_s", [](JsonCursor& in, DecisionRow& r) { r.decision.finish_us = read_any_micro(in); }},
    {"cost_s", [](JsonCursor& in, DecisionRow& r) { r.decision.cost_us = read_any_micro(in); }},
    {"reason",
     [](JsonCursor& in, DecisionRow& r) {
       ReasonRow row{r.state, r.decision.reason};
       read_object(in, row, kReason);
     }},
};

// Shapes and groups are named within the job, which may come after them in the file.
const Shape* settle_shape(const JsonCursor& in, const char* at, DecisionRow& r) {
  if (r.shape.empty()) return nullptr;
  const Job& job = *r.state.job(r.decision.job);
  for (std::size_t i = 0; i < job.shapes.size(); ++i) {
    if (job.shapes[i].id != r.shape) continue;
    r.decision.shape = static_cast<std::int32_t>(i);
    return &job.shapes[i];
  }
  in.fail_at(at, fmt::format("job '{}' has no shape '{}': {}", job.id, r.shape, kOther));
}

void settle_entry(const JsonCursor& in, const char* at, const Shape* shape, EntryRow& r) {
  if (!r.group.empty()) {
    const std::size_t n = shape == nullptr ? 0 : shape->groups.size();
    std::size_t g = 0;
    while (g < n && shape->groups[g].name != r.group) ++g;
    if (g == n) in.fail_at(at, fmt::format("the shape has no group '{}'", r.group));
    r.entry.group = static_cast<std::int32_t>(g);
  }
  if (!r.has_members) r.entry.members = members_of(shape, r.entry);
}

struct PlanFile {
  const ClusterState& state;
  Plan& plan;
};

void read_decisions(JsonCursor& in, PlanFile& f) {
  in.array([&] {
    const char* at = in.next_mark();
    DecisionRow row{f.state, {}, {}, {}};
    read_object(in, row, kDecision);
    const Shape* shape = settle_shape(in, at, row);
    row.decision.entry_begin = static_cast<std::int32_t>(f.plan.entries.size());
    for (EntryRow& entry : row.entries) {
      settle_entry(in, at, shape, entry);
      f.plan.entries.push_back(entry.entry);
    }
    row.decision.entry_end = static_cast<std::int32_t>(f.plan.entries.size());
    f.plan.decisions.push_back(row.decision);
  });
}

constexpr Field<Totals> kTotals[] = {
    {"gpus", [](JsonCursor& in, Totals& t) { t.gpus = read_any(in); }},
    {"gpus_used", [](JsonCursor& in, Totals& t) { t.gpus_used = read_any(in); }},
    {"starts", [](JsonCursor& in, Totals& t) { t.starts = read_any(in); }},
    {"keeps", [](JsonCursor& in, Totals& t) { t.keeps = read_any(in); }},
    {"moves", [](JsonCursor& in, Totals& t) { t.moves = read_any(in); }},
    {"preempts", [](JsonCursor& in, Totals& t) { t.preempts = read_any(in); }},
    {"waits", [](JsonCursor& in, Totals& t) { t.waits = read_any(in); }},
    {"rejects", [](JsonCursor& in, Totals& t) { t.rejects = read_any(in); }},
    {"replaces", [](JsonCursor& in, Totals& t) { t.replaces = read_any(in); }},
    {"reserves", [](JsonCursor& in, Totals& t) { t.reserves = read_any(in); }},
};

constexpr Field<Timing> kTiming[] = {
    {"load_s", [](JsonCursor& in, Timing& t) { t.load_s = read_seconds(in); }},
    {"compile_s", [](JsonCursor& in, Timing& t) { t.compile_s = read_seconds(in); }},
    {"decide_s", [](JsonCursor& in, Timing& t) { t.decide_s = read_seconds(in); }},
    {"order_s", [](JsonCursor& in, Timing& t) { t.order_s = read_seconds(in); }},
    {"place_s", [](JsonCursor& in, Timing& t) { t.place_s = read_seconds(in); }},
    {"reasons_s", [](JsonCursor& in, Timing& t) { t.reasons_s = read_seconds(in); }},
    {"validate_s", [](JsonCursor& in, Timing& t) { t.validate_s = read_seconds(in); }},
};

// Reads {"name": value} as a list of pairs; names must be unique.
template <class Value, class Read>
void read_pairs(JsonCursor& in, std::vector<std::pair<std::string, Value>>& out, Read&& read) {
  DistinctKeys keys;
  in.object([&](std::string_view key) {
    if (!keys.add(key)) in.fail(fmt::format("the field '{}' stands here twice", key));
    std::string name(key);
    Value value(read(in));
    out.emplace_back(std::move(name), std::move(value));
  });
}

// A generation, and the score from there on.
std::pair<std::int64_t, std::int64_t> read_change(JsonCursor& in) {
  std::pair<std::int64_t, std::int64_t> change;
  int values = 0;
  in.array([&] {
    const std::int64_t value = read_any(in);
    if (values < 2) (values == 0 ? change.first : change.second) = value;
    ++values;
  });
  if (values != 2) in.fail(fmt::format("expected a generation and a score, found {} numbers", values));
  return change;
}

constexpr Field<Bound> kBound[] = {
    {"objective",
     [](JsonCursor& in, Bound& b) {
       b.objective = read_text(in);
       if (b.objective.empty()) in.fail("an objective has a name");
     },
     true},
    {"value", [](JsonCursor& in, Bound& b) { b.value = read_any(in); }, true},
    {"bound", [](JsonCursor& in, Bound& b) { b.bound = read_any(in); }, true},
    {"prices", [](JsonCursor& in, Bound& b) { read_pairs(in, b.prices, read_any); }, true},
    {"terms", [](JsonCursor& in, Bound& b) { read_pairs(in, b.terms, read_any); }},
};

constexpr Field<PlanFile> kPlan[] = {
    {"schema",
     [](JsonCursor& in, PlanFile&) {
       if (in.string() != kPlanSchema) in.fail(fmt::format("this reader knows the schema \"{}\", not {}", kPlanSchema, in.shown()));
     },
     true},
    {"revision", [](JsonCursor& in, PlanFile& f) { f.plan.revision = read_unsigned(in); }, true},
    {"now_s", [](JsonCursor& in, PlanFile& f) { f.plan.now_us = read_time(in); }, true},
    {"policy", [](JsonCursor& in, PlanFile& f) { f.plan.policy = read_text(in); }, true},
    {"params", [](JsonCursor& in, PlanFile& f) { read_pairs(in, f.plan.params, read_text); }},
    {"backend", [](JsonCursor& in, PlanFile& f) { f.plan.backend = read_text(in); }},
    {"backend_note", [](JsonCursor& in, PlanFile& f) { f.plan.backend_note = core::escape_control(in.string(), true); }},
    {"seed", [](JsonCursor& in, PlanFile& f) { f.plan.seed = read_unsigned(in); }},
    {"work_done", [](JsonCursor& in, PlanFile& f) { f.plan.work_done = read_any(in); }},
    {"stopped_by", [](JsonCursor& in, PlanFile& f) { f.plan.stopped_by = read_text(in); }},
    {"proof", [](JsonCursor& in, PlanFile& f) { f.plan.proof = read_enum<Proof>(in); }, true},
    {"tables", [](JsonCursor& in, PlanFile& f) { f.plan.tables = read_unsigned(in, 16); }},
    {"order_until_s", [](JsonCursor& in, PlanFile& f) { f.plan.order_until_us = read_any_micro(in); }},
    {"objective", [](JsonCursor& in, PlanFile& f) { read_pairs(in, f.plan.objective, read_any); }},
    {"bound",
     [](JsonCursor& in, PlanFile& f) {
       if (*in.next_mark() == 'n') return in.null();
       read_object(in, f.plan.bound, kBound);
     }},
    {"history", [](JsonCursor& in, PlanFile& f) { in.array([&] { f.plan.history.push_back(read_change(in)); }); }},
    {"totals", [](JsonCursor& in, PlanFile& f) { read_object(in, f.plan.totals, kTotals); }},
    {"decisions", read_decisions, true},
    {"timing", [](JsonCursor& in, PlanFile& f) { read_object(in, f.plan.timing, kTiming); }},
};

}  // namespace

Plan parse_plan(std::string_view json, const ClusterState& state, const std::string& name) {
  Plan plan;
  PlanFile file{state, plan};
  JsonCursor in(json, name);
  read_object(in, file, kPlan);
  in.finish();
  return plan;
}

}  // namespace berth::io
