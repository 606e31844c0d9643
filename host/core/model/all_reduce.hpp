#pragma once

#include <cstdint>

/// Times of collectives in whole nanoseconds, each tier rounded down. The formulas are the usual alpha-beta models; the defaults are
/// effective figures in decimal gigabytes (10^9).
namespace berth::core {

inline constexpr std::int64_t kPcieBytesPerS = 24'000'000'000;  // PCIe 4.0 x16
inline constexpr std::int64_t kNvlinkHopNs = 3'400;             // NCCL's Simple protocol, for these three
inline constexpr std::int64_t kPcieHopNs = 5'700;
inline constexpr std::int64_t kNetworkHopNs = 14'000;
inline constexpr std::int64_t kSwitchHopNs = 1'000;

/// Of one hop between GPUs of a node or of an NVLink domain; 0 bytes per second: without NVLink.
constexpr std::int64_t inside_hop_ns(std::int64_t nvlink_bytes_per_s) { return nvlink_bytes_per_s > 0 ? kNvlinkHopNs : kPcieHopNs; }
/// Of one hop between nodes, up to a level of the switch topology and down again: 2 level - 1 switches.
/// @param stated_ns  latencies of the domains on the way
std::int64_t network_hop_ns(std::int32_t level, std::int64_t stated_ns);

/// One tier of a collective.
struct Tier {
  std::int64_t ranks = 1;
  std::int64_t bytes_per_s = 0;  // one way, per rank; 0: not limited
  std::int64_t hop_ns = 0;
};

/// Ring: 2 (p - 1) alpha + 2 (p - 1)/p bytes / B; 0 for one rank.
std::int64_t ring_all_reduce_ns(std::int64_t bytes, const Tier& tier);

/// Hierarchical: reduce-scatter and all-gather inside the nodes around an all-reduce between them over all NICs at once,
///
///     2 (g - 1) alpha_i + 2 (g - 1)/g bytes / B_i  +  2 (n - 1) alpha_n + 2 (n - 1)/n bytes / B_n
///
/// with g GPUs in a node and B_n the bandwidth of all NICs of a node together. Unequal nodes: the largest g, the least B_n.
std::int64_t hierarchical_all_reduce_ns(std::int64_t bytes, const Tier& inside, const Tier& between);

}  // namespace berth::core
