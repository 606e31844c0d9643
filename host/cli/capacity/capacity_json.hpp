#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/cli/sweep/shown_interval.hpp"

namespace berth::cli {

struct CapacityTargetRow {
  std::string metric, compare;
  double value = 0;
};

struct CapacityAnswerRow {
  std::string kind;
  std::vector<std::int64_t> others;
  std::string cluster;  ///< empty: no size is enough
  bool monotone = true;
};

struct CapacitySizeRow {
  std::string cluster;
  std::vector<std::int64_t> bought;
  std::int64_t gpus = 0;
  ShownMetrics metrics;
  double utilisation = 0;
  std::int64_t seeds_enough = 0;
  std::optional<double> cost_per_hour, cost_per_month, power_w;
  bool enough = false;
};

struct CapacityDemandRow {
  double mean_gpus = 0;
  std::int64_t peak_gpus = 0, largest_job_gpus = 0;
};

struct CapacityDocument {
  std::vector<CapacityTargetRow> targets;
  std::vector<std::string> kinds;
  std::string fixed;
  CapacityDemandRow demand;
  std::int64_t seeds = 0;
  std::optional<double> confidence;
  std::vector<CapacityAnswerRow> answers;
  std::string best;
  std::vector<CapacitySizeRow> sizes;
};

/// `berth.capacity.v1` (docs/formats/capacity.md).
std::string capacity_document_json(const CapacityDocument& document);
std::string capacity_schema();

}  // namespace berth::cli
