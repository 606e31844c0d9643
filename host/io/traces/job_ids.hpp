#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/trace.hpp"

namespace berth::io {

/// Finds the jobs of a growing list by id without copying the ids. A hash table with eight bytes per entry, at most two thirds full.
class JobIds {
 public:
  /// Index of the job of that id, or -1. @param jobs  The list whose jobs were added.
  std::int64_t find(std::string_view id, const std::vector<TraceJob>& jobs) const {
    if (buckets_.empty()) return -1;
    return buckets_[bucket_of(id, hash_of(id), jobs)].index;
  }

  /// Adds the last job of the list; its id must be new.
  void add_last(const std::vector<TraceJob>& jobs) {
    if (3 * jobs.size() > 2 * buckets_.size()) grow();
    const std::uint32_t hash = hash_of(jobs.back().id);
    buckets_[bucket_of(jobs.back().id, hash, jobs)] = {hash, static_cast<std::int32_t>(jobs.size() - 1)};
  }

 private:
  struct Bucket {
    std::uint32_t hash = 0;
    std::int32_t index = -1;
  };

  static std::uint32_t hash_of(std::string_view id) {
    const std::uint64_t h = std::hash<std::string_view>()(id);
    return static_cast<std::uint32_t>(h ^ h >> 32);
  }
  std::size_t bucket_of(std::string_view id, std::uint32_t hash, const std::vector<TraceJob>& jobs) const {
    const std::size_t mask = buckets_.size() - 1;
    std::size_t at = hash & mask;
    while (buckets_[at].index >= 0 && (buckets_[at].hash != hash || jobs[static_cast<std::size_t>(buckets_[at].index)].id != id))
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    const std::vector<Bucket> before = std::move(buckets_);
    buckets_.assign(before.empty() ? 64 : 2 * before.size(), Bucket{});
    const std::size_t mask = buckets_.size() - 1;
    for (const Bucket& bucket : before) {
      if (bucket.index < 0) continue;
      std::size_t at = bucket.hash & mask;
      while (buckets_[at].index >= 0) at = (at + 1) & mask;
      buckets_[at] = bucket;
    }
  }

  std::vector<Bucket> buckets_;
};

}  // namespace berth::io
