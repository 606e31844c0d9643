#pragma once

#include <string>

namespace berth::test {

/// Any JSON text as lines that a diff reads well: values of the top two levels one a line, deeper ones on the line of
/// their parent, so that a decision is a line. Nothing but blanks between tokens changes; ends with a newline.
std::string lay_out(const std::string& json);

/// Lines that stand only in one of two texts, "- " expected and "+ " actual, at most forty; equal heads and tails are left out.
std::string difference(const std::string& expected, const std::string& actual);

}  // namespace berth::test
