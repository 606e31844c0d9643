#include "host/policy/base/params.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"
#include "host/core/base/suggest.hpp"
#include "host/core/base/wide.hpp"

namespace berth::policy {
namespace {

std::optional<std::int64_t> parse_millionths(std::string_view text) {
  const std::size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (whole.empty() || whole.size() > 12 || part.size() > 6 || (point != std::string_view::npos && part.empty())) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : whole) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const char c = i < part.size() ? part[i] : '0';
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::string decimal(std::int64_t millionths) {
  std::string text = fmt::format("{}.{:06}", millionths / 1'000'000, millionths % 1'000'000);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

// Decimals or "never" between colons.
std::optional<std::vector<std::int64_t>> parse_or_never(std::string_view text, std::int64_t least, std::int64_t most, std::size_t longest) {
  std::vector<std::int64_t> values;
  for (const std::string_view one : core::split(text, ':')) {
    const auto value = one == "never" ? std::optional<std::int64_t>(kNever) : parse_millionths(one);
    const bool good = value && (one == "never" || (*value >= least && *value <= most));
    if (!good || values.size() == longest) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}
std::string or_never_text(std::int64_t least, std::int64_t most, std::size_t longest) {
  return fmt::format("at most {} decimals from {} to {} or 'never', between colons", longest, decimal(least), decimal(most));
}

}  // namespace

Settings::Settings(const PolicyInfo& info, const core::Params& params) : policy_(info.name) {
  for (const PolicyParam& known : info.params) values_.emplace_back(known.name, known.default_value);
  std::vector<bool> given(values_.size(), false);
  for (const auto& [name, value] : params) {
    std::size_t at = 0;
    while (at < values_.size() && values_[at].first != name) ++at;
    if (at == values_.size()) {
      std::string known;
      for (const auto& one : values_) known += (known.empty() ? "" : ", ") + one.first;
      throw InvalidArgument(fmt::format("policy '{}' has no parameter '{}' (known: {})", policy_, name, known));
    }
    if (given[at]) throw InvalidArgument(fmt::format("policy '{}': parameter '{}' is given twice", policy_, name));
    given[at] = true;
    values_[at].second = value;
  }
}

const std::string& Settings::text(std::string_view name) const {
  for (const auto& value : values_) {
    if (value.first == name) return value.second;
  }
  throw InternalError(fmt::format("policy '{}' reads its undeclared parameter '{}'", policy_, name));
}

std::size_t Settings::choice(std::string_view name, std::span<const std::string_view> names) const {
  const auto found = std::find(names.begin(), names.end(), text(name));
  if (found == names.end()) refuse(name, fmt::format("one of {}{}", fmt::join(names, ", "), core::did_you_mean(text(name), names)));
  return static_cast<std::size_t>(found - names.begin());
}

std::uint32_t Settings::several(std::string_view name, const std::vector<std::string_view>& names) const {
  std::string_view rest = text(name);
  if (rest == "none") return 0;
  std::uint32_t set = 0;
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const auto found = std::find(names.begin(), names.end(), rest.substr(0, comma));
    const std::uint32_t bit = found == names.end() ? 0 : 1U << (found - names.begin());
    if (bit == 0 || (set & bit) != 0)
      refuse(name, fmt::format("none, or some of {}, separated by commas, each once", fmt::join(names, ", ")));
    set |= bit;
    if (more) rest.remove_prefix(comma + 1);
  }
  return set;
}

std::vector<std::string> Settings::words(std::string_view name) const {
  std::vector<std::string> words;
  if (text(name) == "none") return words;
  for (const std::string_view one : core::split(text(name), ',')) {
    const bool says_something = std::any_of(
        one.begin(), one.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
    if (!says_something) refuse(name, "none, or words separated by commas, each with a letter (a-z) or a digit");
    words.emplace_back(one);
  }
  return words;
}

std::int64_t Settings::integer(std::string_view name, std::int64_t least, std::int64_t most) const {
  const std::string& given = text(name);
  const auto value = given.find('.') == std::string::npos ? parse_millionths(given) : std::nullopt;
  if (!value || *value / 1'000'000 < least || *value / 1'000'000 > most) refuse(name, fmt::format("an integer from {} to {}", least, most));
  return *value / 1'000'000;
}

std::int64_t Settings::millionths(std::string_view name, std::int64_t least, std::int64_t most) const {
  const auto value = parse_millionths(text(name));
  if (!value || *value < least || *value > most) {
    refuse(name, fmt::format("a decimal from {} to {} with at most 6 digits after the point", decimal(least), decimal(most)));
  }
  return *value;
}

std::vector<std::int64_t> Settings::ascending_millionths(std::string_view name, std::int64_t least, std::int64_t most,
                                                         std::size_t longest) const {
  std::vector<std::int64_t> values;
  std::string_view rest = text(name);
  for (bool more = true; more;) {
    const std::size_t comma = rest.find(',');
    more = comma != std::string_view::npos;
    const auto value = parse_millionths(rest.substr(0, comma));
    if (!value || *value < least || *value > most || values.size() == longest || (!values.empty() && *value <= values.back())) {
      refuse(name, fmt::format("at most {} ascending decimals from {} to {}, separated by commas", longest, decimal(least), decimal(most)));
    }
    values.push_back(*value);
    if (more) rest.remove_prefix(comma + 1);
  }
  return values;
}

std::vector<std::int64_t> Settings::signed_millionths(std::string_view name, std::size_t count, std::int64_t most) const {
  std::vector<std::int64_t> values;
  if (text(name).empty()) return values;
  for (std::string_view one : core::split(text(name), ':')) {
    const bool negative = one.substr(0, 1) == "-";
    if (negative) one.remove_prefix(1);
    const auto value = parse_millionths(one);
    if (!value || *value > most) {
      values.clear();
      break;
    }
    values.push_back(negative ? -*value : *value);
  }
  if (values.size() != count) {
    refuse(name, fmt::format("{} decimals between colons, from {} to {} with at most 6 digits after the point", count, decimal(-most),
                             decimal(most)));
  }
  return values;
}

std::vector<std::int64_t> Settings::millionths_or_never(std::string_view name, std::int64_t least, std::int64_t most,
                                                        std::size_t longest) const {
  std::optional<std::vector<std::int64_t>> values = parse_or_never(text(name), least, most, longest);
  if (!values) refuse(name, or_never_text(least, most, longest));
  return std::move(*values);
}

std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> Settings::millionths_by_number(std::string_view name,
                                                                                               std::int64_t most_number, std::int64_t least,
                                                                                               std::int64_t most,
                                                                                               std::size_t longest) const {
  std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> entries;
  for (const std::string_view one : core::split(text(name), '/')) {
    const std::size_t colon = one.find(':');
    const auto number = parse_millionths(one.substr(0, colon));
    auto values = colon == std::string_view::npos ? std::nullopt : parse_or_never(one.substr(colon + 1), least, most, longest);
    const bool whole = number && *number % 1'000'000 == 0 && *number >= 1'000'000 && *number / 1'000'000 <= most_number;
    if (!whole || !values || (!entries.empty() && entries.back().first >= *number / 1'000'000)) {
      refuse(name, fmt::format("{}; or such entries between slashes, each after a whole number from 1 to {} that ascends, and a colon",
                               or_never_text(least, most, longest), most_number));
    }
    entries.emplace_back(*number / 1'000'000, std::move(*values));
  }
  return entries;
}

void Settings::refuse(std::string_view name, const std::string& expected) const {
  throw InvalidArgument(fmt::format("policy '{}': {}='{}': expected {}", policy_, name, text(name), expected));
}

std::vector<PolicyParam> with_common(const std::string& discipline, std::vector<PolicyParam> own) {
  own.push_back({"discipline", discipline,
                 "strict: stop at the first job that does not fit; greedy: try the next; easy: greedy, but never "
                 "delay the first job's reservation; conservative: never delay the reservation of any earlier job"});
  own.push_back({"shape", "requested",
                 "requested: as many GPUs as the job's first shape; least_gpu_time, largest: the first shape that fits, in "
                 "that order"});
  return with_packing(std::move(own));
}

PolicyParam consolidated_parameter() {
  return {"consolidated", "measured",
          "measured: jobs that were measured to be slower across nodes wait for a place where they are not; none: no job does"};
}

std::optional<core::Consolidation> measured_consolidation(const Settings& settings) {
  if (settings.choice("consolidated", {"measured", "none"}) != 0) return std::nullopt;
  core::Consolidation close;
  close.whole_nodes = false;
  close.measured = true;
  return close;
}

std::vector<PolicyParam> timers_parameters() {
  return {{"timers", "none",
           "how long a gang waits for a node, a rack, and so on, in timer_unit_s: numbers between colons, the last also for all levels "
           "above; never: it goes nowhere else; by GPUs as of dally-manual; tuned: as dally tunes them; none: no gang waits"},
          {"timer_unit_s", "3600", "the unit of timers, at least 1 s"}};
}

void read_timers(const Settings& settings, TimeUs unit, core::DelayRule& rule) {
  constexpr std::int64_t kMostTimer = 1'000'000'000'000;  // a million units, in millionths
  constexpr std::int64_t kMostDemand = 1'000'000'000;     // GPUs
  const auto in_time = [&](const std::vector<std::int64_t>& millionths) {
    core::LevelTimers timers;
    for (const std::int64_t timer : millionths) timers.add(timer == kNever ? kNever : core::mul_div(timer, unit, 1'000'000));
    return timers;
  };
  if (settings.text("timers").find('/') == std::string::npos) {
    rule.timers = in_time(settings.millionths_or_never("timers", 0, kMostTimer, kMaxLevels));
    return;
  }
  for (const auto& [gpus, millionths] : settings.millionths_by_number("timers", kMostDemand, 0, kMostTimer, kMaxLevels)) {
    rule.by_gpus.push_back({gpus, in_time(millionths)});
  }
}

std::optional<core::DelayRule> timers_rule(const Settings& settings) {
  constexpr std::int64_t kTunedHistory = 24;  // as dally's
  core::DelayRule rule;
  rule.lease_us = settings.millionths("timer_unit_s", kSecond, kMaxTimeUs);
  const std::string& text = settings.text("timers");
  if (text == "none") return std::nullopt;
  if (text == "tuned") {
    rule.history = kTunedHistory;
  } else {
    read_timers(settings, rule.lease_us, rule);
  }
  return rule;
}

std::vector<PolicyParam> with_packing(std::vector<PolicyParam> own) {
  own.push_back(
      {"packing", "topology",
       "topology: tightest level, best fit; count: capacity only; consolidate: whole nodes, best fit; emptiest: nodes with the most free "
       "GPUs first; contention: as topology, and gangs wait for a domain outside which the network would slow them; not with discipline "
       "strict"});
  own.push_back({"quotas", "guarantees",
                 "guarantees: a queue below its guarantee gets GPUs back from queues above theirs; fair: also below its fair share; drf: "
                 "the same by dominant shares of GPUs, cores and memory; limits: only limits count; by system: kueue is guarantees, "
                 "kueue-fair and kai are fair, slurm is limits"});
  own.push_back({"max_tries", "64", "domains tried per group of a gang's tree before giving up"});
  return own;
}

core::Quotas quotas_of(const Settings& settings) {
  std::array<std::string_view, core::kQuotas.size()> names;
  std::transform(core::kQuotas.begin(), core::kQuotas.end(), names.begin(), [](const core::NamedQuotas& one) { return one.name; });
  return core::kQuotas[settings.choice("quotas", names)].quotas;
}

}  // namespace berth::policy
