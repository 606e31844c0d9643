#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "bench/search/axes.hpp"
#include "bench/search/results.hpp"

namespace berth::bench {

/// Called with the rows of a cell when it is done: it takes minutes until all are.
using CellDone = std::function<void(const SearchResult& cell)>;

/// All contenders on all cells that the axes ask for, then the ablation.
SearchResult run_search(const SearchAxes& axes, const CellDone& done);

}  // namespace berth::bench
