#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// What the stand-ins of CUB's warp functions need: the values of all lanes of a whole warp.
namespace berth::cuda_on_threads {

inline constexpr int kWarpLanes = 32;
inline constexpr std::size_t kLaneBytes = 32;

/// The values of all lanes, kLaneBytes apart. All threads of a warp.
const std::byte* exchange_in_warp(const void* mine, std::size_t bytes);
int lane_of_thread();

template <class T>
class WarpValues {
 public:
  explicit WarpValues(const T& mine) : values_(exchange_in_warp(&mine, sizeof(T))) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kLaneBytes);
  }
  T of(int lane) const {
    T value;
    std::memcpy(&value, values_ + kLaneBytes * static_cast<std::size_t>(lane), sizeof(T));
    return value;
  }

 private:
  const std::byte* values_;
};

/// __reduce_min_sync of a whole warp.
inline unsigned reduce_min(unsigned mask, unsigned mine) {
  static_cast<void>(mask);
  const WarpValues<unsigned> values(mine);
  unsigned least = mine;
  for (int lane = 0; lane < kWarpLanes; ++lane) least = values.of(lane) < least ? values.of(lane) : least;
  return least;
}

/// What a lane must not use, because CUDA leaves it undefined.
template <class T>
T undefined_value() {
  T value;
  std::memset(static_cast<void*>(&value), 0xa5, sizeof(T));
  return value;
}

}  // namespace berth::cuda_on_threads

#define __reduce_min_sync(mask, v) ::berth::cuda_on_threads::reduce_min(mask, v)
