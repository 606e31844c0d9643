#include "host/sim/base/job_events.hpp"
#include <cassert>

namespace berth::sim {

void JobEvents::set(TimeUs at, std::int32_t rank, std::int32_t job) {
  assert(at < kNever && rank >= 0 && job >= 0);
  const Event event = static_cast<Event>(at) << 64 | static_cast<Event>(rank) << 32 | job;
  const auto s = static_cast<std::size_t>(job);
  if (place_.size() <= s) place_.resize(s + 1, kNone);
  if (place_[s] != kNone) return settle(static_cast<std::size_t>(place_[s]), event);
  heap_.push_back(kLast);
  settle(size_++, event);
}

void JobEvents::remove(std::int32_t job) {
  if (place_.size() <= to_index(job) || place_[to_index(job)] == kNone) return;
  const std::size_t place = to_index(place_[to_index(job)]);
  assert(place < size_ && index_of(heap_[place]) == job);
  place_[to_index(job)] = kNone;
  const Event last = heap_[--size_];
  heap_[size_] = kLast;
  heap_.pop_back();
  if (place < size_) settle(place, last);
}

// Restores the heap after the event at `place` was removed.
void JobEvents::settle(std::size_t place, Event event) {
  while (place > 0 && event < heap_[(place - 1) / kChildren]) {
    put(place, heap_[(place - 1) / kChildren]);
    place = (place - 1) / kChildren;
  }
  for (std::size_t begin = kChildren * place + 1; begin < size_; begin = kChildren * place + 1) {
    const Event* child = &heap_[begin];
    const Event *a = child + (child[1] < child[0]), *b = child + 2 + (child[3] < child[2]);
    const Event* least = *b < *a ? b : a;
    if (event < *least) break;
    put(place, *least);
    place = static_cast<std::size_t>(least - heap_.data());
  }
  put(place, event);
}

}  // namespace berth::sim
