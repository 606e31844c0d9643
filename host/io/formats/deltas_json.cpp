#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/io/fields/cluster_fields.hpp"
#include "host/io/fields/job_fields.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/json/json_line.hpp"

namespace berth::io {
namespace {

// A delta while it is read: the fields of all kinds. `seen` has the fields that are present.
struct DeltaRow {
  std::string op, id, status, state;
  TimeUs now_us = 0, available_from_us = 0, free_at_us = kNever;
  std::int32_t index = 0;
  std::vector<Job> job;
  std::vector<PendingShapes> pending;
  Node node;
  Queue queue;
  Reservation reservation;
  Allocation allocation;
  Progress progress;
};

// An object where something is put, an id where it is only named.
template <class Whole>
struct ObjectOrId : Whole {
  template <class V>
  static void read(JsonCursor& in, V& out, DeltaRow& row) {
    if (in.type() == JsonType::kString) return Text::read(in, row.id);
    Whole::read(in, out);
  }
};

struct PutJobObject : JobObject {
  static void read(JsonCursor& in, std::vector<Job>& out, DeltaRow& row) {
    if (in.type() == JsonType::kString) return Text::read(in, row.id);
    read_job(in, out.emplace_back(), 0, row.pending);
  }
};

constexpr Field<DeltaRow> kDeltaFields[] = {
    field<Text, &DeltaRow::op>("op", kRequired),
    field<Seconds, &DeltaRow::now_us>("now_s"),
    field<PutJobObject, &DeltaRow::job>("job"),
    field<ObjectOrId<Object<kNodeFields>>, &DeltaRow::node>("node"),
    field<Object<kQueueFields>, &DeltaRow::queue>("queue"),
    field<ObjectOrId<Object<kReservationFields>>, &DeltaRow::reservation>("reservation"),
    field<Text, &DeltaRow::status>("status"),
    field<Object<kAllocationFields>, &DeltaRow::allocation>("allocation"),
    field<Object<kProgressFields>, &DeltaRow::progress>("progress"),
    field<Text, &DeltaRow::state>("state"),
    field<Count, &DeltaRow::index>("index"),
    field<Seconds, &DeltaRow::available_from_us>("available_from_s"),
    field<Seconds, &DeltaRow::free_at_us>("free_at_s"),
};

template <class E>
E state_of(const JsonCursor& in, const char* at, const DeltaRow& row) {
  const auto value = core::from_name<E>(row.state);
  if (!value) in.fail_at(at, fmt::format("the state '{}' is none of: {}", row.state, core::all_names<E>()));
  return *value;
}

struct Op {
  std::string_view name;
  std::string_view needs;  // required fields, with blanks around each
  std::string_view takes;  // optional fields
  Delta (*make)(const JsonCursor& in, const char* at, DeltaRow& row);
  std::string_view object = "";  // the field that is an object here instead of an id
  void (*describe_state)(JsonWriter& w, std::string_view about) = nullptr;
};

constexpr Op kOps[] = {
    {"set_time", " now_s ", "", [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::SetTime{r.now_us}; }},
    {"put_job", " job ", "", [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::PutJob{std::move(r.job.front())}; },
     "job"},
    {"remove_job", " job ", " status ",
     [](const JsonCursor&, const char*, DeltaRow& r) -> Delta {
       return delta::RemoveJob{std::move(r.id), std::move(r.status)};
     }},
    {"start_job", " job allocation ", "",
     [](const JsonCursor&, const char*, DeltaRow& r) -> Delta {
       return delta::StartJob{std::move(r.id), std::move(r.allocation)};
     }},
    {"stop_job", " job ", "", [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::StopJob{std::move(r.id)}; }},
    {"set_progress", " job progress ", "",
     [](const JsonCursor&, const char*, DeltaRow& r) -> Delta {
       return delta::SetProgress{std::move(r.id), std::move(r.progress)};
     }},
    {"put_node", " node ", "", [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::PutNode{std::move(r.node)}; },
     "node"},
    {"remove_node", " node ", "", [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::RemoveNode{std::move(r.id)}; }},
    {"set_node_state", " node state ", " available_from_s ",
     [](const JsonCursor& in, const char* at, DeltaRow& r) -> Delta {
       return delta::SetNodeState{std::move(r.id), state_of<NodeState>(in, at, r), r.available_from_us};
     },
     "", &describe<Enum<NodeState>>},
    {"set_gpu_state", " node index state ", " free_at_s ",
     [](const JsonCursor& in, const char* at, DeltaRow& r) -> Delta {
       return delta::SetGpuState{std::move(r.id), r.index, state_of<GpuState>(in, at, r), r.free_at_us};
     },
     "", &describe<Enum<GpuState>>},
    {"put_queue", " queue ", "", [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::PutQueue{std::move(r.queue)}; },
     "queue"},
    {"put_reservation", " reservation ", "",
     [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::PutReservation{std::move(r.reservation)}; }, "reservation"},
    {"remove_reservation", " reservation ", "",
     [](const JsonCursor&, const char*, DeltaRow& r) -> Delta { return delta::RemoveReservation{std::move(r.id)}; }},
};

bool lists(std::string_view fields, std::string_view field) { return fields.find(" " + std::string(field) + " ") != fields.npos; }

const Op& op_of(const JsonCursor& in, const char* at, const DeltaRow& row) {
  const auto* op = std::find_if(std::begin(kOps), std::end(kOps), [&](const Op& o) { return o.name == row.op; });
  if (op != std::end(kOps)) return *op;
  std::string known;
  for (const Op& one : kOps) known += (known.empty() ? "" : ", ") + std::string(one.name);
  in.fail_at(at, fmt::format("the op '{}' is none of: {}", row.op, known));
}

class DeltaReader {
 public:
  DeltaReader(const ClusterState& state, std::vector<Delta>& out) : state_(state), out_(out) {}

  void read(JsonCursor& in) {
    const char* at = in.next_mark();
    DeltaRow row;
    const std::uint64_t seen = read_object(in, row, kDeltaFields);
    const Op& op = op_of(in, at, row);
    for (std::size_t i = 1; i < std::size(kDeltaFields); ++i) {
      const std::string_view field = kDeltaFields[i].name;
      const bool here = (seen >> i & 1) != 0;
      if (lists(op.needs, field) && !here) in.fail_at(at, fmt::format("'{}' needs the field '{}'", op.name, field));
      if (here && !lists(op.needs, field) && !lists(op.takes, field)) {
        in.fail_at(at, fmt::format("'{}' takes no field '{}'", op.name, field));
      }
    }
    const bool named = !row.id.empty();
    if (!op.object.empty() && named) in.fail_at(at, fmt::format("'{}' needs '{}' as an object", op.name, op.object));
    if (op.object.empty() && !named && op.name != "set_time") in.fail_at(at, fmt::format("'{}' needs an id, which is not empty", op.name));
    for (const PendingShapes& pending : row.pending) expand(in, at, pending, row.job.front());
    if (op.name == "start_job") settle_members(put_.shapes(state_, out_, row.id), row.allocation);
    out_.push_back(op.make(in, at, row));
  }

 private:
  // For "step": "node", which counts in GPUs of the largest node of each type.
  void expand(const JsonCursor& in, const char* at, const PendingShapes& pending, Job& job) const {
    std::vector<std::int32_t> node_gpus(std::max<std::size_t>(1, pending.types.size()), 0);
    for (std::int32_t rank = 0; rank < state_.node_count(); ++rank) {
      const Node& node = state_.node(rank);
      for (std::size_t t = 0; t < node_gpus.size(); ++t) {
        if (pending.types.empty() || pending.types[t] == node.gpu_type) node_gpus[t] = std::max(node_gpus[t], node.gpus);
      }
    }
    const std::string problem = expand_shapes(pending.gpus, pending.types, node_gpus, job.shapes);
    if (!problem.empty()) in.fail_at(at, problem);
  }

  const ClusterState& state_;
  std::vector<Delta>& out_;
  PutJobs put_;
};

bool is_named(std::string_view field) { return field == "job" || field == "node" || field == "reservation"; }

void describe_op(JsonWriter& w, const Op& op) {
  w.text("type", "object");
  w.key("properties");
  w.object([&] {
    w.key("op");
    w.object([&] { w.text("const", op.name); });
    for (const auto& field : kDeltaFields) {
      if (!lists(op.needs, field.name) && !lists(op.takes, field.name)) continue;
      w.key(field.name);
      if (field.name == "state") {
        op.describe_state(w, "");
      } else if (is_named(field.name) && field.name != op.object) {
        describe<Id>(w);
      } else {
        field.describe(w, field.about);
      }
    }
  });
  w.key("required");
  w.array([&] {
    w.string("op");
    for (const auto& field : kDeltaFields) {
      if (lists(op.needs, field.name)) w.string(field.name);
    }
  });
  w.key("additionalProperties"), w.raw("false");
}

struct DeltaFile {
  DeltaReader reader;
};

struct Deltas {
  static void read(JsonCursor& in, DeltaReader& reader) {
    in.array([&] { reader.read(in); });
  }
  static void describe(JsonWriter& w) {
    w.text("type", "array");
    w.key("items");
    w.object([&] { w.list("oneOf", kOps, [&](const Op& op) { w.object([&] { describe_op(w, op); }); }); });
  }
};

constexpr std::string_view kDeltasFormat = "berth.deltas.v1";

constexpr Field<DeltaFile> kDeltaFileFields[] = {
    field<SchemaName<kDeltasFormat>>("schema", kRequired),
    field<Deltas, &DeltaFile::reader>("deltas", kRequired),
};

}  // namespace

const std::vector<Shape>& PutJobs::shapes(const ClusterState& state, const std::vector<Delta>& batch, std::string_view job) {
  static const std::vector<Shape> none;
  for (; seen_ < batch.size(); ++seen_) {
    if (const auto* put = std::get_if<delta::PutJob>(&batch[seen_])) put_by_[put->job.id] = seen_;
  }
  const auto put = put_by_.find(job);
  if (put != put_by_.end()) return std::get<delta::PutJob>(batch[put->second]).job.shapes;
  const std::int32_t job_index = state.find_job(job);
  return job_index < 0 ? none : state.job(job_index)->shapes;
}

void read_deltas(JsonCursor& in, const ClusterState& state, std::vector<Delta>& out) {
  DeltaReader reader(state, out);
  Deltas::read(in, reader);
}

void describe_deltas(JsonWriter& w) { Deltas::describe(w); }

std::vector<Delta> parse_deltas(std::string_view json, const ClusterState& state, const std::string& name) {
  std::vector<Delta> deltas;
  DeltaFile file{DeltaReader(state, deltas)};
  JsonCursor in(json, name);
  read_object(in, file, kDeltaFileFields);
  in.finish();
  return deltas;
}

std::uint64_t apply_json(ClusterState& state, std::string_view json, const std::string& name) {
  const std::vector<Delta> deltas = parse_deltas(json, state, name);
  try {
    return state.apply(deltas);
  } catch (const InputError& e) {
    // Reports what the state says about the batch as an error of the document.
    throw with_line(InputError(name, "/deltas" + e.pointer(), 0, problem_of(e)), json);
  }
}

std::string deltas_schema() { return schema_of<kDeltaFileFields>(kDeltasFormat, "What happened to a cluster"); }

}  // namespace berth::io
