#include "host/core/network/crossing_loss.hpp"

#include <algorithm>
#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int64_t kWhole = 1'000'000;
constexpr std::int64_t kLeastLoss = 1000;  // such as that of a longer way alone
constexpr auto kBySwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);

}  // namespace

void CrossingLoss::begin(const StateImpl& s) {
  const kernel::ProblemView& p = s.problem();
  // The lower half counts demands; known ones stay valid.
  const std::uint64_t structure = s.structure_version() >> 32;
  if (served_.lock() != s.identity || structure != structure_) {
    places_.clear();
    known_.clear();
    links_ = std::make_unique<NetworkLinks>(s);
    traffic_ = std::make_unique<Traffic>(s, *links_);
    served_ = s.identity;
    structure_ = structure;
    gpus_behind_.assign(to_index(links_->size()), 0);
    held_by_.assign(to_index(links_->size()), 0);
    for (std::int32_t node = 0; node < p.n_nodes; ++node) {
      const std::int64_t gpus = p.gpu_begin[node + 1] - p.gpu_begin[node];
      gpus_behind_[to_index(links_->of_node(node))] += gpus;
      for (std::int32_t level = 1; level < s.topologies.levels(kBySwitch); ++level) {
        gpus_behind_[to_index(links_->of_domain(s.topologies.domain_of(kBySwitch, level, node)))] += gpus;
      }
    }
  }
  known_.resize(s.jobs.size());
  places_.resize(s.demands.rows().size());
  empty_.begin(s);
}

const TwoPlaces& CrossingLoss::places_of(const StateImpl& s, std::int32_t demand) {
  Places& places = places_[to_index(demand)];
  if (!places.known) places.two = empty_.of(s, demand);
  places.known = true;
  return places.two;
}

// Nanoseconds of a step where all GPUs behind each link send as those of the gang do; 0: not known.
std::int64_t CrossingLoss::step_in(const StateImpl& s, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries) {
  const GangStep step = gang_step(s, job, shape, entries);
  if (step.ns == 0) return 0;
  const auto each_link = [&](const auto& use) {
    for (const PlanEntry& entry : entries) {
      use(links_->of_node(entry.node), std::popcount(entry.gpus));
      for (std::int32_t level = 1; level < s.topologies.levels(kBySwitch); ++level) {
        use(links_->of_domain(s.topologies.domain_of(kBySwitch, level, entry.node)), std::popcount(entry.gpus));
      }
    }
  };
  each_link([&](std::int32_t link, std::int64_t gpus) { held_by_[to_index(link)] += gpus; });
  std::int64_t alone = 0, sharing = 0;
  for (const LinkBytes& row : traffic_->of(job, job.shapes[to_index(shape)], entries)) {
    const std::int64_t needs = mul_div(row.bytes, 1'000'000'000, links_->bytes_per_s(row.link));
    alone = std::max(alone, needs);
    sharing = std::max(sharing, mul_div(needs, gpus_behind_[to_index(row.link)], held_by_[to_index(row.link)]));
  }
  each_link([&](std::int32_t link, std::int64_t) { held_by_[to_index(link)] = 0; });
  const std::int64_t latency = traffic_->latency_ns();
  const std::int64_t included = step.included_ns == SharedSteps::kAlone ? saturating_add(alone, latency) : step.included_ns;
  const std::int64_t base = step.ns - mul_div(included, step.exposed_ppm, kWhole);
  return std::max<std::int64_t>(1, saturating_add(base, mul_div(saturating_add(sharing, latency), step.exposed_ppm, kWhole)));
}

const Crossing& CrossingLoss::of(const StateImpl& s, std::int32_t job, std::int32_t option) {
  if (links_->none()) return none_;
  const JobRecord& record = s.jobs[to_index(job)];
  Known& known = known_[to_index(job)];
  if (known.version == record.version) return known.options[to_index(option)];
  known.version = record.version;
  known.options.assign(record.options.size(), none_);
  for (std::size_t o = 0; o < record.options.size(); ++o) {
    const TwoPlaces& places = places_of(s, record.options[o].demand);
    if (places.level < 0) continue;
    const std::int64_t tight = step_in(s, *record.job, record.options[o].shape, places.tight);
    const std::int64_t wide = step_in(s, *record.job, record.options[o].shape, places.wide);
    const std::int64_t loss = tight > 0 && wide > tight ? mul_div(wide - tight, kWhole, tight) : 0;
    if (loss >= kLeastLoss) known.options[o] = {places.level, loss};
  }
  return known.options[to_index(option)];
}

}  // namespace berth::core
