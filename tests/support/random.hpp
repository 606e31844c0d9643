#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace berth::test {

/// Random numbers that are the same with every standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t bits() { return engine_(); }
  /// 0..n-1; n >= 1.
  std::int32_t below(std::int32_t n) { return static_cast<std::int32_t>(engine_() % static_cast<std::uint64_t>(n)); }
  /// low..high, both included.
  std::int32_t within(std::int32_t low, std::int32_t high) { return low + below(high - low + 1); }
  bool percent(std::int32_t p) { return below(100) < p; }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int32_t>(values.size())))];
  }
  /// Each of the lowest n bits is set with probability p percent.
  std::uint64_t mask(std::int32_t n, std::int32_t p) {
    std::uint64_t m = 0;
    for (std::int32_t i = 0; i < n; ++i) m |= std::uint64_t{percent(p)} << i;
    return m;
  }
  template <class T>
  void shuffle(std::vector<T>& v) {
    for (std::size_t i = v.size(); i > 1; --i) std::swap(v[i - 1], v[static_cast<std::size_t>(engine_() % i)]);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace berth::test
