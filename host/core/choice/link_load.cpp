#include "host/core/choice/link_load.hpp"

#include <algorithm>
#include <span>

#include "berth/kernel/base/plan_terms.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

// Links and domains stay while the structure does.
void LinkLoad::begin(const StateImpl& s) {
  const std::uint64_t structure = s.cluster_version();
  if (served_.lock() == s.identity && structure == structure_) return;
  links_ = std::make_unique<NetworkLinks>(s);
  traffic_ = std::make_unique<Traffic>(s, *links_);
  served_ = s.identity;
  structure_ = structure;
}

void LinkLoad::set(const StateImpl& s, const Plan& plan) {
  begin(s);
  load_.assign(to_index(links_->size()), 0);
  link_.clear();
  link_begin_.assign(1, 0);
  for (const Decision& d : plan.decisions) {
    if (runs_now(d.action)) add(s, plan, d);
    link_begin_.push_back(link_.size());
  }
}

void LinkLoad::add(const StateImpl& s, const Plan& plan, const Decision& d) {
  const std::span<const PlanEntry> entries(plan.entries.data() + d.entry_begin, to_index(d.entry_end - d.entry_begin));
  const Job& job = *s.jobs[to_index(d.job)].job;
  const std::int64_t step_ns = placed_step(s, job, d.shape, entries).ns;
  if (step_ns == 0) return;
  for (const LinkBytes& row : traffic_->of(job, job.shapes[to_index(d.shape)], entries)) {
    std::int64_t& load = load_[to_index(row.link)];
    load = saturating_add(load, kernel::link_use(row.bytes, links_->bytes_per_s(row.link), step_ns));
    link_.push_back(row.link);
  }
}

std::int64_t LinkLoad::of(std::size_t decision) const {
  std::int64_t most = 0;
  for (std::size_t i = link_begin_[decision]; i < link_begin_[decision + 1]; ++i) most = std::max(most, load_[to_index(link_[i])]);
  return most;
}

}  // namespace berth::core
