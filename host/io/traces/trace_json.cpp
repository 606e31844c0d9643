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
#include "host/core/model/deadline_steps.hpp"
#include "host/io/fields/job_fields.hpp"
#include "host/io/fields/profile_fields.hpp"
#include "host/io/fields/shape_fields.hpp"
#include "host/io/files/gzip_input.hpp"
#include "host/io/formats/schemas.hpp"
#include "host/io/json/json_line.hpp"
#include "host/io/json/json_list.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/traces/job_ids.hpp"
#include "host/io/traces/trace_builder.hpp"
#include "host/io/traces/trace_shapes.hpp"

namespace berth::io {
namespace {

constexpr std::string_view kTraceFormat = "berth.trace.v1";

struct TraceJobId : Name {
  static void read(JsonCursor& in, std::string& out) {
    Text::read(in, out);
    if (out.empty()) in.fail("an id must not be empty");
  }
};

constexpr Field<TracePhase> kTracePhaseFields[] = {
    field<DescribedAs<Micro, Number<6, 1, kScoreCeiling>>, &TracePhase::from>("from", kRequired, "work done, below that of the job"),
    field<Name, &TracePhase::profile>("profile", kRequired, "a name in profiles, of the same unit"),
    field<Count, &TracePhase::batch>("batch"),
    field<Micro, &TracePhase::epochs_micro>("epochs", kOptional, "epochs done when it begins"),
};

/// As in a snapshot. A job that lists none leaves the field out.
struct TraceShapes : Shapes {
  static void read(JsonCursor& in, std::vector<Shape>& out) {
    Shapes::read(in, out);
    if (out.empty()) in.fail("a job needs at least one shape");
  }
};

struct TracePhases : List<Object<kTracePhaseFields>> {
  static void read(JsonCursor& in, std::vector<TracePhase>& out) {
    in.array([&] {
      const char* where = in.next_mark();
      if (out.size() == static_cast<std::size_t>(kMaxPhases)) in.fail_at(where, fmt::format("more than {} phases", kMaxPhases));
      read_object(in, out.emplace_back(), kTracePhaseFields);
    });
  }
  static void describe(JsonWriter& w) { List::describe(w), w.number("maxItems", kMaxPhases); }
};

/// A job while it is read, with the short form that is not a field of a TraceJob.
struct TraceJobBeingRead {
  TraceJob& value;
  Extensions& x;
  std::vector<Group> groups;
};

constexpr Field<TraceJobBeingRead, TraceJob> kTraceJobFields[] = {
    field<TraceJobId, &TraceJob::id>("id", kRequired),
    field<Text, &TraceJob::user>("user"),
    field<Text, &TraceJob::virtual_cluster>("virtual_cluster"),
    field<Text, &TraceJob::queue>("queue"),
    field<Text, &TraceJob::model>("model"),
    field<Text, &TraceJob::status>("status"),
    field<Seconds, &TraceJob::submit_us>("submit_s", kRequired),
    field<Number<6, 1, kMaxTimeUs>, &TraceJob::run_us>("run_s", kRequired),
    field<Integer<1, kMaxGpusPerJob>, &TraceJob::gpus>("gpus", kRequired),
    field<Text, &TraceJob::gpu_type>("gpu_type"),
    field<List<Object<kLevelWaitFields>>, &TraceJob::longest_wait>("longest_wait"),
    field<TraceShapes, &TraceJob::shapes>("shapes", kOptional, "alternatives, that with gpus first"),
    field<Groups, &TraceJobBeingRead::groups>("groups", kOptional, "the gang as a tree: one shape"),
    field<Seconds, &TraceJob::deadline_us>("deadline_s"),
    field<Boolean, &TraceJob::deadline_hard>("deadline_hard"),
    field<Integer<-kScoreCeiling, kScoreCeiling>, &TraceJob::deadline_value>("deadline_value"),
    field<LaterSteps, &TraceJob::deadline_later>("deadline_later", kOptional, "soft: ascending, with values that fall"),
    field<Seconds, &TraceJob::time_limit_us>("time_limit_s"),
    field<AnyInt32, &TraceJob::priority>("priority"),
    field<AnyInt32, &TraceJob::preemption_class>("preemption_class"),
    field<Seconds, &TraceJob::grace_us>("grace_s"),
    field<Weight, &TraceJob::weight_ppm>("weight"),
    field<Text, &TraceJob::profile>("profile", kOptional, "a name in profiles"),
    field<Micro, &TraceJob::work>("work", kOptional, "in the unit of the profile"),
    field<TracePhases, &TraceJob::phases>("phases", kOptional, "later parts of the work, by from"),
    field<Boolean, &TraceJob::elastic>("elastic"),
    field<Count, &TraceJob::batch>("batch"),
    field<Milli, &TraceJob::cpu_milli>("cpu_cores"),
    field<Bytes, &TraceJob::memory_bytes>("memory_bytes"),
    field<Micro, &TraceJob::epochs_micro>("epochs", kOptional, "of which its work consists"),
    field<Samples, &TraceJob::dataset_size>("dataset_size", kOptional, "samples of an epoch"),
    field<Boolean, &TraceJob::clamped>("clamped"),
};

struct ProfileUse {
  std::string profile;
  std::string place;  // JSON pointer
  int line;
  std::string job_profile;  // for a phase the job's own profile, which has the same unit
};

struct TraceFile {
  Trace& value;
  Extensions& x;
  JobIds ids;
  std::unordered_set<std::string> profiles_used;
  std::vector<ProfileUse> profile_uses;  // for each profile, and each pair with another, the first job that names it
  int line = 0;                          // of the current job, where the text of the whole is not available
};

// Its writer gets the text in parts.
struct TraceOut {
  const Trace& value;
  const std::function<void(std::string_view)>& give;
};

struct Origin : Text {
  static void read(JsonCursor& in, std::string& out) {
    Text::read(in, out);
    if (!out.empty() && !core::parse_civil(out)) {
      in.fail(fmt::format("expected a local time YYYY-MM-DDTHH:MM:SS without a zone, found {}", in.shown()));
    }
  }
  static void describe(JsonWriter& w) {
    Text::describe(w);
    w.text("pattern", R"(^([0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?)?$)");
  }
};

struct SharedProfiles : Map<Object<kProfileFields>> {
  static void read(JsonCursor& in, TraceProfiles& out) {
    DistinctKeys names;
    in.object([&](std::string_view name) {
      if (name.empty()) in.fail("a profile needs a name");
      if (!names.add(name)) in.fail(fmt::format("duplicate profile '{}'", name));
      out.emplace_back(std::string(name), Profile{});
      read_object(in, out.back().second, kProfileFields);
    });
  }
  static void write(JsonWriter& w, const TraceProfiles& profiles) {
    w.object([&] {
      for (const auto& [name, profile] : profiles) {
        w.new_line();
        w.key(name);
        Object<kProfileFields>::write(w, profile);
      }
    });
  }
  static void describe(JsonWriter& w) {
    Map::describe(w);
    w.key("propertyNames"), w.raw(R"({"minLength":1})");
  }
};

/// A field of a job that has no meaning without another one; empty when there is none.
std::string_view dangling(const TraceJob& job) {
  if (job.deadline_us == kNever && (job.deadline_hard || job.deadline_value != 0 || !job.deadline_later.empty()))
    return "a deadline without 'deadline_s'";
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
  TraceJobBeingRead reading{job, job.x, {}};
  read_object(in, reading, kTraceJobFields);
  const std::string problem = text_problem(job);
  if (!problem.empty()) in.fail_at(where, problem);
  if (!dangling(job).empty()) in.fail_at(where, std::string(dangling(job)));
  if (!reading.groups.empty() && !job.shapes.empty()) in.fail_at(where, "either 'shapes' or 'groups'; a shape has groups of its own");
  if (!reading.groups.empty()) set_groups(job, std::move(reading.groups), in.name());
  if (!job.shapes.empty()) check_trace_shapes(job, core::InputLocation(in.name()));
  core::check_later_steps(core::deadline_of(job), job.submit_us, core::InputLocation(in.name()), "deadline_later");
  return job;
}

// Errors of checks know their place within the job. Where the whole text is read, it gets the job's place there.
template <class Read>
TraceJob in_list(const TraceFile& file, const Read& read) {
  try {
    return read();
  } catch (const InputError& e) {
    if (e.line() > 0 || file.line > 0) throw;
    throw InputError(e.file(), fmt::format("/jobs/{}{}", file.value.jobs.size(), e.pointer()), 0, problem_of(e));
  }
}

void read_job(JsonCursor& in, TraceFile& file) {
  const char* where = in.next_mark();
  TraceJob job = in_list(file, [&] { return read_one_job(in); });
  use_profile(file, job, file.value.jobs.size());
  if (file.ids.find(job.id, file.value.jobs) >= 0) in.fail_at(where, fmt::format("the job id '{}' occurs twice", cut_utf8(job.id, 60)));
  if (file.value.jobs.size() == static_cast<std::size_t>(kMaxJobs)) in.fail_at(where, fmt::format("more than {} jobs", kMaxJobs));
  file.value.jobs.push_back(std::move(job));
  file.ids.add_last(file.value.jobs);
}

struct TraceJobs {
  static void read(JsonCursor& in, TraceFile& file) {
    in.array([&] { read_job(in, file); });
  }
  static void write(JsonWriter& w, const TraceOut& out) {
    constexpr std::size_t kPiece = std::size_t{1} << 20;
    w.array([&] {
      for (const TraceJob& job : out.value.jobs) {
        w.new_line();
        Object<kTraceJobFields>::write(w, job);
        if (w.size() >= kPiece) out.give(w.take());
      }
    });
  }
  static void describe(JsonWriter& w) {
    w.text("type", "array"), w.number("maxItems", kMaxJobs);
    w.key("items");
    w.object([&] {
      describe_fields(w, kTraceJobFields);
      w.key("dependentRequired");
      w.raw(R"({"deadline_hard":["deadline_s"],"deadline_value":["deadline_s"],"deadline_later":["deadline_s"],"work":["profile"],)"
            R"("phases":["profile","work"],"elastic":["profile"]})");
      w.key("not"), w.raw(R"({"required":["shapes","groups"]})");
    });
  }
};

constexpr Field<TraceFile, TraceOut> kTraceFields[] = {
    field<SchemaName<kTraceFormat>>("schema", kRequired),
    field<Text, &Trace::name>("name"),
    field<Text, &Trace::source>("source"),
    field<Origin, &Trace::origin_iso>("origin"),
    field<Lines<Text>, &Trace::notes>("notes"),
    field<Map<Bytes>, &Trace::dropped>("dropped"),
    field<SharedProfiles, &Trace::profiles>("profiles"),
    field<TraceJobs>("jobs", kRequired),
};
constexpr std::size_t kProfilesField = 6;
static_assert(kTraceFields[kProfilesField].name == "profiles");

/// Profiles may come after the jobs that name them.
void settle_profiles(TraceFile& file, std::string_view json, const std::string& name) {
  auto& profiles = file.value.profiles;
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
      const Profile* const job_profile = use.job_profile.empty() ? nullptr : known(use.job_profile);
      if (job_profile != nullptr && job_profile->unit != profile->unit) {
        throw InputError(name, use.place, use.line,
                         fmt::format("the profile '{}' counts in {}, and the job's own '{}' in {}", cut_utf8(use.profile, 60),
                                     cut_utf8(profile->unit, 20), cut_utf8(use.job_profile, 60), cut_utf8(job_profile->unit, 20)));
      }
    }
    check_profiles(file.value, name);
  } catch (const InputError& e) {
    if (e.line() > 0) throw;
    throw with_line(e, json);
  }
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
  try {
    read_object(in, file, kTraceFields);
  } catch (const InputError& e) {
    throw with_line(e, json);
  }
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
    throw moved(with_line(error, text), index, line);
  }
}

void read_pieces(GzipInput& input, JsonListSplitter& splitter, TraceFile& file) {
  constexpr std::size_t kChunk = std::size_t{1} << 18;
  const auto chunk = std::make_unique<char[]>(kChunk);
  while (const std::size_t n = input.read(chunk.get(), kChunk)) splitter.feed({chunk.get(), n});
  JsonCursor in(splitter.finish(), input.name());
  read_object(in, file, kTraceFields);
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
  // Extensions come before the long lists.
  const TraceOut out{trace, give};
  JsonWriter w;
  w.object([&] {
    write_fields<kTraceFields, 0, kProfilesField>(w, out);
    w.extensions(trace.x);
    write_fields<kTraceFields, kProfilesField>(w, out);
  });
  give(w.finish());
}

std::string to_json(const Trace& trace) {
  std::string text;
  write_json(trace, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string trace_schema() { return schema_of<kTraceFields>(kTraceFormat, "A workload trace in normal form"); }

}  // namespace berth::io
