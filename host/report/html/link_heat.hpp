#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace berth::report {

/// A link of a `berth.links.v1` document.
struct HeatedLink {
  std::string name;
  double load = 0;  ///< part of its capacity
  std::vector<std::string> gangs;
};

/// Reads what `berth explain --links --json` wrote. @throws InputError, EnvironmentError.
std::vector<HeatedLink> read_links(const std::string& path);

/// A table of the links with the highest loads by the gangs that are on most of them, coloured by load.
std::string link_heat_map(const std::vector<HeatedLink>& links);

}  // namespace berth::report
