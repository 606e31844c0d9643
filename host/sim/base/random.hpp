#pragma once

#include <Random123/philox.h>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace berth::sim {

/// Purposes of random numbers, part of the counter, so that streams never overlap.
/// Changing a value changes the results of every seed.
enum class RandomStream : std::uint32_t {
  kCluster,
  kUser,
  kHistory,
  kJob,
  kGone,
  kTiming,
  kEstimate,
  kFailure,
  kRepair,
  kCrash,
  kKill,
  kSynthetic,
  kCurve,
  kReport,
  kResample,
  kFuture,
  kFutureArrivals,
  kFutureWithdrawals,
  kFutureFailures,
  kTimers
};

/// Random numbers of one item of one stream: Philox4x32-10 with key = seed, counter = (item, stream, block).
/// (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11.) A number does not depend on earlier draws elsewhere.
class ItemDraws {
 public:
  ItemDraws(std::uint64_t seed, RandomStream stream, std::uint64_t item)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
        counter_{{static_cast<std::uint32_t>(item), static_cast<std::uint32_t>(item >> 32), static_cast<std::uint32_t>(stream), 0}} {}

  std::uint32_t next() {
    if (used_ == 4) {
      block_ = r123::Philox4x32()(counter_, key_);
      ++counter_.v[3];
      used_ = 0;
    }
    return block_.v[used_++];
  }
  /// A number in 0..n-1, 1 <= n <= 2^31; the bias is below n / 2^32.
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>((std::uint64_t{next()} * static_cast<std::uint64_t>(n)) >> 32); }
  /// True with probability ppm / 1,000,000.
  bool chance(std::int32_t ppm) { return below(1'000'000) < ppm; }
  /// Exponentially distributed with this mean, rounded down: -ln(u) from the binary logarithm of 64 bits, computed bit by bit.
  std::int64_t exponential(std::int64_t mean) {
    std::uint64_t u = std::uint64_t{next()} << 32;
    u |= next() | 1U;
    const int zeros = std::countl_zero(u);
    u <<= zeros;
    std::uint64_t digits = 0;  // 32 binary digits of log2(u / 2^63)
    for (int digit = 0; digit < 32; ++digit) {
      const unsigned __int128 square = static_cast<unsigned __int128>(u) * u;
      const auto carry = static_cast<unsigned>(square >> 127);
      u = static_cast<std::uint64_t>(square >> (63 + carry));
      digits = 2 * digits + carry;
    }
    constexpr std::uint64_t kLn2 = 2'977'044'471;  // floor(ln 2 * 2^32)
    const std::uint64_t log2 = (static_cast<std::uint64_t>(zeros + 1) << 32) - digits;
    const auto ln = static_cast<std::int64_t>((static_cast<unsigned __int128>(log2) * kLn2) >> 32);
    return static_cast<std::int64_t>(std::min<__int128>((static_cast<__int128>(mean) * ln) >> 32, INT64_MAX));
  }

 private:
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type block_{};
  unsigned used_ = 4;
};

}  // namespace berth::sim
