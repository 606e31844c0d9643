#pragma once

#include <string>
#include <vector>

namespace berth::report {

using Row = std::vector<std::string>;

/// Columns as wide as they must be, two blanks between. `colours`: an ANSI sequence for each row, or empty.
std::string table(const Row& head, const std::vector<Row>& rows, const std::vector<const char*>& colours = {});

}  // namespace berth::report
