#pragma once

#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>

#include "berth/units.hpp"
#include "tests/golden/rules.hpp"

namespace berth::test {

// What the tests of importers have in common that write the examples of docs/quota-rules.md as objects of Kubernetes.

inline std::string quoted(const std::string& text) { return '"' + text + '"'; }

/// Instants of the examples are within an hour.
inline std::string instant(TimeUs at) {
  const std::int64_t s = at / kSecond;
  const auto two = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return "2026-05-04T08:" + two(s / 60) + ":" + two(s % 60) + "Z";
}

inline void append_object(std::string& list, const std::string& object) { list += (list.empty() ? "" : ",\n") + object; }

/// Ids without the namespace "ns"; importers have an order of their own.
inline std::set<std::string> ids_of(const std::string& words) {
  std::istringstream in(words);
  std::set<std::string> ids;
  for (std::string word; in >> word;) ids.insert(word.compare(0, 3, "ns/") == 0 ? word.substr(3) : word);
  return ids;
}

inline void expect_same_jobs(const RuleAnswer& answer, const RuleAnswer& expected) {
  EXPECT_EQ(ids_of(answer.starts), ids_of(expected.starts));
  EXPECT_EQ(ids_of(answer.displaced), ids_of(expected.displaced));
  EXPECT_EQ(ids_of(answer.changed).size(), ids_of(expected.changed).size());
}

}  // namespace berth::test
