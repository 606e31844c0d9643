#include "host/io/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "berth/error.hpp"
#include "host/core/civil_time.hpp"
#include "host/io/json_fields.hpp"
#include "host/io/json_text.hpp"
#include "host/io/trace_builder.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kSchema = "berth.trace.v1";

void read_id(JsonCursor& in, TraceJob& job) {
  job.id = in.string();
  if (job.id.empty()) in.fail("an id must not be empty");
}

void read_run(JsonCursor& in, TraceJob& job) { job.run_us = in.decimal(6, 1, kMaxTimeUs); }

constexpr Field<TraceJob> kJob[] = {
    {"id", read_id, true},
    {"user", [](JsonCursor& in, TraceJob& j) { j.user = in.string(); }},
    {"virtual_cluster", [](JsonCursor& in, TraceJob& j) { j.virtual_cluster = in.string(); }},
    {"model", [](JsonCursor& in, TraceJob& j) { j.model = in.string(); }},
    {"status", [](JsonCursor& in, TraceJob& j) { j.status = in.string(); }},
    {"submit_s", [](JsonCursor& in, TraceJob& j) { j.submit_us = read_time(in); }, true},
    {"run_s", read_run, true},
    {"gpus", [](JsonCursor& in, TraceJob& j) { j.gpus = static_cast<std::int32_t>(in.integer(1, kMaxGpusPerJob)); }, true},
    {"gpu_type", [](JsonCursor& in, TraceJob& j) { j.gpu_type = in.string(); }},
    {"deadline_s", [](JsonCursor& in, TraceJob& j) { j.deadline_us = read_time(in); }},
    {"time_limit_s", [](JsonCursor& in, TraceJob& j) { j.time_limit_us = read_time(in); }},
    {"batch", [](JsonCursor& in, TraceJob& j) { j.batch = read_count(in); }},
    {"cpu_cores", [](JsonCursor& in, TraceJob& j) { j.cpu_milli = read_milli(in); }},
    {"memory_bytes", [](JsonCursor& in, TraceJob& j) { j.memory_bytes = read_bytes(in); }},
    {"clamped", [](JsonCursor& in, TraceJob& j) { j.clamped = in.boolean(); }},
};

struct TraceFile {
  Trace& trace;
  Extensions& x;
  std::unordered_set<std::string> ids;
};

void read_schema(JsonCursor& in, TraceFile& /*file*/) {
  if (in.string() != kSchema) in.fail(fmt::format("this reader knows the schema \"{}\", not {}", kSchema, in.shown()));
}

void read_origin(JsonCursor& in, TraceFile& file) {
  file.trace.origin_iso = in.string();
  if (!file.trace.origin_iso.empty() && !core::parse_civil(file.trace.origin_iso)) {
    in.fail(fmt::format("expected a local time YYYY-MM-DDTHH:MM:SS without a zone, found {}", in.shown()));
  }
}

void read_jobs(JsonCursor& in, TraceFile& file) {
  in.array([&] {
    const char* where = in.next_mark();
    TraceJob job;
    read_object(in, job, kJob);
    const std::string problem = text_problem(job);
    if (!problem.empty()) in.fail_at(where, problem);
    if (!file.ids.insert(job.id).second) in.fail_at(where, fmt::format("the job id '{}' occurs twice", cut_utf8(job.id, 60)));
    if (file.trace.jobs.size() == static_cast<std::size_t>(kMaxJobs)) in.fail_at(where, fmt::format("more than {} jobs", kMaxJobs));
    file.trace.jobs.push_back(std::move(job));
  });
}

void read_dropped(JsonCursor& in, TraceFile& file) {
  in.object([&](std::string_view cause) {
    const auto same = [&](const auto& one) { return one.first == cause; };
    if (std::any_of(file.trace.dropped.begin(), file.trace.dropped.end(), same))
      in.fail(fmt::format("the field '{}' stands here twice", cause));
    file.trace.dropped.emplace_back(std::string(cause), 0);
    file.trace.dropped.back().second = in.integer(0, kMaxBytes);
  });
}

constexpr Field<TraceFile> kTrace[] = {
    {"schema", read_schema, true},
    {"name", [](JsonCursor& in, TraceFile& f) { f.trace.name = in.string(); }},
    {"source", [](JsonCursor& in, TraceFile& f) { f.trace.source = in.string(); }},
    {"origin", read_origin},
    {"notes", [](JsonCursor& in, TraceFile& f) { f.trace.notes = read_strings(in); }},
    {"dropped", read_dropped},
    {"jobs", read_jobs, true},
};

/// Writes the fields of one object, with commas between.
class Fields {
 public:
  explicit Fields(std::string& out) : out_(out) { out_ += '{'; }
  std::string& field(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    append_quoted(out_, name);
    return out_ += ':';
  }
  void text(std::string_view name, const std::string& value) {
    if (!value.empty()) append_quoted(field(name), value);
  }
  void decimal(std::string_view name, std::int64_t value, int places) { append_decimal(field(name), value, places); }
  void decimal_unless(std::int64_t none, std::string_view name, std::int64_t value, int places) {
    if (value != none) decimal(name, value, places);
  }
  void extensions(const Extensions& x) {
    for (const auto& [name, raw] : x) field(name) += raw;
  }
  void close() { out_ += '}'; }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_job(std::string& out, const TraceJob& job) {
  Fields fields(out);
  append_quoted(fields.field("id"), job.id);
  fields.text("user", job.user);
  fields.text("virtual_cluster", job.virtual_cluster);
  fields.text("model", job.model);
  fields.text("status", job.status);
  fields.decimal("submit_s", job.submit_us, 6);
  fields.decimal("run_s", job.run_us, 6);
  fields.decimal("gpus", job.gpus, 0);
  fields.text("gpu_type", job.gpu_type);
  fields.decimal_unless(kNever, "deadline_s", job.deadline_us, 6);
  fields.decimal_unless(kNever, "time_limit_s", job.time_limit_us, 6);
  fields.decimal_unless(0, "batch", job.batch, 0);
  fields.decimal_unless(0, "cpu_cores", job.cpu_milli, 3);
  fields.decimal_unless(0, "memory_bytes", job.memory_bytes, 0);
  if (job.clamped) fields.field("clamped") += "true";
  fields.extensions(job.x);
  fields.close();
}

/// `append` for each element, on a line of its own.
template <class Rows, class Append>
void append_lines(std::string& out, const Rows& rows, Append&& append) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += i == 0 ? "\n" : ",\n";
    append(rows[i]);
  }
}

}  // namespace

Trace parse_trace(std::string_view json, const std::string& name) {
  Trace trace;
  TraceFile file{trace, trace.x, {}};
  JsonCursor in(json, name);
  read_object(in, file, kTrace);
  in.finish();
  std::sort(trace.jobs.begin(), trace.jobs.end(),
            [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); });
  return trace;
}

std::string to_json(const Trace& trace) {
  std::string out;
  out.reserve(200 + trace.jobs.size() * 120);
  Fields fields(out);
  append_quoted(fields.field("schema"), kSchema);
  fields.text("name", trace.name);
  fields.text("source", trace.source);
  fields.text("origin", trace.origin_iso);
  fields.field("notes") += '[';
  append_lines(out, trace.notes, [&](const std::string& note) { append_quoted(out, note); });
  out += ']';
  fields.field("dropped");
  Fields dropped(out);
  for (const auto& [cause, rows] : trace.dropped) dropped.decimal(cause, rows, 0);
  dropped.close();
  fields.extensions(trace.x);
  fields.field("jobs") += '[';
  append_lines(out, trace.jobs, [&](const TraceJob& job) { append_job(out, job); });
  out += "\n]";
  fields.close();
  out += '\n';
  return out;
}

}  // namespace berth::io
