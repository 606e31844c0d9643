#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/units.hpp"
#include "host/core/at.hpp"

namespace berth::sim {

/// At most one coming instant for each slot; the first one is at hand. Of one instant, the smaller rank. A heap of four children a node.
class SlotEvents {
 public:
  /// kNever: nothing is to come.
  TimeUs next() const { return static_cast<TimeUs>(heap_.front() >> 64); }
  /// Of the first one.
  std::int32_t slot() const { return slot_of(heap_.front()); }

  /// @param at  Before kNever. @param rank  Not negative.
  void set(TimeUs at, std::int32_t rank, std::int32_t slot);
  void remove(std::int32_t slot);

 private:
  /// Instant, rank and slot in one number: which of two is less cannot be foretold, so nothing should depend on a guess.
  using Event = __int128;
  static constexpr std::size_t kChildren = 4;
  static constexpr std::int32_t kNone = -1;
  static constexpr Event kLast = static_cast<Event>(kNever) << 64;

  static std::int32_t slot_of(Event event) { return static_cast<std::int32_t>(event); }
  void put(std::size_t place, Event event) {
    heap_[place] = event;
    place_[at(slot_of(event))] = static_cast<std::int32_t>(place);
  }
  void settle(std::size_t place, Event event);

  std::size_t size_ = 0;
  std::vector<Event> heap_ = std::vector<Event>(kChildren, kLast);  // behind the last, kLast as often as children may be looked at
  std::vector<std::int32_t> place_;                                 // [slots] in the heap
};

}  // namespace berth::sim
