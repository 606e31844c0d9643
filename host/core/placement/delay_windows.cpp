#include "host/core/placement/delay_windows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <tuple>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"

namespace berth::core {
namespace {

constexpr std::string_view kWaitsColumn = "waits_us.";
// Longer ones count as this: 35 years. Sums of squares of a whole window then fit in 128 bits.
constexpr TimeUs kLongest = TimeUs{1} << 50;
static_assert(DelayWindows::kMostWaits <= 4096);

// The least r with r * r >= x.
Wide root_up(Wide x) {
  Wide low = 0, high = Wide{1} << 63;
  while (low < high) {
    const Wide middle = low + (high - low) / 2;
    middle* middle >= x ? high = middle : low = middle + 1;
  }
  return low;
}

// ceil(from + (to - from) * part / parts)
std::int64_t between(std::int64_t from, std::int64_t to, std::int32_t part, std::int32_t parts) {
  return parts <= 0 ? from : from + saturate(ceil_div(Wide{to - from} * part, Wide{parts}));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::int64_t tuned_leases(std::span<const TimeUs> waits, TimeUs lease_us, std::int64_t history, std::int32_t rung, std::int32_t rungs) {
  // n * lease * est = sum + 2 sqrt(n * squares - sum^2), rounded up to a whole lease.
  const auto n = static_cast<Wide>(waits.size());
  Wide sum = 0, squares = 0;
  for (const TimeUs wait : waits) {
    const Wide w = std::min(wait, kLongest);
    sum += w;
    squares += w * w;
  }
  std::int64_t est = 1;
  if (sum > 0) {
    // n * squares - sum^2 is at most a quarter of (n * kLongest)^2: 122 bits.
    est = saturate(ceil_div(sum + root_up(4 * (n * squares - sum * sum)), n * lease_us));
  }
  const std::int32_t above = rungs - 1;
  const std::int64_t least = between(6, 12, rung, above);
  const Wide fifths = Wide{history} * 4;  // four fifths at the node, all at the top
  const std::int64_t most =
      above <= 0 ? saturate(ceil_div(fifths, Wide{5})) : saturate(ceil_div(fifths * above + Wide{history} * rung, Wide{5} * above));
  return std::min(most, std::max(least, est));
}

// Rows of a column stand in the order of their names.
bool DelayWindows::are_of(const PolicyState* kept, const std::vector<std::string>& levels, const DelayRule& rule) const {
  if (changed_ || !(rule_ == rule) || levels_.size() != levels.size()) return false;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const Level& level = levels_[i];
    if (level.name != levels[i]) return false;
    const auto column = kept == nullptr ? decltype(kept->columns.begin()){} : kept->columns.find(level.column);
    if (kept == nullptr || column == kept->columns.end()) {
      if (!level.rows.empty()) return false;
      continue;
    }
    const bool same = std::equal(level.rows.begin(), level.rows.end(), column->second.begin(), column->second.end(),
                                 [](const auto& a, const auto& b) { return a.second == b.second && a.first == b.first; });
    if (!same) return false;
  }
  return true;
}

void DelayWindows::read(const std::map<std::string, std::int64_t>& column, Level& level) {
  for (const auto& [row, us] : column) {
    // GPUs, instant, and a number that tells equal ones apart.
    const std::string_view text = row;
    const std::size_t at = text.find('@'), dot = text.find('.');
    const bool parts = at != text.npos && dot != text.npos && at < dot;
    const auto gpus = parts ? number(text.substr(0, at)) : std::nullopt;
    const auto instant = parts ? number(text.substr(at + 1, dot - at - 1)) : std::nullopt;
    if (!gpus || !instant || !number(text.substr(dot + 1)) || us < 0) {
      throw InvalidArgument(fmt::format("the policy state has a row in column '{}' that is no wait of a number of GPUs at an instant",
                                        level.column.substr(0, 80)));
    }
    auto& window = level.windows[*gpus];
    if (window.size() == kMostWaits) {
      throw InvalidArgument(
          fmt::format("the policy state has more than {} waits of {} GPUs in column '{}'", kMostWaits, *gpus, level.column.substr(0, 80)));
    }
    window.push_back({*instant, us, row});
    level.rows.emplace_back(row, us);
  }
}

void DelayWindows::load(const PolicyState* kept, const std::vector<std::string>& levels, const DelayRule& rule) {
  if (are_of(kept, levels, rule)) return;
  ++version_;
  added_.clear();
  changed_ = true;
  rule_ = rule;
  levels_.assign(levels.size(), {});
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels_[i].name = levels[i];
    levels_[i].column = fmt::format("{}{}", kWaitsColumn, levels[i]);
    if (kept == nullptr) continue;
    const auto column = kept->columns.find(levels_[i].column);
    if (column != kept->columns.end()) read(column->second, levels_[i]);
  }
  changed_ = false;
}

std::int64_t DelayWindows::leases(const DelayRule& rule, std::int32_t rung, std::int64_t gpus) {
  Level& level = levels_[to_index(rung)];
  const auto [known, fresh] = level.leases.try_emplace(gpus, 0);
  if (fresh) {
    waits_.clear();
    if (const auto window = level.windows.find(gpus); window != level.windows.end()) {
      for (const Wait& wait : window->second) waits_.push_back(wait.us);
    }
    known->second = tuned_leases(waits_, rule.lease_us, rule.history, rung, static_cast<std::int32_t>(levels_.size()));
  }
  return known->second;
}

void DelayWindows::add(const DelayRule& rule, std::int32_t rung, std::int64_t gpus, TimeUs now, TimeUs wait) {
  if (wait < rule.lease_us) return;
  Level& level = levels_[to_index(rung)];
  Window& window = level.windows[gpus];
  const Wide begin = Wide{now} - Wide{rule.lease_us} * rule.history;
  const auto leave = [&](const Wait& one) {
    if (!one.row.empty()) level.gone.push_back(one.row);
  };
  for (const Wait& one : window) {
    if (one.at < begin) leave(one);
  }
  window.erase(std::remove_if(window.begin(), window.end(), [&](const Wait& one) { return one.at < begin; }), window.end());
  if (window.size() >= kMostWaits) {
    // The same one in whichever order they were read.
    const auto oldest = std::min_element(window.begin(), window.end(), [](const Wait& a, const Wait& b) {
      return std::tie(a.at, a.us, a.row) < std::tie(b.at, b.us, b.row);
    });
    leave(*oldest);
    window.erase(oldest);
  }
  window.push_back({now, wait, {}});
  level.leases.erase(gpus);
  level.grew = changed_ = true;
  ++version_;
  if (added_.size() >= kMostAdded) added_.clear();
  added_.push_back(gpus);
}

bool DelayWindows::is_column(std::string_view name) { return name.starts_with(kWaitsColumn); }

// Of another cluster: no gang gets a place in such a level any more.
void DelayWindows::drop_other_levels(PolicyState& kept) const {
  const auto is_other = [&](const std::string& column) {
    return std::none_of(levels_.begin(), levels_.end(), [&](const Level& level) { return level.column == column; });
  };
  auto column = kept.columns.lower_bound(std::string(kWaitsColumn));
  while (column != kept.columns.end() && column->first.starts_with(kWaitsColumn))
    column = is_other(column->first) ? kept.columns.erase(column) : std::next(column);
}

void DelayWindows::store(PolicyState& kept) {
  drop_other_levels(kept);
  if (!changed_) return;
  for (Level& level : levels_) {
    if (level.gone.empty() && !level.grew) continue;
    std::map<std::string, std::int64_t>& column = kept.columns[level.column];
    const auto place_of = [&](const std::string& row) {
      return std::lower_bound(level.rows.begin(), level.rows.end(), row, [](const auto& a, const std::string& b) { return a.first < b; });
    };
    for (const std::string& row : level.gone) {
      column.erase(row);
      if (const auto at = place_of(row); at != level.rows.end() && at->first == row) level.rows.erase(at);
    }
    for (auto& [gpus, window] : level.windows) {
      int n = 0;  // many may come at one instant
      TimeUs at = -1;
      for (Wait& wait : window) {
        if (!wait.row.empty()) continue;
        n = wait.at == at ? n : 0;
        at = wait.at;
        const auto row_of = [&, gpus = gpus] { return fmt::format("{}@{}.{}", gpus, at, n); };
        while (!column.emplace(wait.row = row_of(), wait.us).second) ++n;
        level.rows.emplace(place_of(wait.row), wait.row, wait.us);
      }
    }
    level.gone.clear();
    level.grew = false;
    if (column.empty()) kept.columns.erase(level.column);
  }
  changed_ = false;
}

}  // namespace berth::core
