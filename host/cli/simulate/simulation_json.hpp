#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/trace.hpp"
#include "host/results/results_file.hpp"

namespace berth::cli {

/// A line berth.simulation.v1. @param by  How jobs are grouped; empty: no groups.
std::string simulation_json(const results::Run& run, const Trace& trace, std::uint64_t seed, std::optional<sim::GroupBy> by);
std::string simulation_schema();

}  // namespace berth::cli
