#include "host/sim/slot_events.hpp"

#include <algorithm>

namespace berth::sim {

void SlotEvents::set(const Event& event) {
  if (place_.size() <= at(event.slot)) place_.resize(at(event.slot) + 1, kNone);
  const std::int32_t place = place_[at(event.slot)];
  if (place == kNone) {
    heap_.emplace_back();
    settle(heap_.size() - 1, event);
  } else {
    settle(at(place), event);
  }
}

void SlotEvents::remove(std::int32_t slot) {
  if (place_.size() <= at(slot) || place_[at(slot)] == kNone) return;
  const std::size_t place = at(place_[at(slot)]);
  place_[at(slot)] = kNone;
  const Event last = heap_.back();
  heap_.pop_back();
  if (place < heap_.size()) settle(place, last);
}

// What stands at `place` is gone.
void SlotEvents::settle(std::size_t place, const Event& event) {
  while (place > 0 && event < heap_[(place - 1) / kChildren]) {
    put(place, heap_[(place - 1) / kChildren]);
    place = (place - 1) / kChildren;
  }
  for (;;) {
    const std::size_t begin = kChildren * place + 1, end = std::min(begin + kChildren, heap_.size());
    std::size_t least = begin;
    for (std::size_t child = begin + 1; child < end; ++child) {
      if (heap_[child] < heap_[least]) least = child;
    }
    if (begin >= end || !(heap_[least] < event)) break;
    put(place, heap_[least]);
    place = least;
  }
  put(place, event);
}

}  // namespace berth::sim
