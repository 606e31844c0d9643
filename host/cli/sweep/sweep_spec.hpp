#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/cli/sweep/sweep_keys.hpp"

namespace berth::cli {

/// A key with the values that it takes in turn.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
};

/// A named set of keys that replace those of the spec.
struct SweepEdit {
  std::string name;
  RunTexts values;
};

/// `until = "METRIC:P%"`: seeds are added until the interval of the metric is at most P per cent of its mean to each side.
struct SweepUntil {
  std::size_t metric = 0;
  std::int64_t part_ppm = 0;
  bool operator==(const SweepUntil&) const = default;
};

/// A spec of `berth sweep`: docs/sweep.md.
struct SweepSpec {
  std::string path, folder;
  std::vector<SweepAxis> axes;  ///< in the order of the file; of policy parameters, too
  std::vector<SweepEdit> edits;
  bool unedited = true;  ///< also runs without an edit
  std::vector<std::int64_t> seeds;
  std::int64_t asked_seeds = 1;  ///< their number, also where that is too large to list them
  bool seeds_listed = false;     ///< not a number of seeds
  std::int64_t max_seeds = 1000;
  std::string baseline;              ///< a policy; empty: none
  std::vector<std::size_t> metrics;  ///< of the summary
  std::optional<SweepUntil> until;
  std::string store;  ///< empty: beside the spec
};

inline constexpr std::int64_t kMostSweepRuns = 1'000'000;

/// @throws InvalidArgument naming the text.
SweepUntil parse_until(std::string_view text);

/// @throws InputError naming file, line and key.
SweepSpec parse_sweep_spec(std::string_view text, const std::string& path);
/// Reads the file. @throws EnvironmentError, too.
SweepSpec read_sweep_spec(const std::string& path);

}  // namespace berth::cli
