#include "host/sim/fragmentation.hpp"

#include <algorithm>

namespace berth::sim {

Fragmentation::Fragmentation(const Trace& trace) {
  if (trace.jobs.empty()) return;
  for (const TraceJob& job : trace.jobs) ++above_micro_[static_cast<std::size_t>(std::clamp(job.gpus, 1, kMaxGpusPerNode) - 1)];
  for (std::size_t free = above_micro_.size() - 1; free-- > 0;) above_micro_[free] += above_micro_[free + 1];
  for (std::int64_t& part : above_micro_) part = part * 1'000'000 / static_cast<std::int64_t>(trace.jobs.size());
}

}  // namespace berth::sim
