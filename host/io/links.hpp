#pragma once

#include <string>

namespace berth::io {

/// The path up to and with its last '/', empty where it has none.
std::string folder_of(const std::string& path);

/// What a symbolic link points to in the end, also when that is not there yet; the path itself when it is no link.
/// @throws EnvironmentError when links point in a circle.
std::string behind_links(const std::string& path);

}  // namespace berth::io
