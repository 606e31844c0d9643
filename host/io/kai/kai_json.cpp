#include "host/io/kai/kai_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "host/core/base/civil_time.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/measured_number.hpp"
#include "host/io/json/distinct_keys.hpp"

namespace berth::io::kai {
namespace {

[[noreturn]] void fail_twice(const JsonCursor& in, std::string_view key) { in.fail(fmt::format("duplicate field '{}'", key)); }

}  // namespace

void each_field(JsonCursor& in, const std::function<void(std::string_view)>& on_field) {
  if (in.type() == JsonType::kNull) {
    in.null();
  } else {
    in.object(on_field);
  }
}

void fields(JsonCursor& in, std::initializer_list<KaiField> known) {
  std::uint32_t seen = 0;
  each_field(in, [&](std::string_view key) {
    const auto* const found = std::find_if(known.begin(), known.end(), [&](const KaiField& one) { return one.first == key; });
    if (found == known.end()) {
      in.raw();
      return;
    }
    const std::uint32_t bit = std::uint32_t{1} << (found - known.begin());
    if ((seen & bit) != 0) fail_twice(in, key);
    seen |= bit;
    found->second();
  });
}

void elements(JsonCursor& in, const std::function<void()>& on_element) {
  if (in.type() == JsonType::kNull) {
    in.null();
  } else {
    in.array(on_element);
  }
}

std::string text(JsonCursor& in) {
  if (in.type() != JsonType::kNull) return std::string(in.string());
  in.null();
  return {};
}

bool flag(JsonCursor& in) {
  if (in.type() != JsonType::kNull) return in.boolean();
  in.null();
  return false;
}

std::int64_t count(JsonCursor& in) {
  if (in.type() != JsonType::kNull) return in.integer(0, kMaxGpusPerJob);
  in.null();
  return 0;
}

KaiTexts texts(JsonCursor& in) {
  KaiTexts out;
  each_field(in, [&](std::string_view key) {
    const auto [at, fresh] = out.try_emplace(std::string(key));
    if (!fresh) fail_twice(in, key);
    at->second = text(in);
  });
  return out;
}

TimeUs instant(JsonCursor& in) {
  const std::string value = text(in);
  if (value.empty()) return 0;
  const auto at = value.back() == 'Z' ? core::parse_civil(std::string_view(value).substr(0, value.size() - 1)) : std::nullopt;
  if (!at || *at < 0 || *at > kMaxTimeUs) in.fail(fmt::format("expected an instant such as 2025-06-01T12:00:00Z, found {}", in.shown()));
  return *at;
}

TimeUs duration(JsonCursor& in) {
  if (in.type() == JsonType::kNull) {
    in.null();
    return -1;
  }
  struct Unit {
    std::string_view text;
    int places;  // of microseconds
    std::int64_t times;
  };
  constexpr Unit kUnits[] = {{"ns", -3, 1}, {"us", 0, 1}, {"\u00b5s", 0, 1}, {"ms", 3, 1}, {"s", 6, 1}, {"m", 6, 60}, {"h", 6, 3600}};
  const std::string whole = text(in);
  std::string_view rest = whole;
  const auto fail = [&]() { in.fail(fmt::format("expected a duration such as 1h30m or 20s, found {}", in.shown())); };
  if (rest.empty()) fail();
  if (rest == "0") return 0;
  TimeUs sum = 0;
  while (!rest.empty()) {
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789."), rest.size());
    const std::string_view unit = rest.substr(digits, std::min(rest.find_first_of("0123456789.", digits), rest.size()) - digits);
    const auto* const found = std::find_if(std::begin(kUnits), std::end(kUnits), [&](const Unit& one) { return one.text == unit; });
    const auto value = found == std::end(kUnits) ? std::nullopt : parse_measured(rest.substr(0, digits), found->places);
    if (!value || *value > kMaxTimeUs / found->times || sum > kMaxTimeUs - *value * found->times) fail();
    sum += *value * found->times;
    rest.remove_prefix(digits + unit.size());
  }
  return sum;
}

KaiMeta meta(JsonCursor& in) {
  KaiMeta out;
  const auto owner = [&] { fields(in, {{"uid", [&] { out.owners.push_back(text(in)); }}}); };
  fields(in, {{"name", [&] { out.name = text(in); }},
              {"namespace", [&] { out.space = text(in); }},
              {"labels", [&] { out.labels = texts(in); }},
              {"annotations", [&] { out.annotations = texts(in); }},
              {"ownerReferences", [&] { elements(in, owner); }},
              {"creationTimestamp", [&] { out.created_us = instant(in); }},
              {"deletionTimestamp", [&] { out.deleting = instant(in) > 0; }}});
  return out;
}

Resources resources(JsonCursor& in) {
  constexpr std::string_view kGpu = "nvidia.com/gpu", kMig = "nvidia.com/mig-";
  constexpr std::int64_t kMostOfOne = 999'999'999;  // keeps the sum over containers countable
  Resources out;
  DistinctKeys keys;
  each_field(in, [&](std::string_view key) {
    if (!keys.add(key)) fail_twice(in, key);
    if (key != kGpu && key.substr(0, kMig.size()) != kMig) {
      in.raw();
      return;
    }
    const std::string quantity(in.type() == JsonType::kString ? in.string() : in.raw());
    const auto value = core::parse_whole(quantity, kMostOfOne);
    if (!value) in.fail(fmt::format("expected a whole number, found {}", in.shown()));
    if (key == kGpu) out.gpus = *value;
    out.mig = out.mig || (key != kGpu && *value > 0);
  });
  return out;
}

}  // namespace berth::io::kai
