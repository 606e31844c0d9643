#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/contention/affinity_graph.hpp"
#include "host/core/contention/rotations.hpp"
#include "host/core/contention/virtual_clos.hpp"
#include "host/core/network/traffic.hpp"
#include "host/core/state/state_view.hpp"

/// What gangs do to the links that they share: docs/contention.md. Speeds are parts of the speed that a gang has alone.
namespace berth::report {

/// A gang on several nodes that sends over links.
struct GangOnLinks {
  std::int32_t job = -1;
  std::int64_t gpus = 0;
  std::int64_t step_ns = 0;      ///< alone
  std::int64_t send_ns = 0;      ///< of a step, on its busiest link alone
  std::int64_t exposed_ppm = 0;  ///< part of `send_ns` that computing does not hide
  std::vector<core::LinkBytes> rows;
  std::int64_t expected_ppm = 1'000'000;  ///< speed where phases are independent: SharedSteps
  std::int64_t max_min_ppm = 1'000'000;   ///< speed where all gangs always send: max-min fair rates
  // Crux.
  std::int64_t intensity_milli = 0;  ///< thousandths of GPU-seconds of computing for each second of its busiest link
  std::int64_t correction_ppm = 1'000'000;
  std::int32_t level = 0;  ///< 0 is the highest
};

/// A link that gangs use. Gangs are indices of LinkReport::gangs.
struct LoadedLink {
  std::int32_t link = -1;
  std::string name;
  std::int64_t bytes_per_s = 0;
  std::int64_t load_ppm = 0;  ///< sum of the parts of the time that its gangs need it
  std::vector<std::int32_t> gangs;
};

/// Speeds of two gangs that share links, as if no others were there.
struct SharingPair {
  std::int32_t first = -1, second = -1;
  std::int32_t links = 0;        ///< that both use
  std::int64_t overlap_ppm = 0;  ///< sum over these links of the part of the time in which both need it
  std::int64_t first_expected_ppm = 0, second_expected_ppm = 0;
  std::int64_t first_max_min_ppm = 0, second_max_min_ppm = 0;
};

/// Links that the same gangs share, and their best rotations on the one that is worst.
struct SharedRotation {
  std::vector<std::int32_t> links;  ///< indices of LinkReport::links, the worst first
  std::vector<std::int32_t> gangs;
  core::BestRotations best;  ///< of `gangs`
};

/// What vClos would reserve for a gang.
struct ReservedClos {
  enum class Answer : std::uint8_t { kReserves, kOneLeaf, kNone, kNotDecided, kSeveralFabrics };
  std::int32_t job = -1;
  bool is_placed = false;
  Answer answer = Answer::kNone;
  std::vector<std::string> leaves;  ///< paths
  std::vector<std::int32_t> spines;
  std::int32_t links = 0;  ///< of the leaf with most GPUs, to each spine
};

struct LinkReport {
  std::int64_t known_links = 0;    ///< with a stated bandwidth
  std::vector<LoadedLink> links;   ///< that gangs use, the highest load first
  std::vector<GangOnLinks> gangs;  ///< by job rank
  std::vector<SharingPair> pairs;  ///< the greatest overlap first, at most kMostPairs
  std::int64_t pairs_left_out = 0;
  std::vector<SharedRotation> rotations;  ///< the worst score first
  core::AffinityShifts shifts;            ///< [gangs]
  std::vector<std::int32_t> unknown;      ///< jobs on several nodes of which bytes or step are not known
  std::int32_t spine_fabrics = 0;         ///< domains that state spines
  std::vector<ReservedClos> reserved;     ///< placed gangs first, where a fabric states its spines
};
inline constexpr std::size_t kMostPairs = 1'000;
/// Levels of Crux: switches have eight.
inline constexpr std::int32_t kPriorityLevels = 8;

/// @param plan  null: the jobs that run in the state
/// @throws InvalidArgument where the cluster states no bandwidth.
LinkReport link_report(const ClusterState& state, const Plan* plan);

/// Tables of links, gangs, pairs and rotations. @param most_rows  of each, 0: all
std::string link_text(const ClusterState& state, const LinkReport& report, std::size_t most_rows);

/// A picture of the loads of links, and of the pairs of gangs that slow each other down. Plain SVG; its greys are legible in
/// print. With more than 60 links these stand in 60 groups of similar loads; with more than 32 gangs the pairs of those that
/// overlap most.
std::string link_svg(const ClusterState& state, const LinkReport& report);

}  // namespace berth::report
