#pragma once

#include <array>
#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "host/core/base/input_location.hpp"

namespace berth::core {

/// Named levels of each topology from leaf to root, without "node" and "cluster".
using LevelOrder = std::array<std::vector<std::string>, kTopologyKinds>;

/// Full path of a domain: parent + "/" + id.
std::string domain_path(const Domain& domain);

/// The order of the levels of each topology from leaf to root.
///
/// A domain's level is below its parent's. Domains may skip levels; the levels of a topology must still form one chain,
/// of at most kMaxLevels with "node" and "cluster".
/// @param domains  Their parents must exist (`check_domains`).
/// @throws InputError when a level is above itself, or two levels of a topology have no order.
LevelOrder order_levels(const std::vector<Domain>& domains, const InputLocation& where);

}  // namespace berth::core
