#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace berth::fuzz {

/// Choices from a fuzzer's bytes; zero when they are used up, so that short inputs mean simple cases.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : p_(data), end_(data + size) {}

  bool empty() const { return p_ == end_; }
  std::uint8_t byte() { return empty() ? std::uint8_t{0} : *p_++; }
  std::uint64_t word() {
    std::uint64_t all = 0;
    for (int i = 0; i < 8; ++i) all = all << 8 | byte();
    return all;
  }
  /// 0 .. n - 1; n in 1 .. 65,536.
  std::int32_t below(std::int32_t n) {
    if (n <= 256) return byte() % n;
    const std::int32_t high = byte();
    return (high << 8 | byte()) % n;
  }
  std::int32_t within(std::int32_t low, std::int32_t high) { return low + below(high - low + 1); }
  bool one_in(std::int32_t n) { return below(n) == n - 1; }
  template <class T>
  const T& of(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(static_cast<std::int32_t>(values.size())))];
  }
  std::string_view rest() const { return {reinterpret_cast<const char*>(p_), static_cast<std::size_t>(end_ - p_)}; }

 private:
  const std::uint8_t* p_;
  const std::uint8_t* end_;
};

/// Reports a violated guarantee, and ends like a crash.
[[noreturn]] inline void broken(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

inline void hold(bool true_that, const char* what) {
  if (!true_that) broken(what);
}

}  // namespace berth::fuzz
