#pragma once

#include <cstdint>

#include "berth/kernel/base/random.hpp"

namespace berth::policy {

/// Purposes of random numbers. Changing a value changes the results of every seed.
enum class PolluxPurpose : std::uint32_t { kParents, kCut, kReset, kZero, kGrow, kShuffle };

/// Random numbers of one individual for one purpose, in sequence. They do not depend on what was drawn for others.
class PolluxDraws {
 public:
  PolluxDraws(std::uint64_t seed, std::int32_t generation, std::int32_t individual, PolluxPurpose purpose)
      : draws_{seed, static_cast<std::uint32_t>(purpose), static_cast<std::uint32_t>(individual), static_cast<std::uint32_t>(generation)} {}

  /// A number in 0..n-1, n >= 1; the bias is below n / 2^32.
  std::int32_t below(std::int32_t n) {
    if (used_ == 4) {
      block_ = draws_.block(blocks_++);
      used_ = 0;
    }
    return kernel::below(block_.word[used_++], n);
  }
  bool one_in(std::int32_t n) { return below(n) == 0; }

 private:
  kernel::Draws draws_;
  kernel::RandomBlock block_{};
  std::uint32_t blocks_ = 0;
  unsigned used_ = 4;
};

/// The owner of random numbers.
struct PolluxIndividual {
  std::uint64_t seed;
  std::int32_t generation, individual;

  PolluxDraws draws(PolluxPurpose purpose) const { return {seed, generation, individual, purpose}; }
};

}  // namespace berth::policy
