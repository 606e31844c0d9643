#pragma once

#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/support/source_dir.hpp"

namespace berth::test {

/// Path of a public trace under BERTH_TRACES (default: ../shared/traces next to the project).
/// Empty where it is absent: the test then skips. Trace data is never part of the project.
inline std::string trace_file(const std::string& name) {
  const char* folder = std::getenv("BERTH_TRACES");
  const std::string path = std::string(folder != nullptr ? folder : test::source_dir() + "/../shared/traces") + "/" + name;
  return std::ifstream(path).good() ? path : std::string();
}

}  // namespace berth::test
