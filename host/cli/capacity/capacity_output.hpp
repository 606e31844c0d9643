#pragma once

#include <string>

#include "host/cli/capacity/capacity_study.hpp"

namespace berth::cli {

/// The answer, then a row for each cluster that was tried.
std::string capacity_text(const CapacityTask& task, const CapacityResult& result);

/// A `berth.capacity.v1` document (docs/formats/capacity.md).
std::string capacity_json(const CapacityTask& task, const CapacityResult& result);

}  // namespace berth::cli
