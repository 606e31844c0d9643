#include "bench/plan_search/sruf_fill.hpp"

#include <algorithm>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"

namespace berth::bench {

void SrufFill::choose(const core::ShapeQuestion& question, core::PlacementBackend&, std::span<std::int32_t> chosen) {
  steps_.begin(question, chosen);
  fill_order_.clear();
  for (std::int32_t job = 0; job < steps_.jobs(); ++job) {
    const std::int32_t k = steps_.smallest(job);
    if (k >= 0) fill_order_.emplace_back(core::Wide{question.shapes[to_index(k)].run} * steps_.gpus(k), job);
  }
  std::sort(fill_order_.begin(), fill_order_.end());
  for (const auto& next : fill_order_) {
    const std::int32_t k = steps_.smallest(next.second);
    if (k >= 0) steps_.give(next.second, k);
  }
  for (const auto& next : fill_order_) {
    const std::int32_t job = next.second;
    if (steps_.row(job) < 0) continue;
    std::int32_t best = -1;
    const auto rank = [&](std::int32_t k) { return std::tuple(-steps_.gpus(k), question.shapes[to_index(k)].run); };
    for (std::int32_t k = steps_.first(job); k < steps_.last(job); ++k) {
      if (steps_.follows(job, k) && (best < 0 || rank(k) < rank(best))) best = k;
    }
    if (best >= 0) steps_.give(job, best);
  }
}

}  // namespace berth::bench
