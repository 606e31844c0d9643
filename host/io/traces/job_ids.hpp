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
    if (slots_.empty()) return -1;
    return slots_[slot_of(id, hash_of(id), jobs)].index;
  }

  /// Adds the last job of the list; its id must be new.
  void add_last(const std::vector<TraceJob>& jobs) {
    if (3 * jobs.size() > 2 * slots_.size()) grow();
    const std::uint32_t hash = hash_of(jobs.back().id);
    slots_[slot_of(jobs.back().id, hash, jobs)] = {hash, static_cast<std::int32_t>(jobs.size() - 1)};
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t index = -1;
  };

  static std::uint32_t hash_of(std::string_view id) {
    const std::uint64_t h = std::hash<std::string_view>()(id);
    return static_cast<std::uint32_t>(h ^ h >> 32);
  }
  std::size_t slot_of(std::string_view id, std::uint32_t hash, const std::vector<TraceJob>& jobs) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].index >= 0 && (slots_[at].hash != hash || jobs[static_cast<std::size_t>(slots_[at].index)].id != id))
      at = (at + 1) & mask;
    return at;
  }
  void grow() {
    const std::vector<Slot> before = std::move(slots_);
    slots_.assign(before.empty() ? 64 : 2 * before.size(), Slot{});
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : before) {
      if (slot.index < 0) continue;
      std::size_t at = slot.hash & mask;
      while (slots_[at].index >= 0) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
};

}  // namespace berth::io
