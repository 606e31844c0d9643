#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/policy_api/policy.hpp"

/// Reads `--param name=value`. The defaults are text in PolicyInfo and are read the same way.
namespace berth::policy {

/// The parameters of one request, checked against those of the policy.
/// @throws InvalidArgument for an unknown name (listing the known ones) and a repeated one; getters throw it for an invalid value.
class Settings {
 public:
  Settings(const PolicyInfo& info, const core::Params& params);

  /// The text of the request, or the default.
  const std::string& text(std::string_view name) const;
  /// Index in `names` of the value.
  std::size_t choice(std::string_view name, std::span<const std::string_view> names) const;
  std::size_t choice(std::string_view name, std::initializer_list<std::string_view> names) const {
    return choice(name, std::span(names.begin(), names.size()));
  }
  /// A comma-separated set of `names`, or "none": bit i stands for names[i].
  std::uint32_t several(std::string_view name, const std::vector<std::string_view>& names) const;
  /// Comma-separated words, each with a letter or a digit, or "none": no words.
  std::vector<std::string> words(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  /// A decimal with at most six digits after the point, in millionths; within [least, most] millionths.
  std::int64_t millionths(std::string_view name, std::int64_t least, std::int64_t most) const;
  /// Several comma-separated ones, in ascending order without repeats.
  std::vector<std::int64_t> ascending_millionths(std::string_view name, std::int64_t least, std::int64_t most, std::size_t longest) const;
  /// At most `longest` of them between colons, at least one, each within [least, most] or "never": kNever.
  std::vector<std::int64_t> millionths_or_never(std::string_view name, std::int64_t least, std::int64_t most, std::size_t longest) const;
  /// Entries between slashes, each a whole number from 1 to `most_number`, ascending, and after a colon what `millionths_or_never` reads.
  std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> millionths_by_number(std::string_view name, std::int64_t most_number,
                                                                                       std::int64_t least, std::int64_t most,
                                                                                       std::size_t longest) const;
  /// Exactly `count` of them, separated by colons, each from -most to most; or none where the text is empty.
  /// Colons, because lists of policies use commas.
  std::vector<std::int64_t> signed_millionths(std::string_view name, std::size_t count, std::int64_t most) const;

 private:
  [[noreturn]] void refuse(std::string_view name, const std::string& expected) const;

  std::string policy_;
  core::Params values_;
};

/// Adds the common parameters to those of a policy.
std::vector<PolicyParam> with_common(const std::string& discipline, std::vector<PolicyParam> own);

/// The parameter `consolidated`, and the rule that it stands for (docs/placement.md, section 10).
PolicyParam consolidated_parameter();
std::optional<core::Consolidation> measured_consolidation(const Settings& settings);

/// How long gangs wait for close places, for policies that have no rule of their own: none, timers tuned by past waits, or stated ones
/// (docs/dally.md). nullopt: none wait. @throws InvalidArgument for an invalid value
std::vector<PolicyParam> timers_parameters();
std::optional<core::DelayRule> timers_rule(const Settings& settings);
/// The parameter `timers` where it states times in that unit, for all gangs or by their GPUs.
void read_timers(const Settings& settings, TimeUs unit, core::DelayRule& rule);

/// The same for a policy without a discipline.
std::vector<PolicyParam> with_packing(std::vector<PolicyParam> own);
/// The parameter `quotas`.
core::Quotas quotas_of(const Settings& settings);

}  // namespace berth::policy
