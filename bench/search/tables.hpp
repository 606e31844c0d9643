#pragma once

#include <string>

#include "bench/search/results.hpp"

namespace berth::bench {

/// The result as tables in columns, for a terminal.
std::string text_tables(const SearchResult& result);
/// The same in Markdown, under headings: for docs/search.md.
std::string markdown_tables(const SearchResult& result);

}  // namespace berth::bench
