#include "host/io/traces/trace_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/core/check/check_snapshot.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/formats/read_parts.hpp"
#include "host/io/formats/write_parts.hpp"
#include "host/io/json/json_fields.hpp"
#include "host/io/json/json_line.hpp"
#include "host/io/json/json_list.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/json/json_writer.hpp"
#include "host/io/traces/job_ids.hpp"
#include "host/io/traces/trace_builder.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kTraceSchema = "berth.trace.v1";

void read_id(JsonCursor& in, TraceJob& job) {
  job.id = in.string();
  if (job.id.empty()) in.fail("an id must not be empty");
}

void read_run(JsonCursor& in, TraceJob& job) { job.run_us = in.decimal(6, 1, kMaxTimeUs); }

constexpr Field<TracePhase> kPhaseFields[] = {
    {"from", [](JsonCursor& in, TracePhase& p) { p.from = read_micro(in); }, true},
    {"profile", [](JsonCursor& in, TracePhase& p) { p.profile = in.string(); }, true},
    {"batch", [](JsonCursor& in, TracePhase& p) { p.batch = read_count(in); }},
};

void read_phases(JsonCursor& in, TraceJob& job) {
  in.array([&] {
    const char* where = in.next_mark();
    if (job.phases.size() == static_cast<std::size_t>(kMaxPhases)) in.fail_at(where, fmt::format("more than {} phases", kMaxPhases));
    read_object(in, job.phases.emplace_back(), kPhaseFields);
  });
}

constexpr Field<TraceJob> kTraceJobFields[] = {
    {"id", read_id, true},
    {"user", [](JsonCursor& in, TraceJob& j) { j.user = in.string(); }},
    {"virtual_cluster", [](JsonCursor& in, TraceJob& j) { j.virtual_cluster = in.string(); }},
    {"queue", [](JsonCursor& in, TraceJob& j) { j.queue = in.string(); }},
    {"model", [](JsonCursor& in, TraceJob& j) { j.model = in.string(); }},
    {"status", [](JsonCursor& in, TraceJob& j) { j.status = in.string(); }},
    {"submit_s", [](JsonCursor& in, TraceJob& j) { j.submit_us = read_time(in); }, true},
    {"run_s", read_run, true},
    {"gpus", [](JsonCursor& in, TraceJob& j) { j.gpus = static_cast<std::int32_t>(in.integer(1, kMaxGpusPerJob)); }, true},
    {"gpu_type", [](JsonCursor& in, TraceJob& j) { j.gpu_type = in.string(); }},
    {"deadline_s", [](JsonCursor& in, TraceJob& j) { j.deadline_us = read_time(in); }},
    {"deadline_hard", [](JsonCursor& in, TraceJob& j) { j.deadline_hard = in.boolean(); }},
    {"deadline_value", [](JsonCursor& in, TraceJob& j) { j.deadline_value = in.integer(-kScoreCeiling, kScoreCeiling); }},
    {"time_limit_s", [](JsonCursor& in, TraceJob& j) { j.time_limit_us = read_time(in); }},
    {"priority", [](JsonCursor& in, TraceJob& j) { j.priority = static_cast<std::int32_t>(in.integer(INT32_MIN, INT32_MAX)); }},
    {"weight", [](JsonCursor& in, TraceJob& j) { j.weight_ppm = read_weight(in); }},
    {"profile", [](JsonCursor& in, TraceJob& j) { j.profile = in.string(); }},
    {"work", [](JsonCursor& in, TraceJob& j) { j.work = read_micro(in); }},
    {"phases", read_phases},
    {"elastic", [](JsonCursor& in, TraceJob& j) { j.elastic = in.boolean(); }},
    {"batch", [](JsonCursor& in, TraceJob& j) { j.batch = read_count(in); }},
    {"cpu_cores", [](JsonCursor& in, TraceJob& j) { j.cpu_milli = read_milli(in); }},
    {"memory_bytes", [](JsonCursor& in, TraceJob& j) { j.memory_bytes = read_bytes(in); }},
    {"epochs", [](JsonCursor& in, TraceJob& j) { j.epochs_micro = read_micro(in); }},
    {"dataset_size", [](JsonCursor& in, TraceJob& j) { j.dataset_size = in.integer(0, kScoreCeiling); }},
    {"clamped", [](JsonCursor& in, TraceJob& j) { j.clamped = in.boolean(); }},
};

struct ProfileUse {
  std::string profile;
  std::string place;  // JSON pointer
  int line;
  std::string beside;  // for a phase the job's own profile, which has the same unit
};

struct TraceFile {
  Trace& trace;
  Extensions& x;
  JobIds ids;
  std::unordered_set<std::string> profiles_used;
  std::vector<ProfileUse> profile_uses;  // for each profile, and each pair with another, the first job that names it
  int line = 0;                          // of the current job, where the text of the whole is not available
};

void read_schema(JsonCursor& in, TraceFile& /*file*/) {
  if (in.string() != kTraceSchema) in.fail(fmt::format("this reader knows the schema \"{}\", not {}", kTraceSchema, in.shown()));
}

void read_origin(JsonCursor& in, TraceFile& file) {
  file.trace.origin_iso = in.string();
  if (!file.trace.origin_iso.empty() && !core::parse_civil(file.trace.origin_iso)) {
    in.fail(fmt::format("expected a local time YYYY-MM-DDTHH:MM:SS without a zone, found {}", in.shown()));
  }
}

void read_profiles(JsonCursor& in, TraceFile& file) {
  DistinctKeys names;
  in.object([&](std::string_view name) {
    if (name.empty()) in.fail("a profile needs a name");
    if (!names.add(name)) in.fail(fmt::format("the profile '{}' stands here twice", name));
    file.trace.profiles.emplace_back(std::string(name), Profile{});
    read_profile(in, file.trace.profiles.back().second);
  });
}

/// A field of a job that has no meaning without another one; empty when there is none.
std::string_view dangling(const TraceJob& job) {
  if (job.deadline_us == kNever && (job.deadline_hard || job.deadline_value != 0)) return "a deadline without 'deadline_s'";
  if (job.profile.empty() && job.work != 0) return "'work' is counted in the unit of a 'profile', and the job names none";
  if (job.profile.empty() && job.elastic) return "'elastic' takes its GPU counts from a 'profile', and the job names none";
  return {};
}

void use_profile(TraceFile& file, const TraceJob& job, std::size_t index) {
  if (job.profile.empty()) return;
  if (file.profiles_used.insert(job.profile).second) {
    file.profile_uses.push_back({job.profile, fmt::format("/jobs/{}/profile", index), file.line, {}});
  }
  for (std::size_t k = 0; k < job.phases.size(); ++k) {
    const std::string& profile = job.phases[k].profile;
    if (!file.profiles_used.insert(job.profile + '\n' + profile).second) continue;
    file.profile_uses.push_back({profile, fmt::format("/jobs/{}/phases/{}/profile", index, k), file.line, job.profile});
  }
}

TraceJob read_one_job(JsonCursor& in) {
  const char* where = in.next_mark();
  TraceJob job;
  read_object(in, job, kTraceJobFields);
  const std::string problem = text_problem(job);
  if (!problem.empty()) in.fail_at(where, problem);
  if (!dangling(job).empty()) in.fail_at(where, std::string(dangling(job)));
  return job;
}

void read_job(JsonCursor& in, TraceFile& file) {
  const char* where = in.next_mark();
  TraceJob job = read_one_job(in);
  use_profile(file, job, file.trace.jobs.size());
  if (file.ids.find(job.id, file.trace.jobs) >= 0) in.fail_at(where, fmt::format("the job id '{}' occurs twice", cut_utf8(job.id, 60)));
  if (file.trace.jobs.size() == static_cast<std::size_t>(kMaxJobs)) in.fail_at(where, fmt::format("more than {} jobs", kMaxJobs));
  file.trace.jobs.push_back(std::move(job));
  file.ids.add_last(file.trace.jobs);
}

void read_jobs(JsonCursor& in, TraceFile& file) {
  in.array([&] { read_job(in, file); });
}

void read_dropped(JsonCursor& in, TraceFile& file) {
  DistinctKeys causes;
  in.object([&](std::string_view cause) {
    if (!causes.add(cause)) in.fail(fmt::format("the field '{}' stands here twice", cause));
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
    {"profiles", read_profiles},
    {"jobs", read_jobs, true},
};

/// Profiles may come after the jobs that name them.
void settle_profiles(TraceFile& file, std::string_view json, const std::string& name) {
  auto& profiles = file.trace.profiles;
  std::sort(profiles.begin(), profiles.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  const auto known = [&](const std::string& wanted) -> const Profile* {
    const auto at = std::lower_bound(profiles.begin(), profiles.end(), wanted, [](const auto& a, const auto& b) { return a.first < b; });
    return at != profiles.end() && at->first == wanted ? &at->second : nullptr;
  };
  try {
    for (const ProfileUse& use : file.profile_uses) {
      const Profile* const profile = known(use.profile);
      if (profile == nullptr) {
        throw InputError(name, use.place, use.line, fmt::format("the profile '{}' is not among 'profiles'", cut_utf8(use.profile, 60)));
      }
      const Profile* const beside = use.beside.empty() ? nullptr : known(use.beside);
      if (beside != nullptr && beside->unit != profile->unit) {
        throw InputError(name, use.place, use.line,
                         fmt::format("the profile '{}' counts in {}, and the job's own '{}' in {}", cut_utf8(use.profile, 60),
                                     cut_utf8(profile->unit, 20), cut_utf8(use.beside, 60), cut_utf8(beside->unit, 20)));
      }
    }
    check_profiles(file.trace, name);
  } catch (const InputError& e) {
    if (e.line() > 0) throw;
    throw with_line(e, json);
  }
}

void write_phase(JsonWriter& w, const TracePhase& phase) {
  w.object([&] {
    w.number("from", phase.from, 6);
    w.text("profile", phase.profile);
    w.number_unless("batch", phase.batch, 0);
  });
}

void write_job(JsonWriter& w, const TraceJob& job) {
  w.object([&] {
    w.text("id", job.id);
    w.text_unless("user", job.user, "");
    w.text_unless("virtual_cluster", job.virtual_cluster, "");
    w.text_unless("queue", job.queue, "");
    w.text_unless("model", job.model, "");
    w.text_unless("status", job.status, "");
    w.number("submit_s", job.submit_us, 6);
    w.number("run_s", job.run_us, 6);
    w.number("gpus", job.gpus);
    w.text_unless("gpu_type", job.gpu_type, "");
    w.number_unless("deadline_s", job.deadline_us, kNever, 6);
    w.flag_unless("deadline_hard", job.deadline_hard, false);
    w.number_unless("deadline_value", job.deadline_value, 0);
    w.number_unless("time_limit_s", job.time_limit_us, kNever, 6);
    w.number_unless("priority", job.priority, 0);
    w.number_unless("weight", job.weight_ppm, 1'000'000, 6);
    w.text_unless("profile", job.profile, "");
    w.number_unless("work", job.work, 0, 6);
    w.list("phases", job.phases, [&](const TracePhase& phase) { write_phase(w, phase); });
    w.flag_unless("elastic", job.elastic, false);
    w.number_unless("batch", job.batch, 0);
    w.number_unless("cpu_cores", job.cpu_milli, 0, 3);
    w.number_unless("memory_bytes", job.memory_bytes, 0);
    w.number_unless("epochs", job.epochs_micro, 0, 6);
    w.number_unless("dataset_size", job.dataset_size, 0);
    w.flag_unless("clamped", job.clamped, false);
    w.extensions(job.x);
  });
}

void sort_jobs(Trace& trace) {
  std::sort(trace.jobs.begin(), trace.jobs.end(),
            [](const TraceJob& a, const TraceJob& b) { return std::tie(a.submit_us, a.id) < std::tie(b.submit_us, b.id); });
}

// Converts an error in a job's own text to its position in the whole.
InputError moved(const InputError& error, std::int64_t index, int line) {
  return {error.file(), fmt::format("/jobs/{}{}", index, error.pointer()), line + std::max(error.line(), 1) - 1, problem_of(error)};
}

}  // namespace

void check_profiles(const Trace& trace, const std::string& name) {
  const core::InputLocation document(name);
  const core::InputLocation all(document, "profiles");
  for (const auto& [profile_name, profile] : trace.profiles) {
    const std::string token = pointer_token(profile_name);
    core::check_name(profile_name, all, token);
    core::check_profile(profile, core::InputLocation(all, token));
  }
}

Trace parse_trace(std::string_view json, const std::string& name) {
  Trace trace;
  TraceFile file{trace, trace.x, {}, {}, {}, 0};
  JsonCursor in(json, name);
  read_object(in, file, kTrace);
  in.finish();
  settle_profiles(file, json, name);
  sort_jobs(trace);
  return trace;
}

namespace {

/// Reads a job's own text with `read`.
template <class Read>
void read_element(const std::string& text, const std::string& name, std::int64_t index, int line, const Read& read) {
  try {
    if (text.empty()) throw InputError(name, "", 1, "expected a job between the commas");
    JsonCursor in(text, name);
    read(in);
    in.finish();
  } catch (const InputError& error) {
    throw moved(error, index, line);
  }
}

void read_pieces(GzipInput& input, JsonListSplitter& splitter, TraceFile& file) {
  constexpr std::size_t kChunk = std::size_t{1} << 18;
  const auto chunk = std::make_unique<char[]>(kChunk);
  while (const std::size_t n = input.read(chunk.get(), kChunk)) splitter.feed({chunk.get(), n});
  JsonCursor in(splitter.finish(), input.name());
  read_object(in, file, kTrace);
  in.finish();
  settle_profiles(file, splitter.finish(), input.name());
}

}  // namespace

Trace read_trace(const std::string& path) {
  GzipInput input(path);
  Trace trace;
  TraceFile file{trace, trace.x, {}, {}, {}, 0};
  JsonListSplitter splitter(
      "jobs",
      [&](const std::string& text, std::int64_t index, int line) {
        file.line = line;
        read_element(text, input.name(), index, line, [&](JsonCursor& in) { read_job(in, file); });
      },
      input.name());
  read_pieces(input, splitter, file);
  sort_jobs(trace);
  return trace;
}

TraceJob parse_trace_job(const std::string& text, const std::string& name, std::int64_t index, int line) {
  TraceJob job;
  read_element(text, name, index, line, [&](JsonCursor& in) { job = read_one_job(in); });
  return job;
}

Trace scan_trace(const std::string& path, const std::function<void(const TraceJob&, int)>& give) {
  GzipInput input(path);
  Trace trace;
  TraceFile file{trace, trace.x, {}, {}, {}, 0};
  JsonListSplitter splitter(
      "jobs",
      [&](const std::string& text, std::int64_t index, int line) {
        const TraceJob job = parse_trace_job(text, input.name(), index, line);
        file.line = line;
        use_profile(file, job, static_cast<std::size_t>(index));
        give(job, line);
      },
      input.name());
  read_pieces(input, splitter, file);
  return trace;
}

void write_json(const Trace& trace, const std::function<void(std::string_view)>& give) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  JsonWriter w;
  w.object([&] {
    w.text("schema", kTraceSchema);
    w.text_unless("name", trace.name, "");
    w.text_unless("source", trace.source, "");
    w.text_unless("origin", trace.origin_iso, "");
    w.lines("notes", trace.notes, [&](const std::string& note) { w.string(note); });
    if (!trace.dropped.empty()) {
      w.key("dropped");
      w.object([&] {
        for (const auto& [cause, rows] : trace.dropped) w.number(cause, rows);
      });
    }
    w.extensions(trace.x);
    if (!trace.profiles.empty()) {
      w.key("profiles");
      w.object([&] {
        for (const auto& [profile_name, profile] : trace.profiles) {
          w.new_line();
          w.key(profile_name);
          write(w, profile);
        }
      });
    }
    w.lines(
        "jobs", trace.jobs,
        [&](const TraceJob& job) {
          write_job(w, job);
          if (w.size() >= kPiece) give(w.take());
        },
        true);
  });
  give(w.finish());
}

std::string to_json(const Trace& trace) {
  std::string text;
  write_json(trace, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace berth::io
