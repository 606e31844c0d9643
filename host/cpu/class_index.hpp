#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace berth::cpu {

inline std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 32);
}

/// Numbers equal things in the order of their first appearance. A thing is identified by its hash and the caller's equality.
/// So equal hashes of unequal things are harmless. Keeps its memory between uses.
class ClassIndex {
 public:
  void reset(std::size_t expected) {
    std::size_t size = 16;
    while (size < 2 * expected) size *= 2;
    buckets_.assign(size, Bucket{0, -1});
    classes_ = 0;
  }
  /// The class of the thing with that hash; equal_to(c) tests whether it equals class c.
  /// One past the last class means that the thing starts a new class.
  template <class EqualTo>
  std::int32_t find_or_add(std::uint64_t hash, const EqualTo& equal_to) {
    const std::size_t wrap = buckets_.size() - 1;
    std::size_t at = static_cast<std::size_t>(hash) & wrap;
    for (; buckets_[at].number >= 0; at = (at + 1) & wrap) {
      if (buckets_[at].hash == hash && equal_to(buckets_[at].number)) return buckets_[at].number;
    }
    buckets_[at] = Bucket{hash, classes_};
    return classes_++;
  }
  std::int32_t size() const { return classes_; }

 private:
  struct Bucket {
    std::uint64_t hash;
    std::int32_t number;
  };
  std::vector<Bucket> buckets_;
  std::int32_t classes_ = 0;
};

}  // namespace berth::cpu
