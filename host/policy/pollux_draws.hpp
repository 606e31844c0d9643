#pragma once

#include <Random123/philox.h>

#include <cstdint>

namespace berth::policy {

/// What a number of the search is drawn for. The values are part of every seed's meaning.
enum class PolluxPurpose : std::uint32_t { kParents, kCut, kReset, kZero, kGrow, kShuffle };

/// Random numbers of one individual for one purpose: Philox4x32-10 (Salmon et al., SC'11), key = seed, counter = (block, purpose,
/// individual, generation). A number depends on nothing that was drawn for others.
class PolluxDraws {
 public:
  PolluxDraws(std::uint64_t seed, std::int32_t generation, std::int32_t individual, PolluxPurpose purpose)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
        counter_{{0, static_cast<std::uint32_t>(purpose), static_cast<std::uint32_t>(individual), static_cast<std::uint32_t>(generation)}} {
  }

  /// Of 0..n-1, n >= 1; the bias is below n / 2^32.
  std::int32_t below(std::int32_t n) {
    if (used_ == 4) {
      block_ = r123::Philox4x32()(counter_, key_);
      ++counter_.v[0];
      used_ = 0;
    }
    return static_cast<std::int32_t>((std::uint64_t{block_.v[used_++]} * static_cast<std::uint32_t>(n)) >> 32);
  }
  bool one_in(std::int32_t n) { return below(n) == 0; }

 private:
  r123::Philox4x32::key_type key_;
  r123::Philox4x32::ctr_type counter_;
  r123::Philox4x32::ctr_type block_{};
  unsigned used_ = 4;
};

/// Who draws.
struct PolluxIndividual {
  std::uint64_t seed;
  std::int32_t generation, individual;

  PolluxDraws draws(PolluxPurpose purpose) const { return {seed, generation, individual, purpose}; }
};

}  // namespace berth::policy
