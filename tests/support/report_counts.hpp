#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace berth::test {

/// Prints what a test counted, and writes it to a file of that test in BERTH_COUNTS: ctest shows nothing of a test that passes,
/// and .ci/run prints these files.
inline void report_counts(const std::string& text) {
  const testing::TestInfo* const test = testing::UnitTest::GetInstance()->current_test_info();
  std::string name = std::string(test->test_suite_name()) + "." + test->name();
  for (char& c : name) c = c == '/' ? '-' : c;
  std::printf("%s\n", text.c_str());
  std::filesystem::create_directories(BERTH_COUNTS);
  std::ofstream(std::filesystem::path(BERTH_COUNTS) / (name + ".txt")) << name << ": " << text << "\n";
}

}  // namespace berth::test
