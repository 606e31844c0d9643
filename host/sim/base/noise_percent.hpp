#pragma once

#include <cstdint>
#include <string_view>

namespace berth::sim {

/// Whether the name of a source is "noise:...".
inline bool is_noise(std::string_view name) { return name.substr(0, 6) == "noise:"; }

/// P of "noise:P".
/// @param what  What the source is for, used in the error.
/// @throws InvalidArgument unless P is a whole number from 0 to 100.
std::int64_t noise_percent(std::string_view what, std::string_view name);

}  // namespace berth::sim
