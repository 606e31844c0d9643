#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "berth/error.hpp"
#include "berth/io.hpp"

namespace berth::io {

/// A snapshot of one node of 8 GPUs with `jobs` (the rows of the list), one row per line: jobs begin in line 5.
inline std::string with_jobs(const std::string& jobs) {
  return "{\"schema\": \"berth.snapshot.v1\", \"now_s\": 100,\n\"gpu_types\": [{\"id\": \"A\", \"memory_bytes\": 1000}],\n"
         "\"nodes\": [{\"id\": \"n0\", \"gpu_type\": \"A\", \"gpus\": 8, \"cpu_cores\": 16, \"memory_bytes\": 64, \"sharing\": true}],\n"
         "\"jobs\": [\n" +
         jobs + "\n]}\n";
}

/// A waiting job with further fields (beginning with a comma).
inline std::string job(const std::string& more = "", const std::string& id = "j0") {
  return "{\"id\": \"" + id + "\", \"submit_s\": 1, \"shapes\": [{\"id\": \"s\", \"gpus\": 2}]" + more + "}";
}

/// Expects an InputError in line `line` at `pointer` whose text holds `part` (most often the value).
inline void expect_error(const std::function<void()>& act, int line, const std::string& pointer, const std::string& part) {
  try {
    act();
  } catch (const InputError& e) {
    EXPECT_EQ(e.line(), line) << e.what();
    EXPECT_EQ(e.pointer(), pointer) << e.what();
    EXPECT_EQ(e.file(), "f.json") << e.what();
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what() << "\nlacks: " << part;
    return;
  }
  ADD_FAILURE() << "accepted; expected an error with: " << part;
}

inline void expect_refused(const std::string& json, int line, const std::string& pointer, const std::string& part) {
  SCOPED_TRACE(json.substr(0, 2000));
  expect_error([&] { (void)parse_snapshot(json, "f.json"); }, line, pointer, part);
}

}  // namespace berth::io
