#include "host/io/slurm/slurm_tres.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "berth/units.hpp"
#include "host/core/base/split.hpp"
#include "host/io/json/json_number.hpp"

namespace berth::io {
namespace {

constexpr std::int64_t kMostCount = std::int64_t{1} << 40;

// Removes the part up to the next comma outside of parentheses.
std::string_view take_item(std::string_view& text) {
  int depth = 0;
  std::size_t i = 0;
  for (; i < text.size() && (text[i] != ',' || depth > 0); ++i) depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
  const std::string_view item = text.substr(0, i);
  text.remove_prefix(i < text.size() ? i + 1 : i);
  return item;
}

bool read_whole(std::string_view text, std::int64_t& out) {
  std::int64_t scale = 1;
  if (!text.empty()) {
    const char unit = static_cast<char>(text.back() | 0x20);
    scale = unit == 'k' ? 1024 : unit == 'm' ? 1024 * 1024 : 1;
    if (scale > 1) text.remove_suffix(1);
  }
  const auto count = core::parse_whole(text, kMostCount / scale);
  if (!count) return false;
  out = *count * scale;
  return true;
}

// "0-3,5" of "(IDX:0-3,5)"; "N/A" has none. The count is their number.
bool read_gres_indices(std::string_view text, Gres& out) {
  out.count = 0;
  if (text == "N/A") return true;
  out.indexed = true;
  while (!text.empty()) {
    const std::string_view item = take_item(text);
    const std::size_t dash = item.find('-');
    std::int64_t low = 0, high = 0;
    if (!read_whole(item.substr(0, dash), low)) return false;
    high = low;
    if (dash != item.npos && (!read_whole(item.substr(dash + 1), high) || high < low)) return false;
    out.count = std::min(kMostCount, out.count + high - low + 1);
    out.beyond = out.beyond || high >= 64;
    for (std::int64_t i = low; i <= high && i < 64; ++i) out.indices |= std::uint64_t{1} << i;
  }
  return true;
}

// A count in parentheses, as in "gpu:h100(CNT:4)" and "gpu:h100(IDX:0,2)", is for names without one.
bool read_gres(std::string_view item, Gres& out) {
  const std::size_t bracket = item.find('(');
  if (bracket != item.npos) {
    std::string_view extra = item.substr(bracket);
    if (extra.back() != ')') return false;
    extra = extra.substr(1, extra.size() - 2);
    item = item.substr(0, bracket);
    if (extra.substr(0, 4) == "IDX:" && !read_gres_indices(extra.substr(4), out)) return false;
    if (extra.substr(0, 4) == "CNT:" && !read_whole(extra.substr(4), out.count)) return false;
  }
  if (item.substr(0, 5) == "gres:" || item.substr(0, 5) == "gres/") item.remove_prefix(5);
  const std::size_t name_end = item.find_first_of(":=");
  out.name = item.substr(0, name_end);
  if (out.name.empty()) return false;
  if (name_end == item.npos) return true;
  const bool counted = item[name_end] == '=';
  item.remove_prefix(name_end + 1);
  const std::size_t type_end = item.find_last_of(":=");
  // "gpu:4" is a count, "gpu:h100" a type, "gpu:4090:2" both.
  if (type_end == item.npos) {
    if (read_whole(item, out.count)) return true;
    out.type = item;
    return !counted && !item.empty();
  }
  out.type = item.substr(0, type_end);
  return !out.type.empty() && read_whole(item.substr(type_end + 1), out.count);
}

}  // namespace

std::string parse_gres(std::string_view text, std::vector<Gres>& out) {
  if (text == "N/A" || text == "(null)") return {};
  while (!text.empty()) {
    const std::string_view item = take_item(text);
    if (item.empty()) continue;  // a node on which the job has none
    if (!read_gres(item, out.emplace_back())) return fmt::format("'{}' is no generic resource NAME[:TYPE][:COUNT]", item);
  }
  return {};
}

std::string parse_gpus(std::string_view text, GpuCount& out) {
  std::vector<Gres> list;
  std::string problem = parse_gres(text, list);
  for (const Gres& one : list) {
    if (one.name != "gpu") {
      out.others = true;
      continue;
    }
    if (one.count == 0) continue;
    if (out.count > 0 && out.type != one.type) out.mixed = true;
    out.type = one.type;
    out.count += one.count;
  }
  return problem;
}

std::int64_t parse_memory(std::string_view text, std::int64_t unit) {
  if (text.empty()) return -1;
  constexpr std::string_view kUnits = "kmgtp";
  const std::size_t power = kUnits.find(static_cast<char>(text.back() | 0x20));
  if (power != kUnits.npos) {
    unit = std::int64_t{1} << (10 * (power + 1));
    text.remove_suffix(1);
  }
  constexpr int kPlaces = 4;
  constexpr std::int64_t kScale = 10'000;
  std::int64_t scaled = 0;
  const bool number = !text.empty() && text.find_first_not_of("0123456789.") == text.npos &&
                      std::count(text.begin(), text.end(), '.') <= 1 && text.front() != '.' && text.back() != '.';
  if (!number || scale_decimal(text, kPlaces, scaled) != DecimalError::kNone) return -1;
  if (scaled / kScale > kMaxBytes / unit) return -1;
  // Whole units and the rest are computed separately, because the product would overflow.
  return scaled / kScale * unit + scaled % kScale * (unit / kScale) + scaled % kScale * (unit % kScale) / kScale;
}

void TresGpus::add(std::string_view type, std::int64_t count) {
  if (type.empty()) {
    all_ = std::max(all_, count);
    return;
  }
  several_ = several_ || (typed_ > 0 && count > 0 && type != type_);
  if (count > 0 || type_.empty()) type_ = type;
  typed_ = std::min(std::max<std::int64_t>(typed_, 0) + count, kMaxBytes);
}

void TresGpus::settle(Tres& out) const {
  out.gpus = std::max(all_, typed_);
  out.gpus_differ = several_ || (typed_ > 0 && all_ >= 0 && typed_ != all_);
  out.gpu_type = out.gpus_differ ? std::string() : type_;
}

std::string parse_tres(std::string_view text, Tres& out) {
  TresGpus gpus;
  while (!text.empty()) {
    const std::string_view item = take_item(text);
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals), value = equals == item.npos ? "" : item.substr(equals + 1);
    constexpr std::string_view kGpuTres = "gres/gpu";
    bool good = true;
    if (name == "cpu") {
      good = read_whole(value, out.cpus);
    } else if (name == "node") {
      good = read_whole(value, out.nodes);
    } else if (name == "mem") {
      good = (out.memory_bytes = parse_memory(value, std::int64_t{1} << 20)) >= 0;
    } else if (name == kGpuTres) {
      std::int64_t count = 0;
      good = read_whole(value, count);
      gpus.add({}, count);
    } else if (name.size() > kGpuTres.size() && name.substr(0, kGpuTres.size()) == kGpuTres && name[kGpuTres.size()] == ':') {
      std::int64_t count = 0;
      good = read_whole(value, count);
      gpus.add(name.substr(kGpuTres.size() + 1), count);
    }
    if (!good) return fmt::format("'{}' is no amount of a resource", item);
  }
  gpus.settle(out);
  return {};
}

}  // namespace berth::io
