#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace berth::cuda {

/// When memory goes that has been far too large for a while: after sixteen operations in a row that each needed less than
/// a quarter of it. Less than a mebibyte stays.
class Excess {
 public:
  static constexpr int kOperations = 16;
  static constexpr std::size_t kPart = 4, kLeast = std::size_t{1} << 20;

  /// One more operation. Returns whether the memory shrinks to `largest()` now.
  bool note(std::size_t needed, std::size_t capacity) {
    if (capacity < kLeast || needed >= capacity / kPart) {
      operations_ = 0;
      largest_ = 0;
      return false;
    }
    largest_ = std::max(largest_, needed);
    return ++operations_ >= kOperations;
  }
  /// Bytes that any of those operations needed.
  std::size_t largest() const { return largest_; }

 private:
  int operations_ = 0;
  std::size_t largest_ = 0;
};

/// What one kind of operation keeps. It goes when sixteen operations of other kinds ran in a row.
template <class T>
class Kept {
 public:
  /// For an operation that uses it.
  T& use() {
    others_ = 0;
    if (kept_ == nullptr) kept_ = std::make_unique<T>();
    return *kept_;
  }
  /// For an operation that does not. Nothing may be running.
  void rest() {
    if (kept_ != nullptr && ++others_ >= Excess::kOperations) kept_.reset();
  }

 private:
  std::unique_ptr<T> kept_;
  int others_ = 0;
};

}  // namespace berth::cuda
