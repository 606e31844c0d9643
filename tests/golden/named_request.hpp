#pragma once

#include <sstream>
#include <string>

#include "berth/engine.hpp"

namespace berth::test {

/// "fifo@discipline=easy,x=1", as a file under data/golden is called -> policy and parameters.
inline Request named_request(const std::string& name, Backend backend) {
  Request request;
  request.backend = backend;
  std::istringstream parts(name);
  std::getline(parts, request.policy, '@');
  for (std::string one; std::getline(parts, one, ',');) {
    const std::size_t equals = one.find('=');
    request.params.emplace_back(one.substr(0, equals), equals == std::string::npos ? "" : one.substr(equals + 1));
  }
  return request;
}

}  // namespace berth::test
