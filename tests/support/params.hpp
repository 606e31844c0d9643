#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/policy_api/policy.hpp"

namespace berth::test {

/// Whether a policy has a parameter. Policies that choose shapes have no `discipline`, for example.
inline bool has_param(const std::string& policy, const std::string& name) {
  for (const PolicyInfo& info : policies()) {
    for (const PolicyParam& param : info.params) {
      if (info.name == policy && param.name == name) return true;
    }
  }
  return false;
}

/// Parameters that keep long searches short, for tests that run every policy.
inline std::vector<std::pair<std::string, std::string>> short_search(const std::string& policy) {
  if (!has_param(policy, "generations")) return {};
  return {{"population", has_param(policy, "islands") ? "2" : "20"}, {"generations", "5"}};
}

inline std::vector<std::string> policy_names() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : policies()) names.push_back(info.name);
  return names;
}

/// Names of the policies that order a queue.
inline std::vector<std::string> queue_policy_names() {
  std::vector<std::string> names;
  for (const core::PolicyEntry& entry : core::policy_registry()) {
    if (entry.make != nullptr) names.push_back(entry.info.name);
  }
  return names;
}

/// Names of the policies that choose shapes.
inline std::vector<std::string> shape_policy_names() {
  std::vector<std::string> names;
  for (const core::PolicyEntry& entry : core::policy_registry()) {
    if (entry.choice != nullptr) names.push_back(entry.info.name);
  }
  return names;
}

/// Turns the name of a policy into the name of a test.
inline std::string test_name(std::string policy) {
  std::replace(policy.begin(), policy.end(), '-', '_');
  return policy;
}

}  // namespace berth::test
