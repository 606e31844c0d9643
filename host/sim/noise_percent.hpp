#pragma once

#include <cstdint>
#include <string_view>

namespace berth::sim {

/// Whether a source is called "noise:...".
inline bool is_noise(std::string_view name) { return name.substr(0, 6) == "noise:"; }

/// P of "noise:P". @param what  of which it is a source, for the error. @throws InvalidArgument unless it is a whole number from 0 to 100.
std::int64_t noise_percent(std::string_view what, std::string_view name);

}  // namespace berth::sim
