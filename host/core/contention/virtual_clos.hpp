#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace berth::core {

/// Leaves and spines of a two-tier Clos network, and what is free of them.
struct ClosFabric {
  std::int32_t spines = 0;              ///< at most 64
  std::vector<std::int32_t> free_gpus;  ///< [leaves]
  std::vector<std::int32_t> links;      ///< [leaves * spines] that no gang reserves

  std::int32_t& at(std::int32_t leaf, std::int32_t spine) { return links[static_cast<std::size_t>(leaf * spines + spine)]; }
  std::int32_t at(std::int32_t leaf, std::int32_t spine) const { return links[static_cast<std::size_t>(leaf * spines + spine)]; }
};
inline constexpr std::int32_t kMostSpines = 64;

/// GPUs of a gang under one leaf.
struct LeafGpus {
  std::int32_t leaf, gpus;
  bool operator==(const LeafGpus&) const = default;
};

/// A network of a gang's own: from each leaf, to each spine, as many links as its GPUs over the number of spines, rounded up.
struct VirtualClos {
  std::vector<LeafGpus> leaves;
  std::vector<std::int32_t> spines;  ///< empty with one leaf

  std::int32_t links(const LeafGpus& leaf) const {
    const auto n = static_cast<std::int32_t>(spines.size());
    return n == 0 ? 0 : (leaf.gpus + n - 1) / n;
  }
};

/// vClos (arXiv 2308.05692) for a gang that is placed: the fewest spines that have the links free, the first of these.
/// O(leaves * spines^2).
/// @returns nothing where no such network exists
std::optional<VirtualClos> virtual_clos_of(const ClosFabric& fabric, std::span<const LeafGpus> leaves);

/// vClos for a gang that is not placed: one leaf if it fits, the fullest that does, else the fewest leaves with equal numbers of
/// GPUs, and for these the fewest spines. All choices are tried up to kMostClosSteps, in the order of leaves.
/// @param decided  out: false where the steps ran out before the answer was certain
std::optional<VirtualClos> virtual_clos(const ClosFabric& fabric, std::int32_t gpus, bool& decided);
inline constexpr std::int64_t kMostClosSteps = 1'000'000;

/// Takes what the network uses from the fabric: links that no other gang may use, and GPUs where `and_gpus`.
void reserve(ClosFabric& fabric, const VirtualClos& clos, bool and_gpus);

}  // namespace berth::core
