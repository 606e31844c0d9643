#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/network/links.hpp"
#include "host/core/network/traffic.hpp"

namespace berth::core {

/// How much slower gangs run because they share links: the expected overlap of their communication (docs/simulation-reference.md).
///
/// A gang needs link l for the time m_l = bytes / bandwidth of a step that takes T alone. While it sends, gang k sends too for
/// a part d_k of the time, so its communication lasts
///
///     N = a + S,  S = max over its links of m_l (1 + sum of d_k over the other gangs on l)
///
/// and a step lasts T + e (N - C), where a is the latency of hops, e is the part of communication that computing does not hide,
/// and C is what T has of it. d = S / step, at most 1. It is the least solution: the iteration begins with gangs that run alone,
/// and only ascends.
///
/// Speeds depend on the gangs that are there alone, not on the order in which they came. Only gangs that share a link,
/// or share one with such gangs, are looked at again.
class SharedSteps {
 public:
  /// @param apart  each gang runs as if it were alone on the links
  explicit SharedSteps(const NetworkLinks& links, bool apart = false);

  /// A gang comes. It must not be there.
  /// @param step_ns      of a step when it runs alone, above 0
  /// @param exposed_ppm  millionths of its communication that computing does not hide
  /// @param included_ns  communication of which `step_ns` has the exposed part: C; kAlone: all of it, a + max m_l
  /// @param latency_ns   in which it sends nothing: a
  void add(std::int32_t job, std::span<const LinkBytes> rows, std::int64_t step_ns, std::int64_t exposed_ppm,
           std::int64_t included_ns = kAlone, std::int64_t latency_ns = 0);
  /// A gang leaves, and has the speed of one that is not there; nothing where it is not there.
  void remove(std::int32_t job);
  /// Finds the speeds after these changes. @returns the gangs whose speed is another than before, ascending
  /// O(rounds * rows of the gangs looked at), at most kMostRounds rounds.
  std::span<const std::int32_t> settle();
  /// Millionths of the speed that the gang has alone; a gang that is not there has all of it.
  std::int64_t speed_ppm(std::int32_t job) const;

  static constexpr std::int64_t kAlone = -1;
  static constexpr int kMostRounds = 100;
  static constexpr double kEnough = 1e-7;  // of the time that the gangs send: no further round

 private:
  struct Gang {
    bool is_there = false, is_seen = false;
    double step = 0, exposed = 0;  // seconds; part
    double alone = 0;              // seconds that it sends, alone
    double latency = 0;            // seconds that it waits for hops
    double included = 0;           // of both, of which `step` has the exposed part
    double sends = 0, next = 0;    // part of the time, and in the next round
    std::int64_t speed_ppm = 1'000'000;
    std::vector<std::int32_t> link;
    std::vector<double> needs;  // [links of the gang] seconds
  };
  void see(std::int32_t job);
  void see_link(std::int32_t link);
  void spread();
  void solve();
  void add_up();
  double lasts_among(const Gang& gang) const;
  static double step_of(const Gang& gang, double lasts) { return gang.step + gang.exposed * (gang.latency + lasts - gang.included); }

  const NetworkLinks& links_;
  bool apart_;
  std::vector<Gang> gangs_;                      // [jobs]
  std::vector<std::vector<std::int32_t>> on_;    // [links] gangs; none where they run apart
  std::vector<double> sum_;                      // [links] of `sends`
  std::vector<std::uint8_t> link_seen_;          // [links]
  std::vector<std::int32_t> seen_, seen_links_;  // since the last `settle`
  std::vector<std::int32_t> changed_;
};

}  // namespace berth::core
