#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/core/policy.hpp"

/// Reading of `--param name=value`. The defaults stand in PolicyInfo as text and are read the same way.
namespace berth::policy {

/// The parameters of one request, checked against those that the policy has.
/// @throws InvalidArgument for an unknown name (listing the known ones), a repeated one and, from each getter, a bad value.
class Settings {
 public:
  Settings(const PolicyInfo& info, const core::Params& params);

  /// The text given, or the default.
  const std::string& text(std::string_view name) const;
  /// Index in `names` of the value.
  std::size_t choice(std::string_view name, std::span<const std::string_view> names) const;
  std::size_t choice(std::string_view name, std::initializer_list<std::string_view> names) const {
    return choice(name, std::span(names.begin(), names.size()));
  }
  /// A set of `names` between commas, or "none": bit i stands for names[i].
  std::uint32_t several(std::string_view name, const std::vector<std::string_view>& names) const;
  /// Words between commas, each with a letter or a digit, or "none": no word.
  std::vector<std::string> words(std::string_view name) const;
  std::int64_t integer(std::string_view name, std::int64_t least, std::int64_t most) const;
  /// A decimal with at most six digits after the point, in millionths; within [least, most] millionths.
  std::int64_t millionths(std::string_view name, std::int64_t least, std::int64_t most) const;
  /// Several of them between commas, each greater than the one before.
  std::vector<std::int64_t> ascending_millionths(std::string_view name, std::int64_t least, std::int64_t most, std::size_t longest) const;
  /// Exactly `count` of them between colons, which no list of policies has, each from -most to most; or nothing where the text is empty.
  std::vector<std::int64_t> signed_millionths(std::string_view name, std::size_t count, std::int64_t most) const;

 private:
  [[noreturn]] void refuse(std::string_view name, const std::string& expected) const;

  std::string policy_;
  core::Params values_;
};

/// The parameters of a policy: its own ones, and those that all have.
std::vector<PolicyParam> with_common(const char* discipline, std::vector<PolicyParam> own = {});

/// The same of a policy without a discipline.
std::vector<PolicyParam> with_packing(std::vector<PolicyParam> own);

}  // namespace berth::policy
