#pragma once

#include <array>
#include <string>
#include <vector>

#include "berth/cluster.hpp"
#include "host/core/where.hpp"

namespace berth::core {

/// Named levels of each facet from leaf to root, without "node" and "cluster".
using LevelOrder = std::array<std::vector<std::string>, kFacets>;

/// Full path of a domain: parent + "/" + id.
std::string domain_path(const Domain& domain);

/// The one order in which the levels of each facet lie above each other.
///
/// A domain's level lies below its parent's. Domains may leave levels out; the levels of a facet must still form one chain, of at
/// most kMaxLevels with "node" and "cluster".
/// @param domains  Their parents must exist (`check_domains`).
/// @throws InputError when a level lies above itself, or two levels of a facet have no order.
LevelOrder order_levels(const std::vector<Domain>& domains, const Where& where);

}  // namespace berth::core
