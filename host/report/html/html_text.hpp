#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace berth::report {

/// Text as content or quoted attribute of HTML: no markup in it has an effect.
std::string html_text(std::string_view text);

/// JSON as content of a script element: it cannot end the element.
std::string script_json(std::string_view json);

/// Numbers in base 64, least significant byte first.
std::string packed(std::span<const double> values);
std::string packed(std::span<const float> values);
std::string packed(std::span<const std::uint32_t> values);
std::string packed(std::span<const std::uint8_t> values);

}  // namespace berth::report
