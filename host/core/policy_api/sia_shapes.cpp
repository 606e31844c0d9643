#include "host/core/policy_api/sia_shapes.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

void mark_sia_shapes(const StateImpl& s, std::int32_t job, bool running, std::span<const ChoiceOption> options,
                     std::vector<std::uint8_t>& considered) {
  const auto of_form = [&](const ChoiceOption& one) {
    const std::int32_t node = std::max(1, s.type_size[to_index(one.type)].gpus_per_node);
    return one.gpus % node == 0 || (one.gpus < node && std::has_single_bit(static_cast<std::uint32_t>(one.gpus)));
  };
  const bool any = std::any_of(options.begin(), options.end(), of_form);
  std::int64_t had = 0, least = INT64_MAX;
  for (const ObservedRate& seen : s.jobs[to_index(job)].job->progress.observed) {
    if (!running) had = std::max<std::int64_t>(had, seen.gpus);
  }
  for (const ChoiceOption& one : options) {
    if (one.current) had = one.gpus;
    if (!any || of_form(one)) least = std::min<std::int64_t>(least, one.gpus);
  }
  const std::int64_t most = std::max(2 * had, least);
  considered.clear();
  for (const ChoiceOption& one : options) considered.push_back(one.current || (one.gpus <= most && (!any || of_form(one))) ? 1 : 0);
}

}  // namespace berth::core
