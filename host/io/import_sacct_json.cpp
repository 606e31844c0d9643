#include <fmt/format.h>

#include <algorithm>

#include "host/io/sacct.hpp"
#include "host/io/slurm_json.hpp"

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
  in.array([&] {
    std::string type, name;
    std::int64_t count = 0;
    each_field(in, [&](std::string_view key) {
      if (key == "type") {
        type = read_slurm_text(in);
      } else if (key == "name") {
        name = read_slurm_text(in);
      } else if (key == "count") {
        count = std::max<std::int64_t>(read_slurm_number(in), 0);
        if (count > kMaxBytes) in.fail(fmt::format("{} is too large", count));
      } else {
        return false;
      }
      return true;
    });
    if (type == "cpu") out.cpus = count;
    if (type == "mem") out.memory_bytes = count > kMaxBytes >> 20 ? kMaxBytes : count << 20;
    if (type != "gres" || name.compare(0, 3, "gpu") != 0) return;
    out.gpus = std::max(out.gpus, count);
    if (name.size() > 4 && name[3] == ':') out.gpu_type = name.substr(4);
  });
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

}  // namespace

Trace read_sacct_json(const std::string& text, const std::string& name) {
  SacctTrace trace(name);
  JsonCursor in(text, name);
  bool has_jobs = false;
  in.object([&](std::string_view key) {
    if (key != "jobs") {
      in.raw();
      return;
    }
    has_jobs = true;
    SlurmRows<SacctRow> rows(kSacctFields);
    in.array([&] {
      const char* at = in.next_mark();
      SacctRow row;
      const std::string missing = rows.missing(rows.read(in, row));
      if (!missing.empty()) in.fail_at(at, fmt::format("no job of sacct: it lacks {}", missing));
      row.job.id = row.het_id != 0                            ? fmt::format("{}+{}", row.het_id, row.het_offset)
                   : row.array_id != 0 && row.array_task >= 0 ? fmt::format("{}_{}", row.array_id, row.array_task)
                                                              : std::to_string(row.id);
      trace.add(std::move(row.job), name, 0);
    });
  });
  in.finish();
  if (!has_jobs) in.fail("no list of jobs: expected what 'sacct --json' prints");
  return trace.finish("UTC");
}

}  // namespace berth::io
