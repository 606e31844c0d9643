#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "berth/error.hpp"
#include "berth/io.hpp"
#include "host/core/base/civil_time.hpp"
#include "host/io/files/file_error.hpp"
#include "host/io/json/json_cursor.hpp"
#include "host/io/json/json_line.hpp"
#include "host/io/traces/philly.hpp"

namespace berth::io {
namespace {

struct Attempt {
  std::optional<TimeUs> start, end;
  std::int64_t gpus = 0;
};

/// A text, or none for null, "None" and "".
std::optional<std::string> text_or_none(JsonCursor& json) {
  if (json.type() == JsonType::kNull) {
    json.null();
    return std::nullopt;
  }
  const std::string_view text = json.string();
  if (text.empty() || text == "None") return std::nullopt;
  return std::string(text);
}

std::optional<TimeUs> time_or_none(JsonCursor& json) {
  const auto text = text_or_none(json);
  if (!text) return std::nullopt;
  const auto at = core::parse_civil(*text);
  if (!at && core::is_missing_day(*text)) json.fail(fmt::format("'{}': its month has no such day", *text));
  if (!at) json.fail(fmt::format("expected a local time 'YYYY-MM-DD HH:MM:SS' or null, found '{}'", text->substr(0, 60)));
  return at;
}

/// A list that may be absent: null counts as empty.
template <class OnElement>
void list_or_null(JsonCursor& json, OnElement&& on_element) {
  if (json.type() == JsonType::kNull) {
    json.null();
  } else {
    json.array(on_element);
  }
}

Attempt read_attempt(JsonCursor& json) {
  Attempt attempt;
  json.object([&](std::string_view key) {
    if (key == "start_time") {
      attempt.start = time_or_none(json);
    } else if (key == "end_time") {
      attempt.end = time_or_none(json);
    } else if (key == "detail") {
      list_or_null(json, [&] {
        json.object([&](std::string_view part) {
          if (part == "gpus") {
            list_or_null(json, [&] {
              json.raw();
              ++attempt.gpus;
            });
          } else {
            json.raw();
          }
        });
      });
    } else {
      json.raw();
    }
  });
  return attempt;
}

struct Entry {
  TraceJob job;
  std::optional<TimeUs> submit;
  std::int64_t attempts = 0, counted = 0;
  bool runs_still = false;
  bool gpus_change = false;
};

void count(JsonCursor& json, Entry& entry, const Attempt& attempt) {
  ++entry.attempts;
  if (attempt.start && !attempt.end) entry.runs_still = true;
  if (!attempt.start || !attempt.end || attempt.gpus == 0) return;
  if (entry.counted++ > 0 && entry.job.gpus != attempt.gpus) entry.gpus_change = true;
  entry.job.run_us += *attempt.end - *attempt.start;  // each is below 2^59, so the sum is checked before it can overflow
  if (entry.job.run_us > kMaxTimeUs || entry.job.run_us < -kMaxTimeUs) json.fail("the attempts add up to more time than can be counted");
  entry.job.gpus = static_cast<std::int32_t>(attempt.gpus);  // bounded because the file has at most 512 MiB
}

std::string read_status(JsonCursor& json) {
  const auto status = text_or_none(json);
  if (!status) return "";
  if (*status == "Pass") return "completed";
  if (*status == "Killed") return "cancelled";
  if (*status == "Failed") return "failed";
  json.fail(fmt::format("expected Pass, Killed or Failed, found '{}'", status->substr(0, 60)));
}

Entry read_entry(JsonCursor& json) {
  Entry entry;
  entry.job.gpus = 0;
  json.object([&](std::string_view key) {
    if (key == "jobid") {
      entry.job.id = json.string();
    } else if (key == "user") {
      entry.job.user = text_or_none(json).value_or("");
    } else if (key == "vc") {
      entry.job.virtual_cluster = text_or_none(json).value_or("");
    } else if (key == "status") {
      entry.job.status = read_status(json);
    } else if (key == "submitted_time") {
      entry.submit = time_or_none(json);
    } else if (key == "attempts") {
      list_or_null(json, [&] { count(json, entry, read_attempt(json)); });
    } else {
      json.raw();
    }
  });
  return entry;
}

}  // namespace

Trace read_philly_json(const std::string& path) {
  const std::string text = read_file(path);
  const std::string file = input_name(path);
  JsonCursor json(text, file);
  TraceBuilder trace("philly", file);
  std::int64_t retried = 0, changed = 0;
  json.array([&] {
    const char* where = json.next_mark();
    Entry entry = read_entry(json);
    if (entry.job.id.empty()) json.fail_at(where, "a job without 'jobid'");
    if (!entry.submit) {
      trace.drop("no submission time");
    } else if (entry.runs_still) {
      trace.drop("still running");
    } else if (entry.attempts == 0) {
      trace.drop("no attempt");
    } else if (entry.counted == 0) {
      trace.drop("no attempt with start, end and GPUs");
    } else {
      retried += entry.counted > 1 ? 1 : 0;
      changed += entry.gpus_change ? 1 : 0;
      entry.job.submit_us = *entry.submit;
      try {
        trace.add(std::move(entry.job), file, 0);
      } catch (const InputError& error) {
        json.fail_at(where, problem_of(error));
      }
    }
  });
  json.finish();
  trace.note(fmt::format(
      "run time is the sum over the attempts with a start, an end and GPUs ({} jobs have several); the GPU count is that of the "
      "last of them ({} jobs changed it)",
      retried, changed));
  return finish_philly(trace);
}

}  // namespace berth::io
