#include "host/core/quota/lowered_limits.hpp"

#include "berth/kernel/base/to_index.hpp"

namespace berth::core {
namespace {

bool uses_more(const kernel::ProblemView& p, std::int32_t queue) {
  const std::int64_t row = std::int64_t{queue} * (p.n_types + 1);
  for (std::int32_t column = 0; column <= p.n_types; ++column) {
    if (p.queue_cap[row + column] != kernel::kNoLimit && p.queue_used[row + column] > p.queue_cap[row + column]) return true;
  }
  return false;
}

}  // namespace

bool LoweredLimits::read(const kernel::ProblemView& p) {
  any_ = false;
  for (std::int32_t q = 0; q < p.n_queues && !any_; ++q) any_ = uses_more(p, q);
  if (!any_) return false;
  marks_.assign(to_index(p.n_queues), 0);
  for (std::int32_t q = 0; q < p.n_queues; ++q) marks_[to_index(q)] = uses_more(p, q) ? kItself : 0;
  for (std::int32_t q = 0; q < p.n_queues; ++q) {
    if (marks_[to_index(q)] == kItself) continue;
    for (std::int32_t above = p.queue_parent[q]; above >= 0; above = p.queue_parent[above]) {
      if (marks_[to_index(above)] == kItself) marks_[to_index(q)] = kAbove;
    }
  }
  return true;
}

}  // namespace berth::core
