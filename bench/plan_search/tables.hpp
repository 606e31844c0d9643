#pragma once

#include <map>
#include <string>

#include "bench/plan_search/results.hpp"

namespace berth::bench {

/// The result as tables in columns, for a terminal.
std::string text_tables(const SearchResult& result);
/// The same in Markdown, under headings: for docs/search-tables.md.
std::string markdown_tables(const SearchResult& result);
/// The points of each plot ("search-nvl72-coupled-256"), for plot.gp: a line for each time, the gap's lowest, median and highest of each
/// contender. The gap is that to the bound where the problem is separable, else that to the best known.
std::map<std::string, std::string> point_tables(const SearchResult& result);

}  // namespace berth::bench
