#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace berth::report {

using Row = std::vector<std::string>;

/// Width of tables: terminals and documents show this many columns.
inline constexpr std::size_t kTableWidth = 100;

/// Columns as wide as they must be, two blanks between. What does not fit into kTableWidth wraps at blanks, the widest column first; where
/// that is not enough, the columns that are left over follow in tables of their own, with the first `keys` columns again.
/// @param colours  an ANSI sequence for each row, or empty
std::string table(const Row& head, const std::vector<Row>& rows, const std::vector<const char*>& colours = {}, std::size_t keys = 1);

}  // namespace berth::report
