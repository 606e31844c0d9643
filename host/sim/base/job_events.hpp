#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/kernel/base/to_index.hpp"
#include "berth/units.hpp"

namespace berth::sim {

/// At most one future instant per job, with access to the first. Ties: the smaller rank. A heap with four children per node.
class JobEvents {
 public:
  /// kNever: no event.
  TimeUs next() const { return static_cast<TimeUs>(heap_.front() >> 64); }
  /// The job of the first event.
  std::int32_t job() const {
    assert(size_ > 0);
    return index_of(heap_.front());
  }

  /// @param at  Before kNever. @param rank  Not negative.
  void set(TimeUs at, std::int32_t rank, std::int32_t job);
  void remove(std::int32_t job);

 private:
  /// Instant, rank and job in one number. Comparisons are unpredictable, so the code avoids branches on them.
  using Event = __int128;
  static constexpr std::size_t kChildren = 4;
  static constexpr std::int32_t kNone = -1;
  static constexpr Event kLast = static_cast<Event>(kNever) << 64;

  static std::int32_t index_of(Event event) { return static_cast<std::int32_t>(event); }
  void put(std::size_t place, Event event) {
    heap_[place] = event;
    place_[to_index(index_of(event))] = static_cast<std::int32_t>(place);
  }
  void settle(std::size_t place, Event event);

  std::size_t size_ = 0;
  std::vector<Event> heap_ = std::vector<Event>(kChildren, kLast);  // padded with kLast at the end, as far as children are read
  std::vector<std::int32_t> place_;                                 // [jobs] position in the heap
};

}  // namespace berth::sim
