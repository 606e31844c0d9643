#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace berth::io {

/// The keys of one object, to find a repeated one. Few keys are compared directly; with more keys a table keeps it linear.
class DistinctKeys {
 public:
  /// @param key  Must outlive this object; a cursor's keys do.
  /// @returns false when it was added before.
  bool add(std::string_view key) {
    constexpr std::size_t kFew = 16;
    if (few_.size() < kFew) {
      if (std::find(few_.begin(), few_.end(), key) != few_.end()) return false;
      few_.push_back(key);
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(key).second;
  }

 private:
  std::vector<std::string_view> few_;
  std::unordered_set<std::string_view> many_;  // all keys, once there are more than a few
};

}  // namespace berth::io
