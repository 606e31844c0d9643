#include "host/io/topology/block_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace berth::io {

std::vector<std::int64_t> inferred_block_sizes(const std::vector<std::int64_t>& blocks) {
  std::int64_t least = INT64_MAX;
  std::uint64_t n = 0;
  for (const std::int64_t size : blocks) {
    if (size <= 0) continue;
    least = std::min(least, size);
    ++n;
  }
  std::vector<std::int64_t> out(static_cast<std::size_t>(std::bit_width(n)));
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = least << i;
  return out;
}

std::vector<std::int64_t> inferred_block_sizes(const std::vector<std::int64_t>& blocks, const std::vector<std::int64_t>& domains) {
  const auto largest = [](const std::vector<std::int64_t>& sizes) {
    return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
  };
  const std::int64_t base = largest(blocks), most = largest(domains);
  if (base <= 0) return {};
  std::int64_t whole = base;
  while (whole < most) whole *= 2;
  return whole == base ? std::vector<std::int64_t>{base} : std::vector<std::int64_t>{base, whole};
}

std::string block_sizes_problem(const std::vector<std::int64_t>& sizes) {
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const std::int64_t base = sizes.front(), size = sizes[i];
    if (size <= sizes[i - 1]) return fmt::format("BlockSizes do not grow: {} follows {}", size, sizes[i - 1]);
    if (size % base != 0 || !std::has_single_bit(static_cast<std::uint64_t>(size / base)))
      return fmt::format("BlockSizes: {} is no power of two times {}, the first", size, base);
  }
  return {};
}

}  // namespace berth::io
