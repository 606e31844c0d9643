#pragma once

#include <span>
#include <string>

#include "host/report/contest.hpp"

namespace berth::cli {

/// berth.contest.v1 (docs/formats/contest.md).
std::string contest_json(std::span<const report::Contender> contenders);
std::string contest_schema();

}  // namespace berth::cli
