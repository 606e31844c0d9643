#include "host/io/slurm/slurm_versions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "host/core/base/split.hpp"

namespace berth::io {
namespace {

// Fields that only some of the known data parsers write, and which ones. From the field lists in Slurm's sources, and from 22.05 itself.
struct FieldVersions {
  std::string_view name;
  int first, last;
};
constexpr FieldVersions kOfSomeParsers[] = {
    {"minimum_switches", 39, 41},
    {"required_switches", 42, 43},
    {"segment_size", 43, 43},
    {"state_flags", 38, 38},
    {"effective_cpus", 39, 43},
    {"specialized_memory", 39, 43},
    {"maximum_switch_wait_time", 1, 0},  // all from 39 on, and it matters only with a count of switches, where it is noted
    {"steps", 1, 0},                     // none: a field of accounting
    {"qos", 1, 0},                       // all, and it matters only with the output of sacctmgr
};

bool prints(int parser, std::string_view field) {
  const auto some =
      std::find_if(std::begin(kOfSomeParsers), std::end(kOfSomeParsers), [&](const FieldVersions& one) { return one.name == field; });
  return some == std::end(kOfSomeParsers) || (parser >= some->first && parser <= some->last);
}

}  // namespace

int slurm_parser_of(std::string_view version) {
  constexpr std::string_view kBegin = "v0.0.";
  version = version.substr(0, version.find('+'));
  if (version.substr(0, kBegin.size()) != kBegin) return 0;
  const std::int64_t number = core::parse_whole(version.substr(kBegin.size()), kLastSlurmParser).value_or(0);
  return number >= kFirstSlurmParser ? static_cast<int>(number) : 0;
}

void note_slurm_lacks(std::string_view noun, const std::vector<SlurmLack>& lacks, int parser, ImportNotes& notes) {
  for (const SlurmLack& lack : lacks) {
    std::string names;
    for (const std::string_view field : lack.fields) {
      if (prints(parser, field)) names += (names.empty() ? "" : ", ") + std::string(field);
    }
    if (names.empty()) continue;
    const std::string printer = parser == 0 ? "every known data parser" : fmt::format("data parser v0.0.{}", parser);
    notes.count(noun, fmt::format(" without what {} prints: {}; taken for not set", printer, names), lack.first, lack.rows);
  }
}

}  // namespace berth::io
