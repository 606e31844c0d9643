#include "host/sim/base/quantiles.hpp"

#include <cstddef>

namespace berth::sim {
namespace {

constexpr TimeUs kMillisecond = 1000;
constexpr std::int64_t kMillion = 1'000'000;

// Interpolates between the points i and i + 1, at `part` of 2^24, in milliseconds.
std::int64_t inside(Quantiles table, std::size_t i, std::int64_t part) {
  const std::int64_t low = table[i].seconds * 1000, high = table[i + 1].seconds * 1000;
  return low + (((high - low) * part) >> 24);
}

std::int64_t random_part(ItemDraws& draws) { return draws.next() >> 8; }

}  // namespace

std::int32_t pick(std::span<const Share> shares, ItemDraws& draws) {
  std::int64_t left = draws.below(kMillion);
  for (const Share& share : shares) {
    if (left < share.ppm) return share.value;
    left -= share.ppm;
  }
  return shares.back().value;
}

TimeUs draw_duration(Quantiles table, ItemDraws& draws) {
  const std::int64_t at = draws.below(kMillion);
  std::size_t i = 0;
  while (table[i + 1].at_ppm <= at) ++i;
  return inside(table, i, random_part(draws)) * kMillisecond;
}

TimeUs draw_met_duration(Quantiles table, ItemDraws& draws) {
  // ItemDraws the interval first, in proportion to the total time of its durations, then a duration in it by rejection.
  // The value is linear in an interval, so at least half of the tries succeed.
  std::int64_t total = 0;
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    total += (table[i + 1].at_ppm - table[i].at_ppm) * (table[i].seconds + table[i + 1].seconds);
  }
  if (total == 0) return 0;
  const auto wide = (std::uint64_t{draws.next()} << 32) | draws.next();
  auto left = static_cast<std::int64_t>(wide % static_cast<std::uint64_t>(total));
  std::size_t i = 0;
  for (;; ++i) {
    const std::int64_t weight = (table[i + 1].at_ppm - table[i].at_ppm) * (table[i].seconds + table[i + 1].seconds);
    if (left < weight) break;
    left -= weight;
  }
  const std::int64_t most = table[i + 1].seconds * 1000;
  for (;;) {
    const std::int64_t value = inside(table, i, random_part(draws));
    if (draws.below(most) < value) return value * kMillisecond;
  }
}

TimeUs mean_beyond(Quantiles table, TimeUs beyond) {
  const std::int64_t from = beyond / kMillisecond;
  std::int64_t share = 0, sum = 0;  // sum: ppm times seconds, doubled
  for (std::size_t i = 0; i + 1 < table.size(); ++i) {
    const std::int64_t low = table[i].seconds * 1000, high = table[i + 1].seconds * 1000;
    if (high <= from) continue;
    const std::int64_t start = low < from ? from : low;
    const std::int64_t width = (table[i + 1].at_ppm - table[i].at_ppm) * (high - start) / (high - low);
    share += width;
    sum += width * ((start + high) / 1000);
  }
  if (share == 0) return beyond;
  const TimeUs mean = sum * 1000 / share / 2 * kMillisecond;
  return mean > beyond ? mean : beyond;
}

TimeUs quantile_beyond(Quantiles table, TimeUs beyond, std::int32_t at_ppm) {
  const std::int64_t from = beyond / kMillisecond;
  // Fraction below `beyond`, in ppm of the whole.
  std::int64_t below = 0;
  std::size_t i = 0;
  for (; i + 1 < table.size() && table[i + 1].seconds * 1000 <= from; ++i) below = table[i + 1].at_ppm;
  if (i + 1 == table.size()) return beyond;
  const std::int64_t low = table[i].seconds * 1000, high = table[i + 1].seconds * 1000;
  if (from > low) below += (table[i + 1].at_ppm - table[i].at_ppm) * (from - low) / (high - low);
  const std::int64_t at = below + (kMillion - below) * at_ppm / kMillion;
  while (i + 2 < table.size() && table[i + 1].at_ppm <= at) ++i;
  const std::int64_t width = table[i + 1].at_ppm - table[i].at_ppm;
  const std::int64_t left = table[i].seconds * 1000, right = table[i + 1].seconds * 1000;
  const TimeUs value = (left + (right - left) * (at - table[i].at_ppm) / width) * kMillisecond;
  return value > beyond ? value : beyond;
}

}  // namespace berth::sim
