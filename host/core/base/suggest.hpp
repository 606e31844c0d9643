#pragma once

#include <span>
#include <string>
#include <string_view>

namespace berth::core {

/// The name nearest to `word` by edit distance, ignoring case; empty when none is near (a third of the word's letters,
/// at least one).
std::string_view nearest_name(std::string_view word, std::span<const std::string_view> names);

/// "; did you mean 'priority'?", or nothing.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> names);

}  // namespace berth::core
