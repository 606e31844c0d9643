#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "bench/plan_search/axes.hpp"
#include "bench/plan_search/results.hpp"

namespace berth::bench {

/// Called with the rows of each finished cell, as all of them take minutes.
using CellDone = std::function<void(const SearchResult& cell)>;

/// All contenders on all cells of the axes, then the ablation.
SearchResult run_search(const SearchAxes& axes, const CellDone& done);

}  // namespace berth::bench
