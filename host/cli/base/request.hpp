#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "berth/engine.hpp"

namespace berth::cli {

/// Options of the command line for a decision.
struct RequestOptions {
  std::vector<std::string> params;  ///< "k=v"
  std::string backend = "auto";
  std::string device;  ///< index or UUID; empty: the first that can be used
  int threads = 1;     ///< 0: all processors of this machine
  std::uint64_t seed = 0;
  std::int64_t max_iterations = 0;
  std::string budget;  ///< a duration; empty: none
};

/// @param more  Policies that the engine does not have.
/// @throws InvalidArgument for an unknown name, with the nearest known one.
PolicyInfo find_policy_info(const std::string& name, const std::vector<PolicyInfo>& more = {});

/// A request for one policy that accepts every given parameter.
/// @throws InvalidArgument naming what is wrong.
Request make_request(const RequestOptions& options, const std::string& policy);

/// A request for each policy. A parameter goes to the policies that accept it; at least one must.
/// @param names  "fifo", or with parameters of its own "fifo@discipline=easy".
/// @param more   Policies that the engine does not have.
std::vector<Request> make_requests(const RequestOptions& options, const std::vector<std::string_view>& names,
                                   const std::vector<PolicyInfo>& more = {});

}  // namespace berth::cli
