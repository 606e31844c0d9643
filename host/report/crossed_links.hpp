#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"

namespace berth::report {

/// Where nodes lie in topology `switch`, and the links that traffic between them crosses, the slowest first:
/// "in pod p1; crosses 2 links: p1/r1 up at 50 GB/s, oversubscribed 2; p1/r2 up at 100 GB/s". Empty without domains.
std::string crossed_links(const Snapshot& cluster, const std::vector<std::string_view>& nodes);

}  // namespace berth::report
