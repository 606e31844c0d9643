#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::sim {

/// A subset of 0, 1, ... n - 1, one bit each. A second level of bits marks the words that are not empty.
class IndexSet {
 public:
  static constexpr std::int32_t kNone = INT32_MAX;

  explicit IndexSet(std::size_t n) : words_((n + 63) / 64), any_((words_.size() + 63) / 64) {}

  void insert(std::int32_t i) { put(i, true); }
  void erase(std::int32_t i) { put(i, false); }
  /// Sets whether i is in the set.
  void put(std::int32_t i, bool in) {
    const auto word = static_cast<std::size_t>(i) / 64;
    put_bit(words_[word], i % 64, in);
    put_bit(any_[word / 64], static_cast<std::int32_t>(word % 64), words_[word] != 0);
  }
  /// The smallest element that is at least `from`, 0 <= from < n; or kNone.
  std::int32_t next(std::int32_t from) const {
    std::size_t word = static_cast<std::size_t>(from) / 64;
    const std::uint64_t here = words_[word] >> (from % 64);
    if (here != 0) return from + std::countr_zero(here);
    if (++word == words_.size()) return kNone;
    std::uint64_t any = any_[word / 64] >> (word % 64) << (word % 64);
    for (std::size_t block = word / 64;; any = any_[block]) {
      if (any != 0) {
        word = 64 * block + static_cast<std::size_t>(std::countr_zero(any));
        return static_cast<std::int32_t>(64 * word) + std::countr_zero(words_[word]);
      }
      if (++block == any_.size()) return kNone;
    }
  }

 private:
  static void put_bit(std::uint64_t& bits, std::int32_t i, bool one) {
    bits = (bits & ~(std::uint64_t{1} << i)) | static_cast<std::uint64_t>(one) << i;
  }

  std::vector<std::uint64_t> words_, any_;
};

}  // namespace berth::sim
