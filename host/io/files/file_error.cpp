#include "host/io/files/file_error.hpp"

#include <fmt/format.h>

#include <system_error>

#include "berth/error.hpp"

namespace berth::io {

std::string input_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string output_name(const std::string& path) { return path == "-" ? "standard output" : path; }

void fail_file(const char* what, const std::string& path, int error) {
  const bool standard = path == "standard input" || path == "standard output";
  throw EnvironmentError(fmt::format("cannot {} {}: {}", what, standard ? path : "'" + path + "'", std::generic_category().message(error)));
}

}  // namespace berth::io
