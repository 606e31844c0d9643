#include "host/core/choice/plan_terms.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::PlanTerm;

constexpr PlanTermInfo kTerms[] = {
    {.name = "fragmentation",
     .rule = "GPUs left idle where the jobs that may come cannot use them",
     .source = "FGD (ATC'23); its value in the objective's unit: ours",
     .term = PlanTerm::kFragmentation},
    {.name = "link_load",
     .rule = "speed lost where gangs together need a NIC or uplink for more than all the time",
     .source = "Crux (SIGCOMM'24), shared links without its paths: our reconstruction",
     .term = PlanTerm::kLinkLoad},
    {.name = "migration",
     .rule = "run time lost by going on in the same shape elsewhere",
     .source = "Pollux (OSDI'21), restart cost",
     .term = PlanTerm::kMigration},
    {.name = "restart",
     .rule = "run time lost by starting again, by another shape, and by being displaced",
     .source = "Pollux (OSDI'21), restart cost",
     .term = PlanTerm::kRestart},
    {.name = "span",
     .rule = "speed lost where a gang is spread wider than its shape needs",
     .source = "Dally (network-sensitive placement)",
     .term = PlanTerm::kSpan},
    {.name = "tardiness",
     .rule = "jobs that end after their deadline if they wait: a value up to twice as great in shapes that avoid it",
     .source = "weighted tardiness; the factor is ours",
     .term = PlanTerm::kTardiness},
};

constexpr std::size_t kSizes = kMaxGpusPerNode + 1;

// GPUs that a job needs on one node: its largest member, or as much of a flat gang as a node has.
std::int32_t piece_of(const StateImpl& s, const Shape& shape, std::int32_t type) {
  std::int32_t piece = shape.groups.empty() ? std::min(shape.gpus, s.type_size[to_index(type)].gpus_per_node) : 0;
  for (const Group& group : shape.groups) piece = std::max(piece, group.members_want > 0 ? group.gpus_per_member : 0);
  return std::clamp(piece, 1, kMaxGpusPerNode);
}

}  // namespace

std::span<const PlanTermInfo> plan_terms() { return kTerms; }

bool is_of_places(kernel::PlanTerm term) { return term != PlanTerm::kRestart && term != PlanTerm::kTardiness; }

void PlanTerms::set(const StateImpl& s, kernel::PlanTermSet terms, const PlacedChoice& placed) {
  loss_.fill(0);
  if (has_term(terms, PlanTerm::kLinkLoad)) links_.set(s, placed.plan);
  add_of_jobs(s, terms, placed);
  if (has_term(terms, PlanTerm::kFragmentation)) add_fragmentation(s, placed);
}

void PlanTerms::add(PlanTerm term, std::int64_t loss) {
  std::int64_t& sum = loss_[static_cast<std::size_t>(term)];
  sum = saturating_add(sum, std::max<std::int64_t>(0, loss));
}

// Each term takes its fraction of what the previous terms left.
void PlanTerms::add_of_jobs(const StateImpl& s, kernel::PlanTermSet terms, const PlacedChoice& placed) {
  for (std::size_t i = 0; i < placed.plan.decisions.size(); ++i) {
    const std::int32_t k = placed.option[i];
    if (k < 0) continue;
    const Decision& d = placed.plan.decisions[i];
    const JobRecord& record = s.jobs[to_index(d.job)];
    const ChoiceOption& option = placed.options[to_index(k)];
    kernel::ShapeTerms here = placed.values.shapes()[to_index(k)];
    std::int64_t lost = 0;
    const auto charge = [&](PlanTerm term) {
      const std::int64_t in_all = placed.values.loss(to_index(k), here);
      add(term, in_all - lost);
      lost = in_all;
    };
    if (has_term(terms, PlanTerm::kSpan)) {
      const std::span<const PlanEntry> entries(placed.plan.entries.data() + d.entry_begin, to_index(d.entry_end - d.entry_begin));
      const std::int64_t counted_on = record.option_rate[to_index(option.option)];
      const std::int64_t rate = placed_rate(s, *record.job, d.shape, entries);
      if (rate < counted_on) here = at_speed(here, mul_div(here.speed, rate, counted_on));
      charge(PlanTerm::kSpan);
    }
    if (has_term(terms, PlanTerm::kLinkLoad)) {
      here = at_speed(here, kernel::slowed(here.speed, links_.of(i)));
      charge(PlanTerm::kLinkLoad);
    }
    if (has_term(terms, PlanTerm::kMigration) && option.current && d.action == Action::kMigrate) {
      here.cost = migrate_cost(record.job->costs);
      charge(PlanTerm::kMigration);
    }
  }
}

// For each GPU type: how many GPUs of a node its jobs need, by the first of their options on it, and the value of one
// GPU to them.
std::span<const std::int64_t> PlanTerms::fragments(const StateImpl& s, std::span<const ChoiceOption> options,
                                                   std::span<const std::int64_t> value) {
  const std::size_t types = s.gpu_types.size();
  larger_ppm_.assign(types * kSizes, 0);
  jobs_.assign(types, 0);
  value_.assign(types, 0);
  gpus_.assign(types, 0);
  seen_.assign(types, -1);
  for (std::size_t k = 0; k < options.size(); ++k) {
    const ChoiceOption& one = options[k];
    if (seen_[to_index(one.type)] == one.job) continue;
    seen_[to_index(one.type)] = one.job;
    ++jobs_[to_index(one.type)];
    gpus_[to_index(one.type)] += one.gpus;
    value_[to_index(one.type)] = saturating_add(value_[to_index(one.type)], std::max<std::int64_t>(0, value[k]));
    const Shape& shape = s.jobs[to_index(one.job)].job->shapes[to_index(s.jobs[to_index(one.job)].options[to_index(one.option)].shape)];
    const std::int32_t piece = piece_of(s, shape, one.type);
    for (std::int32_t free = 0; free < piece; ++free) ++larger_ppm_[to_index(one.type) * kSizes + to_index(free)];
  }
  fragment_.assign(types * kSizes, 0);
  for (std::size_t t = 0; t < types; ++t) {
    if (jobs_[t] == 0) continue;
    value_[t] /= gpus_[t];
    std::int64_t* const larger = larger_ppm_.data() + t * kSizes;
    for (std::size_t free = 0; free < kSizes; ++free) {
      larger[free] = larger[free] * 1'000'000 / jobs_[t];
      fragment_[t * kSizes + free] =
          std::max<std::int64_t>(0, mul_div(value_[t], kernel::fragmented(static_cast<std::int32_t>(free), larger), 1'000'000));
    }
  }
  return fragment_;
}

void PlanTerms::add_fragmentation(const StateImpl& s, const PlacedChoice& placed) {
  const std::span<const std::int64_t> lost = fragments(s, placed.options, placed.value);
  used_.assign(s.nodes.size(), 0);
  for (const Decision& d : placed.plan.decisions) {
    if (!runs_now(d.action)) continue;
    for (std::int32_t e = d.entry_begin; e < d.entry_end; ++e)
      used_[to_index(placed.plan.entries[to_index(e)].node)] |= placed.plan.entries[to_index(e)].gpus;
  }
  for (std::size_t n = 0; n < s.nodes.size(); ++n) {
    const std::int32_t type = s.node.type[n];
    const std::int32_t idle = std::popcount(s.node.open[n] & ~used_[n]);
    add(PlanTerm::kFragmentation, lost[to_index(type) * kSizes + to_index(idle)]);
  }
}

}  // namespace berth::core
