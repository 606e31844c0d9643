#include "host/core/quota/lowered_limits.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

bool uses_more(const kernel::ProblemView& p, std::int32_t queue, std::int32_t column) {
  const std::int64_t at = std::int64_t{queue} * (p.n_types + 1) + column;
  return p.queue_cap[at] != kernel::kNoLimit && p.queue_used[at] > p.queue_cap[at];
}

}  // namespace

bool exceeds_limits(const kernel::ProblemView& p) {
  for (std::int32_t q = 0; q < p.n_queues; ++q) {
    for (std::int32_t column = 0; column <= p.n_types; ++column) {
      if (uses_more(p, q, column)) return true;
    }
  }
  return false;
}

bool LoweredLimits::read(const kernel::ProblemView& p) {
  any_ = exceeds_limits(p);
  columns_ = p.n_types + 1;
  if (!any_) return false;
  marks_.assign(to_index(p.n_queues) * to_index(columns_), 0);
  for (std::int32_t q = 0; q < p.n_queues; ++q) {
    for (std::int32_t column = 0; column < columns_; ++column) {
      marks_[at(q, column)] = uses_more(p, q, column) || uses_more(p, q, p.n_types) ? kItself : 0;
    }
  }
  for (std::int32_t q = 0; q < p.n_queues; ++q) {
    for (std::int32_t above = p.queue_parent[q]; above >= 0; above = p.queue_parent[above]) {
      for (std::int32_t column = 0; column < columns_; ++column) {
        if (marks_[at(above, column)] == kItself) marks_[at(q, column)] = std::max(marks_[at(q, column)], kAbove);
      }
    }
  }
  return true;
}

bool LoweredLimits::is_below(std::int32_t queue) const {
  if (!any_ || queue < 0) return false;
  const auto first = marks_.begin() + static_cast<std::ptrdiff_t>(at(queue, 0));
  return std::any_of(first, first + columns_, [](std::uint8_t mark) { return mark != 0; });
}

}  // namespace berth::core
