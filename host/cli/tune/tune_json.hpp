#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "berth/units.hpp"

namespace berth::cli {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct TuneRungRow {
  TimeUs from_us = 0, until_us = 0;
  std::int64_t jobs = 0, tried = 0, lost = 0, kept = 0;
  double default_s = 0;
  std::optional<double> best_s;
};

struct TuneGainRow {
  double default_s = 0, tuned_s = 0, gain_s = 0;
  std::int64_t days = 0;
  std::optional<double> low_s, high_s;
  bool operator==(const TuneGainRow&) const = default;
};

struct TuneWindowRow {
  TimeUs from_us = 0, until_us = 0;
  std::int64_t jobs = 0;
  TuneGainRow gain;
  bool operator==(const TuneWindowRow&) const = default;
};

struct TuneDocument {
  std::string policy, metric;
  NamedTexts space;
  std::int64_t seeds = 0, configurations = 0;
  std::vector<TuneRungRow> rungs;
  std::vector<std::pair<std::string, std::int64_t>> lost_runs;
  NamedTexts best;  ///< empty: none is better than the default
  std::optional<TuneWindowRow> tuned_on;
  std::vector<TuneWindowRow> later;
  std::optional<TuneGainRow> all_later;
  std::string lost_later, use;
  bool keep_default = true;
};

/// `berth.tune.v1` (docs/formats/tune.md).
std::string tune_document_json(const TuneDocument& document);
std::string tune_schema();

}  // namespace berth::cli
