#pragma once

#include <string>

namespace berth::test {

/// Lays out any JSON text for readable diffs: values of the top two levels get a line each, deeper ones stay on the
/// line of their parent, so a decision is one line. Only blanks between tokens change; ends with a newline.
std::string lay_out(const std::string& json);

/// Lines that differ between two texts, "- " expected and "+ " actual, at most forty; equal heads and tails are left
/// out.
std::string difference(const std::string& expected, const std::string& actual);

}  // namespace berth::test
