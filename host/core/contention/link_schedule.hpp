#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace berth::core {

/// One gang on one link. An iteration computes for `compute_ns` and sends for `send_ns` of the link, from `begin_ns` after its start at
/// the earliest. It ends when both are done.
struct LinkJob {
  std::int64_t compute_ns = 0;
  std::int64_t send_ns = 0;   ///< above 0
  std::int64_t begin_ns = 0;  ///< 0 to compute_ns

  std::int64_t alone_ns() const { return begin_ns + send_ns > compute_ns ? begin_ns + send_ns : compute_ns; }
};

/// What a gang got within the window.
struct LinkTime {
  std::int64_t sent_ns = 0;
  std::int64_t idle_ns = 0;  ///< it did not compute
  bool operator==(const LinkTime&) const = default;
};

/// Gangs that share one link by priority: the link serves the ready gang of the lowest level, and of equal ones the one that has been ready
/// for longest, then the first. All begin at 0.
/// O(iterations in the window * gangs^2).
std::vector<LinkTime> link_schedule(std::span<const LinkJob> gangs, std::span<const std::int32_t> level, std::int64_t window_ns);

}  // namespace berth::core
