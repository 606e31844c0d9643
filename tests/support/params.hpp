#pragma once

#include <algorithm>
#include <string>

#include "berth/engine.hpp"

namespace berth::test {

/// Whether a policy has a parameter, such as `discipline`, which those that choose shapes have not.
inline bool has_param(const std::string& policy, const std::string& name) {
  for (const PolicyInfo& info : policies()) {
    for (const PolicyParam& param : info.params) {
      if (info.name == policy && param.name == name) return true;
    }
  }
  return false;
}

/// A policy's name as that of a test.
inline std::string test_name(std::string policy) {
  std::replace(policy.begin(), policy.end(), '-', '_');
  return policy;
}

}  // namespace berth::test
