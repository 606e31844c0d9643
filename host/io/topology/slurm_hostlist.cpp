#include "host/io/topology/slurm_hostlist.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tuple>

#include "berth/error.hpp"
#include "host/core/base/split.hpp"
#include "host/io/files/name_problem.hpp"
#include "host/io/json/json_text.hpp"

namespace berth::io {
namespace {

struct HostRange {
  std::int64_t low = 0, high = 0;
  std::size_t width = 0;
};

// A text, then one number of a bracket; without ranges it is the end of the name.
struct HostPart {
  std::string_view text;
  std::vector<HostRange> ranges;
};

// Leading zeros count: every name has them.
std::optional<std::int64_t> bound_of(std::string_view text) {
  constexpr std::size_t kMostDigits = 18;
  return text.size() > kMostDigits ? std::nullopt : core::parse_whole(text, INT64_MAX);
}

bool read_range(std::string_view text, HostRange& out) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const auto low = bound_of(first), high = dash == text.npos ? low : bound_of(text.substr(dash + 1));
  if (!low || !high || *high < *low) return false;
  out = {*low, *high, first.size()};
  return true;
}

// "1-4,07-09"
bool read_ranges(std::string_view text, std::vector<HostRange>& out) {
  const auto parts = core::split(text, ',');
  return std::all_of(parts.begin(), parts.end(), [&](std::string_view part) { return read_range(part, out.emplace_back()); });
}

// Removes the first name with its brackets, and the comma after it.
std::string take_parts(std::string_view& text, std::vector<HostPart>& out) {
  out.clear();
  for (;;) {
    const std::size_t stop = text.find_first_of("[],");
    out.push_back({text.substr(0, stop), {}});
    if (stop == text.npos || text[stop] == ',') {
      if (out.size() == 1 && out[0].text.empty()) return "a name is empty";
      text.remove_prefix(stop == text.npos ? text.size() : stop + 1);
      if (stop != text.npos && text.empty()) return "a name is empty";
      return {};
    }
    if (text[stop] == ']') return "']' without '['";
    const std::size_t close = text.find(']', stop);
    if (close == text.npos) return "'[' without ']'";
    const std::string_view inside = text.substr(stop + 1, close - stop - 1);
    if (!read_ranges(inside, out.back().ranges)) return fmt::format("'[{}]' is no list of numbers and ranges LOW-HIGH", inside);
    text.remove_prefix(close + 1);
  }
}

// Number of names, or -1 when they are more than `most`.
std::int64_t names_of(const std::vector<HostPart>& parts, std::int64_t most) {
  std::int64_t names = 1;
  for (const HostPart& part : parts) {
    if (part.ranges.empty()) continue;
    std::int64_t numbers = 0;
    for (const HostRange& range : part.ranges) {
      if (range.high - range.low >= most) return -1;
      numbers += range.high - range.low + 1;
      if (numbers > most) return -1;
    }
    if (numbers > most / names) return -1;
    names *= numbers;
  }
  return names <= most ? names : -1;
}

void append_names(const std::vector<HostPart>& parts, std::size_t part, const std::string& prefix, std::vector<std::string>& out) {
  if (part == parts.size()) {
    out.push_back(prefix);
    return;
  }
  const std::string front = prefix + std::string(parts[part].text);
  if (parts[part].ranges.empty()) return append_names(parts, part + 1, front, out);
  for (const HostRange& range : parts[part].ranges) {
    for (std::int64_t n = range.low; n <= range.high; ++n)
      append_names(parts, part + 1, front + fmt::format("{:0{}}", n, range.width), out);
  }
}

}  // namespace

std::string expand_hostlist(std::string_view text, std::int64_t& left, std::vector<std::string>& out) {
  // Slurm's own limit per bracket; no cluster has more nodes.
  constexpr std::int64_t kMostOfOne = 65'536;
  constexpr std::size_t kMostParts = 16;
  std::vector<HostPart> parts;
  while (!text.empty()) {
    std::string problem = take_parts(text, parts);
    if (!problem.empty()) return problem;
    if (parts.size() > kMostParts) return fmt::format("more than {} brackets in one name", kMostParts);
    const std::int64_t names = names_of(parts, kMostOfOne);
    if (names < 0) return fmt::format("one expression stands for more than {} names", kMostOfOne);
    if (names > left) return fmt::format("more than {} names in all lists together", kMostHostNames);
    left -= names;
    append_names(parts, 0, {}, out);
  }
  return {};
}

bool is_host_name(std::string_view name) {
  constexpr std::string_view kSpecial = " \t\r\n\\,[]=#\"'";
  return !name.empty() && name.find_first_of(kSpecial) == name.npos && name_problem(name).empty();
}

std::string compact_hostlist(const std::vector<std::string>& names) {
  constexpr std::size_t kMostDigits = 17;
  struct NumberedName {
    std::string_view text, digits;
    std::int64_t number = -1;  // -1: none
  };
  std::vector<NumberedName> parts;
  for (const std::string& name : names) {
    if (!is_host_name(name)) throw InvalidArgument(fmt::format("'{}' cannot be written as a name of Slurm", cut_utf8(name, 60)));
    const std::size_t last = name.find_last_not_of("0123456789");
    std::size_t begin = last == name.npos ? 0 : last + 1;
    begin = std::max(begin, name.size() - std::min(name.size(), kMostDigits));
    const std::string_view digits = std::string_view(name).substr(begin);
    parts.push_back({std::string_view(name).substr(0, begin), digits, digits.empty() ? -1 : *core::parse_whole(digits, INT64_MAX)});
  }
  std::sort(parts.begin(), parts.end(), [](const NumberedName& a, const NumberedName& b) {
    return std::tuple(a.text, a.number, a.digits.size()) < std::tuple(b.text, b.number, b.digits.size());
  });
  std::string out;
  for (std::size_t i = 0; i < parts.size();) {
    std::size_t end = i;
    while (end < parts.size() && parts[end].text == parts[i].text && (parts[i].number >= 0) == (parts[end].number >= 0)) ++end;
    if (!out.empty()) out += ',';
    out += parts[i].text;
    if (parts[i].number < 0 || end == i + 1) {
      out += parts[i].digits;
      ++i;
      continue;
    }
    out += '[';
    for (std::size_t first = i; first < end;) {
      std::size_t next = first + 1;
      const std::size_t width = parts[first].digits.size();
      while (next < end && parts[next].number == parts[next - 1].number + 1 &&
             fmt::format("{:0{}}", parts[next].number, width) == parts[next].digits)
        ++next;
      if (first > i) out += ',';
      out += parts[first].digits;
      if (next > first + 1) out.append("-").append(parts[next - 1].digits);
      first = next;
    }
    out += ']';
    i = end;
  }
  return out;
}

}  // namespace berth::io
