#pragma once

#include <string>
#include <vector>

#include "bench/search/results.hpp"

namespace berth::bench {

/// A drawing of one cell, self-contained SVG.
struct Plot {
  std::string file_name;  // "search-nvl72-coupled-256.svg"
  std::string svg;
};

/// Of the row's cell.
std::string plot_name(const SearchRow& row);

/// Gap against time of each cell, both logarithmic: a line for each contender's median, a band from its lowest to its highest. The gap is
/// that to the bound where the problem is separable, else that to the best known.
std::vector<Plot> plots_of(const SearchResult& result);

}  // namespace berth::bench
