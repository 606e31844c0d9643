#pragma once

#include <cstddef>
#include <type_traits>
#include <unordered_set>

namespace berth::core {

/// Calls on_repeat(i) for the first of `n` keys that occurs earlier too. A few keys are compared pairwise, without
/// memory; many go through a hash table, so that the cost stays linear.
template <class KeyOf, class OnRepeat>
void find_repeat(std::size_t n, KeyOf&& key, OnRepeat&& on_repeat) {
  constexpr std::size_t kFew = 16;
  std::unordered_set<std::decay_t<decltype(key(n))>> seen;
  for (std::size_t i = 0; i < n; ++i) {
    bool repeated = false;
    if (n > kFew) repeated = !seen.insert(key(i)).second;
    for (std::size_t j = 0; n <= kFew && j < i && !repeated; ++j) repeated = key(j) == key(i);
    if (repeated) return on_repeat(i);
  }
}

}  // namespace berth::core
