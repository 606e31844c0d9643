#pragma once

#include <string>

namespace berth::io {

/// The path up to and including its last '/', empty where it has none.
std::string folder_of(const std::string& path);

/// The final target of a symbolic link, even when it does not exist yet; the path itself when it is no link.
/// @throws EnvironmentError when links form a cycle.
std::string behind_links(const std::string& path);

}  // namespace berth::io
