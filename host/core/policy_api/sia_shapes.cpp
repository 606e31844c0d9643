#include "host/core/policy_api/sia_shapes.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

void keep_sia_shapes(const StateImpl& s, std::int32_t job, bool running, std::span<const ChoiceOption> options,
                     std::span<kernel::ShapeTerms> shapes) {
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
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (!options[i].current && (options[i].gpus > most || (any && !of_form(options[i])))) shapes[i].speed = 0;
  }
}

}  // namespace berth::core
