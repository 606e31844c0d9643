#include <fmt/format.h>

#include <algorithm>

#include "berth/error.hpp"
#include "host/io/json/json_line.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/slurm/sacct.hpp"
#include "host/io/slurm/slurm_json.hpp"

namespace berth::io {
namespace {

struct SacctRow {
  SacctJob job;
  std::int64_t id = 0, array_id = 0, array_task = kSlurmUnset, het_id = 0, het_offset = 0;
};

// Calls on_field for each field of an object; skips anything else.
template <class OnField>
void each_field(JsonCursor& in, OnField&& on_field) {
  if (in.type() != JsonType::kObject) {
    in.raw();
    return;
  }
  in.object([&](std::string_view key) {
    if (!on_field(key)) in.raw();
  });
}

TimeUs read_known_instant(JsonCursor& in) {
  const std::int64_t seconds = read_slurm_instant(in);
  return seconds > 0 ? seconds * kSecond : -1;
}

void read_times(JsonCursor& in, SacctRow& row) {
  each_field(in, [&](std::string_view key) {
    if (key == "submission") {
      row.job.submit_us = read_known_instant(in);
    } else if (key == "start") {
      row.job.start_us = read_known_instant(in);
    } else if (key == "end") {
      row.job.end_us = read_known_instant(in);
    } else if (key == "elapsed") {
      row.job.run_us = read_slurm_instant(in) * kSecond;
    } else if (key == "limit") {
      const std::int64_t minutes = read_slurm_number(in);
      constexpr std::int64_t kMost = kMaxTimeUs / (60 * kSecond);
      if (minutes != kSlurmInfinite && minutes > kMost) in.fail(fmt::format("{} is no number of minutes", minutes));
      if (minutes >= 0 && minutes != kSlurmInfinite) row.job.time_limit_us = minutes * 60 * kSecond;
    } else {
      return false;
    }
    return true;
  });
}

// [{"type": "cpu", "name": "", "count": 4}, {"type": "gres", "name": "gpu:h100", "count": 2}]; memory in MiB
void read_allocated(JsonCursor& in, Tres& out) {
  TresGpus gpus;
  in.array([&] {
    std::string type, name;
    std::int64_t count = 0;
    each_field(in, [&](std::string_view key) {
      if (key == "type") {
        type = read_slurm_text(in);
      } else if (key == "name") {
        name = read_slurm_text(in);
      } else if (key == "count") {
        count = read_slurm_number(in);
        if (count < kSlurmUnset || count > kMaxBytes) in.fail(fmt::format("{} is not within 0 to {}", count, kMaxBytes));
        count = std::max<std::int64_t>(count, 0);
      } else {
        return false;
      }
      return true;
    });
    if (type == "cpu") out.cpus = count;
    if (type == "mem") out.memory_bytes = count > kMaxBytes >> 20 ? kMaxBytes : count << 20;
    if (type == "gres" && name == "gpu") gpus.add({}, count);
    if (type == "gres" && name.compare(0, 4, "gpu:") == 0) gpus.add(name.substr(4), count);
  });
  gpus.settle(out);
}

void read_tres(JsonCursor& in, SacctRow& row) {
  each_field(in, [&](std::string_view key) {
    if (key != "allocated" || in.type() != JsonType::kArray) return false;
    read_allocated(in, row.job.allocated);
    return true;
  });
}

void read_sacct_state(JsonCursor& in, SacctRow& row) {
  each_field(in, [&](std::string_view key) {
    if (key != "current") return false;
    const std::vector<std::string> names = read_slurm_names(in);
    row.job.state = names.empty() ? "" : names.front();
    return true;
  });
}

void read_array_of(JsonCursor& in, SacctRow& row) {
  each_field(in, [&](std::string_view key) {
    if (key == "job_id") {
      row.array_id = std::max<std::int64_t>(read_slurm_number(in), 0);
    } else if (key == "task_id") {
      row.array_task = read_slurm_number(in);
    } else {
      return false;
    }
    return true;
  });
}

void read_het_of(JsonCursor& in, SacctRow& row) {
  each_field(in, [&](std::string_view key) {
    if (key == "job_id") {
      row.het_id = std::max<std::int64_t>(read_slurm_number(in), 0);
    } else if (key == "job_offset") {
      row.het_offset = std::max<std::int64_t>(read_slurm_number(in), 0);
    } else {
      return false;
    }
    return true;
  });
}

constexpr Field<SacctRow> kSacctFields[] = {
    {"array", read_array_of},
    {"het", read_het_of},
    {"job_id", [](JsonCursor& in, SacctRow& r) { r.id = in.integer(0, UINT32_MAX); }, true},
    {"partition", [](JsonCursor& in, SacctRow& r) { r.job.partition = read_slurm_text(in); }},
    {"state", read_sacct_state, true},
    {"time", read_times, true},
    {"tres", read_tres, true},
    {"user", [](JsonCursor& in, SacctRow& r) { r.job.user = read_slurm_text(in); }},
};

// Whether 'meta' is that of sacct. Without jobs only it distinguishes the documents of Slurm's commands.
bool is_accounting(JsonCursor& in) {
  std::string type;
  each_field(in, [&](std::string_view part) {
    if (part != "plugin") return false;
    each_field(in, [&](std::string_view key) {
      if (key != "type") return false;
      type = read_slurm_text(in);
      return true;
    });
    return true;
  });
  return type != "openapi/slurmctld" && type.compare(0, 9, "openapi/v") != 0;
}

}  // namespace

Trace read_sacct_json(const std::string& text, const std::string& name) {
  SacctTrace trace(name);
  JsonCursor in(text, name);
  bool has_jobs = false, is_slurm = false;
  int line = 1;
  const char* line_at = text.data();
  in.object([&](std::string_view key) {
    if (key == "schema") in.fail(fmt::format("a document with the schema {} is no output of sacct", cut_utf8(in.raw(), 60)));
    if (key == "last_update" || key == "last_backfill") in.fail("this is what squeue prints; 'berth import slurm' reads it");
    if (key == "meta") {
      is_slurm = is_accounting(in) || is_slurm;
      return;
    }
    if (key != "jobs") {
      in.raw();
      return;
    }
    if (has_jobs) in.fail("a second list of jobs");
    has_jobs = true;
    SlurmRows<SacctRow> rows(kSacctFields);
    in.array([&] {
      is_slurm = true;
      const char* at = in.next_mark();
      line += static_cast<int>(std::count(line_at, at, '\n'));
      line_at = at;
      SacctRow row;
      const std::uint64_t seen = rows.read(in, row);
      const std::string missing = rows.missing(seen);
      if (!missing.empty())
        in.fail_at(at, fmt::format("no job of sacct: it lacks {} (what squeue prints is for 'berth import slurm')", missing));
      row.job.id = row.het_id != 0                            ? fmt::format("{}+{}", row.het_id, row.het_offset)
                   : row.array_id != 0 && row.array_task >= 0 ? fmt::format("{}_{}", row.array_id, row.array_task)
                                                              : std::to_string(row.id);
      rows.note_lack(seen, [&] { return fmt::format("job {}, line {}", row.job.id, line); });
      try {
        trace.add(std::move(row.job), name, line);
      } catch (const InputError& error) {
        in.fail_at(at, problem_of(error));
      }
    });
    note_slurm_lacks("row", rows.lacks(), 0, trace.odd());
  });
  in.finish();
  if (has_jobs && !is_slurm) in.fail("no job, and no 'meta' that says it is of sacct: expected what 'sacct --json' prints");
  if (!has_jobs) in.fail("no list of jobs: expected what 'sacct --json' prints");
  return trace.finish("UTC");
}

}  // namespace berth::io
