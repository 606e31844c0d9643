#include "host/core/model/all_reduce.hpp"

#include <algorithm>

#include "host/core/base/wide.hpp"

namespace berth::core {

std::int64_t network_hop_ns(std::int32_t level, std::int64_t stated_ns) {
  return saturating_add(kNetworkHopNs + kSwitchHopNs * std::max(0, 2 * level - 1), stated_ns);
}

std::int64_t ring_all_reduce_ns(std::int64_t bytes, const Tier& tier) {
  if (tier.ranks <= 1) return 0;
  const Wide hops = Wide{2} * (tier.ranks - 1) * tier.hop_ns;
  if (tier.bytes_per_s <= 0) return saturate(hops);
  // ranks < 2^27, bytes <= 2^56: the product stays below 2^114.
  const Wide sent = Wide{2} * (tier.ranks - 1) * bytes * 1'000'000'000;
  return saturate(hops + sent / (Wide{tier.ranks} * tier.bytes_per_s));
}

std::int64_t hierarchical_all_reduce_ns(std::int64_t bytes, const Tier& inside, const Tier& between) {
  return saturating_add(ring_all_reduce_ns(bytes, inside), ring_all_reduce_ns(bytes, between));
}

}  // namespace berth::core
