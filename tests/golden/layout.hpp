#pragma once

#include <string>

namespace berth::test {

/// Lays out any JSON text for readable diffs: values of the top two levels get a line each, deeper ones stay on the
/// line of their parent, so a decision is one line. Only blanks between tokens change; ends with a newline.
std::string lay_out(const std::string& json);

/// The same for nested documents: what fits into 140 columns stays on one line, any other object or list gets a line for each value.
std::string lay_out_nested(const std::string& json);

/// Lines that differ between two texts, "- " expected and "+ " actual, at most forty; equal heads and tails are left
/// out.
std::string difference(const std::string& expected, const std::string& actual);

}  // namespace berth::test
