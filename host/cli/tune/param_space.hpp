#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/engine.hpp"

namespace berth::cli {

/// The values that a parameter of a policy may take.
struct ParamDomain {
  std::string name;
  std::vector<std::string> choices;  ///< empty: a range
  std::int64_t low_micro = 0, high_micro = 0;
  bool whole = true;     ///< values are whole numbers
  bool by_ratio = true;  ///< small values are as likely as large ones: for ranges over orders of magnitude
  int numbers = 1;       ///< of a value: ascending numbers, separated by commas
};

/// Names and values of parameters, sorted by name; the default has none.
using ParamValues = std::vector<std::pair<std::string, std::string>>;

/// "param=lo..hi" or "param=a,b,c" or, where values have commas, "param=a|b|c".
/// @param info  the policy, which must have the parameter and accept the values
/// @throws InvalidArgument naming the text and the nearest parameter.
ParamDomain parse_domain(const PolicyInfo& info, std::string_view text);

/// The domains that are tuned where none is given: parameters that neither change the problem nor only trade time of decisions.
std::vector<ParamDomain> usual_domains(const PolicyInfo& info);

/// Configurations that differ from each other and from the default. The same ones come first whatever their number is.
/// @returns fewer than `count` where the space has no more
std::vector<ParamValues> draw_configurations(const PolicyInfo& info, const std::vector<ParamDomain>& space, std::uint64_t seed,
                                             std::int64_t count);

/// "las@promote_knob=8@queue_order=entry".
std::string policy_text(const std::string& policy, const ParamValues& values);
/// "a..b" or "a, b, c".
std::string domain_text(const ParamDomain& domain);

}  // namespace berth::cli
