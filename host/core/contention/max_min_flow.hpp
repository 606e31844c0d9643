#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "berth/units.hpp"

namespace berth::core {

/// What a flow takes of a link: `part` / 2^20 of its rate.
struct LinkPart {
  std::int32_t link;
  std::int32_t part;
  bool operator==(const LinkPart&) const = default;
};
inline constexpr std::int32_t kWholePart = 1 << 20;

/// Rates are in 1/1024 of a byte per second.
inline constexpr std::int64_t kRatesPerByte = 1'024;
inline constexpr std::int64_t kMostLinkRate = std::int64_t{1} << 50;  // bytes per second, of a capacity or a demand
inline constexpr std::int32_t kMostFlowWeight = 1 << 20;
inline constexpr std::int64_t kNoDemand = kMostLinkRate;
/// Above every level that a flow can have.
inline constexpr std::int64_t kNoLevel = std::int64_t{1} << 62;

/// A flow over several links at once, such as the collective of a gang: one rate, of which each link carries its part.
struct MaxMinFlow {
  std::vector<LinkPart> links;         ///< by link, without repetition; parts 1 to 2^20, the largest 2^20
  std::int32_t weight = 1;             ///< 1 to kMostFlowWeight
  std::int64_t demand = kNoDemand;     ///< bytes per second, 0 to kMostLinkRate; a flow without links states one
  std::int64_t demand_level() const {  ///< whole levels
    return demand == kNoDemand ? kNoLevel : demand * kRatesPerByte / weight;
  }
};

/// The flow of a gang that sends `bytes` over each link in one step: parts of its busiest link, rounded up.
struct LinkBytes;
MaxMinFlow flow_of(std::span<const LinkBytes> rows);

/// @throws InvalidArgument naming the value that is out of range.
void check_flow(const MaxMinFlow& flow, std::size_t links);
/// @throws InvalidArgument where a capacity is below 0 or above kMostLinkRate.
void check_capacities(std::span<const std::int64_t> bytes_per_s);

/// Max-min fair levels, by filling from nothing: the definition of docs/contention.md. A link of capacity 0 gives its flows 0.
/// O(rows log links + flows log flows).
/// @param capacity  bytes per second of each link
/// @param flows     checked
/// @returns the level of each flow; its rate is level x weight
std::vector<std::int64_t> max_min_levels(std::span<const std::int64_t> capacity, std::span<const MaxMinFlow> flows);

}  // namespace berth::core
