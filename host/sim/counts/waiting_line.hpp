#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "host/sim/counts/counted_job.hpp"

namespace berth::sim {

/// Jobs in order, taken from the front. Most arrive behind all waiting jobs and are in a queue; the others are in a heap.
class WaitingLine {
 public:
  bool empty() const { return row_.empty() && heap_.empty(); }
  const JobPlace& first() const { return from_row() ? row_.front() : heap_.front(); }
  void push(const JobPlace& place) {
    if (row_.empty() || row_.back() < place) {
      row_.push_back(place);
      return;
    }
    heap_.push_back(place);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  void pop() {
    if (from_row()) {
      row_.pop_front();
      return;
    }
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }

 private:
  bool from_row() const { return heap_.empty() || (!row_.empty() && row_.front() < heap_.front()); }

  std::deque<JobPlace> row_;
  std::vector<JobPlace> heap_;
};

}  // namespace berth::sim
