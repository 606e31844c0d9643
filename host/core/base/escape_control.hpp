#pragma once

#include <string>
#include <string_view>

namespace berth::core {

/// The text with its control and bidirectional characters spelled out ("\u0000", "\u001b", "\u202e"), so that a message shows them,
/// ends where it ends, and cannot steer a terminal. Line feeds stay where `lines` says so.
std::string escape_control(std::string_view text, bool lines = false);

}  // namespace berth::core
