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
  struct Event {
    TimeUs at;
    std::int32_t rank, slot;
    bool operator<(const Event& other) const { return at != other.at ? at < other.at : rank < other.rank; }
  };

  bool empty() const { return heap_.empty(); }
  const Event& first() const { return heap_.front(); }
  /// kNever: nothing is to come.
  TimeUs next() const { return heap_.empty() ? kNever : heap_.front().at; }

  void set(const Event& event);
  void remove(std::int32_t slot);

 private:
  static constexpr std::size_t kChildren = 4;
  static constexpr std::int32_t kNone = -1;

  void put(std::size_t place, const Event& event) {
    heap_[place] = event;
    place_[at(event.slot)] = static_cast<std::int32_t>(place);
  }
  void settle(std::size_t place, const Event& event);

  std::vector<Event> heap_;
  std::vector<std::int32_t> place_;  // [slots] in the heap
};

}  // namespace berth::sim
