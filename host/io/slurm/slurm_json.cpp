#include "host/io/slurm/slurm_json.hpp"

#include <algorithm>

#include "host/core/base/split.hpp"
#include "host/io/files/name_problem.hpp"
#include "host/io/json/json_text.hpp"
#include "host/io/topology/slurm_hostlist.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 62;

std::int64_t read_wrapped(JsonCursor& in) {
  bool set = true, infinite = false;
  std::int64_t number = kSlurmUnset;
  in.object([&](std::string_view key) {
    if (key == "set") {
      set = in.boolean();
    } else if (key == "infinite") {
      infinite = in.boolean();
    } else if (key == "number" && in.type() == JsonType::kNumber) {
      number = in.integer(-kMostNumber, kMostNumber);
    } else {
      in.raw();
    }
  });
  return infinite ? kSlurmInfinite : set ? number : kSlurmUnset;
}

struct Meta {
  std::string plugin, parser, release;
};

// {"plugin": {"type", "data_parser", ...}, "Slurm" or "slurm": {"release", ...}}
void read_meta(JsonCursor& in, Meta& meta) {
  in.object([&](std::string_view part) {
    const bool plugin = part == "plugin", slurm = part == "Slurm" || part == "slurm";
    if ((!plugin && !slurm) || in.type() != JsonType::kObject) {
      in.raw();
      return;
    }
    in.object([&](std::string_view key) {
      if (plugin && key == "type") {
        meta.plugin = read_slurm_text(in);
      } else if (plugin && key == "data_parser") {
        meta.parser = read_slurm_text(in);
      } else if (slurm && key == "release") {
        meta.release = read_slurm_text(in);
      } else {
        in.raw();
      }
    });
  });
}

void read_errors(JsonCursor& in) {
  if (in.type() != JsonType::kArray) {
    in.raw();
    return;
  }
  in.array([&] {
    const char* at = in.next_mark();
    const std::string_view error = in.raw();
    in.fail_at(at, fmt::format("Slurm reports an error: {}", cut_utf8(error, 80)));
  });
}

void check_version(const JsonCursor& in, const char* at, const Meta& meta, const SlurmGap& gap, ImportNotes& notes) {
  const std::string& full = meta.parser.empty() ? meta.plugin : meta.parser;
  const std::string_view version = std::string_view(full).substr(full.rfind('/') + 1);
  const std::string said = version.empty() ? "no data parser named" : fmt::format("data parser {}", version);
  if (version.substr(0, 2) == "db") in.fail_at(at, "this is accounting data (sacct); 'berth import sacct' reads it");
  if (gap.at != nullptr) in.fail_at(gap.at, fmt::format("{} lacks what is needed: {} ({})", gap.row, gap.fields, said));
  const int parser = slurm_parser_of(version);
  if (parser == 0) notes.say(fmt::format("{}: read as v0.0.{}, the newest one known", said, kLastSlurmParser));
  note_slurm_lacks("job", gap.jobs, parser, notes);
  note_slurm_lacks("node", gap.nodes, parser, notes);
}

}  // namespace

std::int64_t read_slurm_number(JsonCursor& in) {
  switch (in.type()) {
    case JsonType::kNull:
      in.null();
      return kSlurmUnset;
    case JsonType::kObject:
      return read_wrapped(in);
    case JsonType::kString: {
      const std::string_view text = in.string();
      if (text == "Infinity") return kSlurmInfinite;
      if (!text.empty()) in.fail(fmt::format("expected a number, not {}", in.shown()));
      return kSlurmUnset;
    }
    default:
      return in.integer(-kMostNumber, kMostNumber);
  }
}

std::int64_t read_slurm_instant(JsonCursor& in) {
  const bool plain = in.type() == JsonType::kNumber;
  const std::int64_t number = read_slurm_number(in);
  if (number == kSlurmInfinite || (number == kSlurmUnset && !plain)) return 0;
  if (number < 0 || number > kSlurmLastInstant) in.fail(fmt::format("{} is no instant in Unix seconds", number));
  return number;
}

std::string read_slurm_text(JsonCursor& in) {
  if (in.type() != JsonType::kNull) return std::string(in.string());
  in.null();
  return {};
}

void check_slurm_name(const JsonCursor& in, std::string_view name) {
  const std::string problem = name_problem(name);
  if (!problem.empty()) in.fail(fmt::format("{}: {}", in.shown(), problem));
}

std::string read_slurm_name(JsonCursor& in) {
  std::string text = read_slurm_text(in);
  check_slurm_name(in, text);
  return text;
}

std::string read_slurm_expression(JsonCursor& in) {
  std::string text = read_slurm_text(in);
  if (has_control(text)) in.fail(fmt::format("{}: a text must not hold control characters", in.shown()));
  return text;
}

std::vector<std::string> read_slurm_names(JsonCursor& in) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view name) {
    if (name.empty()) return;
    check_slurm_name(in, name);
    out.emplace_back(name);
  };
  if (in.type() == JsonType::kArray) {
    in.array([&] { add(in.string()); });
    return out;
  }
  const std::string text = read_slurm_text(in);
  for (const std::string_view name : core::split(text, ',')) add(name);
  return out;
}

std::vector<std::string> read_slurm_hosts(JsonCursor& in, std::int64_t& left) {
  std::vector<std::string> out;
  const auto read = [&] {
    const std::string text = read_slurm_text(in);
    if (text == "(null)" || text == "None") return;
    if (has_control(text)) in.fail(fmt::format("{}: a text must not hold control characters", in.shown()));
    const std::size_t before = out.size();
    const std::string problem = expand_hostlist(text, left, out);
    if (!problem.empty()) in.fail(fmt::format("{} is no list of hosts: {}", in.shown(), problem));
    for (std::size_t i = before; i < out.size() && text.size() > core::kMaxNameBytes; ++i) check_slurm_name(in, out[i]);
  };
  if (in.type() == JsonType::kArray)
    in.array(read);
  else
    read();
  return out;
}

void read_slurm_document(JsonCursor& in, SlurmData& data, ImportNotes& notes, std::int64_t& names_left) {
  const char* at = in.next_mark();
  Meta meta;
  SlurmGap gap;
  bool known = false;
  in.object([&](std::string_view key) {
    if (key == "meta" && in.type() == JsonType::kObject) {
      read_meta(in, meta);
    } else if (key == "schema") {
      in.fail(fmt::format("a document with the schema {} is no output of Slurm", cut_utf8(in.raw(), 60)));
    } else if (key == "errors") {
      read_errors(in);
    } else if (key == "last_update" || key == "last_backfill") {
      data.now = std::max(data.now, read_slurm_instant(in));
    } else if (key == "jobs") {
      if (data.has_jobs) in.fail("a second list of jobs; one cluster has one");
      data.has_jobs = known = true;
      read_slurm_jobs(in, data, names_left, gap);
    } else if (key == "nodes") {
      if (data.has_nodes) in.fail("a second list of nodes; one cluster has one");
      data.has_nodes = known = true;
      read_slurm_nodes(in, data, gap);
    } else if (key == "sinfo") {
      in.fail("this 'sinfo --json' has summaries, no nodes; give 'scontrol show nodes --json' instead");
    } else if (key == "partitions") {
      known = true;
      notes.say("the list of partitions is not used: nodes name their partitions themselves");
      in.raw();
    } else {
      in.raw();
    }
  });
  if (!known)
    in.fail_at(at, "neither jobs nor nodes: expected what 'squeue --json', 'sinfo --json' or 'scontrol show nodes --json' prints");
  check_version(in, at, meta, gap, notes);
}

}  // namespace berth::io
