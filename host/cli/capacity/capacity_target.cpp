#include "host/cli/capacity/capacity_target.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "berth/error.hpp"
#include "host/cli/base/values.hpp"
#include "host/cli/sweep/metric_text.hpp"
#include "host/results/sweep_store.hpp"

namespace berth::cli {
namespace {

using results::SweepMetric;

[[noreturn]] void fail_value(std::string_view target, std::string_view value, const char* expected) {
  throw InvalidArgument(fmt::format("--target '{}': '{}': expected {}", echoed(target), echoed(value), expected));
}

std::int64_t value_of(std::string_view target, SweepMetric::Unit unit, std::string_view text) {
  constexpr std::int64_t kMost = 1'000'000'000;
  switch (unit) {
    case SweepMetric::kMicroseconds:
      try {
        return parse_duration(text);
      } catch (const InvalidArgument&) {
        fail_value(target, text, "a time with its unit, such as 90s, 30m, 1h or 2d");
      }
    case SweepMetric::kMillionths: {
      const bool percent = !text.empty() && text.back() == '%';
      const std::string_view number = percent ? text.substr(0, text.size() - 1) : text;
      if (number == "0") return 0;
      const auto value = parse_positive(number, percent ? 4 : 6, kMost);
      if (!value) fail_value(target, text, "a number such as 0.7, or a percentage such as 70%");
      return *value;
    }
    case SweepMetric::kCount:
      break;
  }
  std::int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 0 || count > kMost)
    fail_value(target, text, "a whole number from 0 to 1000000000");
  return count;
}

}  // namespace

bool CapacityTarget::holds_on_mean(std::span<const std::int64_t> figures) const {
  __int128 sum = 0;
  for (const std::int64_t figure : figures) sum += figure;
  const __int128 all = static_cast<__int128>(value) * static_cast<__int128>(figures.size());
  switch (compare) {
    case kBelow:
      return sum < all;
    case kAtMost:
      return sum <= all;
    case kAbove:
      return sum > all;
    case kAtLeast:
      break;
  }
  return sum >= all;
}

CapacityTarget parse_target(std::string_view text) {
  const std::size_t at = text.find_first_of("<>");
  if (at == text.npos || at == 0)
    throw InvalidArgument(fmt::format("--target '{}': expected METRIC<VALUE or METRIC>VALUE, such as 'p90_wait<1h'", echoed(text)));
  const bool equal = at + 1 < text.size() && text[at + 1] == '=';
  CapacityTarget target;
  target.text = text;
  target.compare = text[at] == '<' ? (equal ? CapacityTarget::kAtMost : CapacityTarget::kBelow)
                                   : (equal ? CapacityTarget::kAtLeast : CapacityTarget::kAbove);
  const auto trimmed = [](std::string_view part) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    return part;
  };
  target.metric = metric_named("--target", trimmed(text.substr(0, at)));
  target.value = value_of(text, results::kSweepMetricTable[target.metric].unit, trimmed(text.substr(at + (equal ? 2 : 1))));
  return target;
}

void check_target(const CapacityTarget& target) {
  constexpr std::string_view kRising[] = {"completed", "effective_training_time", "jain"};
  constexpr std::string_view kParts[] = {"gpu_utilisation", "goodput", "effective_training_time", "overhead_part", "jain"};
  const std::string_view name = results::kSweepMetricTable[target.metric].name;
  const auto is_in = [&](const auto& names) { return std::find(std::begin(names), std::end(names), name) != std::end(names); };
  if (is_in(kParts) && target.value > 1'000'000)
    throw InvalidArgument(fmt::format("--target '{}': {} is a part, and at most 1 or 100%", echoed(target.text), name));
  const bool above = target.compare == CapacityTarget::kAbove || target.compare == CapacityTarget::kAtLeast;
  if (above && !is_in(kRising))
    throw InvalidArgument(
        fmt::format("--target '{}': more nodes do not raise {}, so that the smallest cluster is no answer: ask for what they improve, "
                    "such as 'p90_wait<1h', and read the rest of the table",
                    echoed(target.text), name));
}

std::string_view sign_of(CapacityTarget::Compare compare) {
  constexpr std::string_view kSigns[] = {"<", "<=", ">", ">="};
  return kSigns[compare];
}

}  // namespace berth::cli
