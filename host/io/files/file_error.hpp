#pragma once

#include <string>

/// Names of files in messages, and errors of the system.
namespace berth::io {

/// "standard input" for "-", else the path.
std::string input_name(const std::string& path);
/// "standard output" for "-", else the path.
std::string output_name(const std::string& path);

/// "cannot read 'a.json': No such file or directory". `path` may be "standard input" or "standard output".
/// @throws EnvironmentError
[[noreturn]] void fail_file(const char* what, const std::string& path, int error);

}  // namespace berth::io
