#include "host/report/links/link_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/contention/link_priorities.hpp"
#include "host/core/contention/max_min_rates.hpp"
#include "host/core/model/members_at_work.hpp"
#include "host/core/network/gang_steps.hpp"
#include "host/core/network/links.hpp"
#include "host/core/network/shared_steps.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/report/links/link_clos.hpp"

namespace berth::report {
namespace {

using core::Wide;

constexpr std::int64_t kPpm = 1'000'000;

// Iterations of the slower gang, and at most of the faster one, in a pairwise simulation.
constexpr std::int64_t kWindowSteps = 60, kMostWindowSteps = 6'000;

std::int64_t nearest(Wide numerator, Wide denominator) { return core::saturate((2 * numerator + denominator) / (2 * denominator)); }

std::int64_t step_among(const GangOnLinks& gang, std::int64_t send_ns) {
  return core::saturating_add(gang.step_ns, core::mul_div(std::max<std::int64_t>(0, send_ns - gang.send_ns), gang.exposed_ppm, kPpm));
}

// Speed where the gang has this rate on its busiest link.
std::int64_t speed_at(const GangOnLinks& gang, std::int64_t rate) {
  std::int64_t most = 0;
  for (const core::LinkBytes& row : gang.rows) most = std::max(most, row.bytes);
  if (rate <= 0) return 0;
  const std::int64_t send_ns = core::saturate(Wide{most} * core::kRatesPerByte * 1'000'000'000 / rate);
  // A rate is rounded down, by less than a millionth of the time.
  return nearest(Wide{gang.step_ns} * kPpm, step_among(gang, send_ns));
}

class Collector {
 public:
  Collector(const ClusterState& state, const Plan* plan) : view_(state), links_(view_), traffic_(view_, links_) {
    if (links_.none()) throw InvalidArgument("--links: the cluster states no bandwidth, neither of NICs nor of uplinks");
    for (std::int32_t link = 0; link < links_.size(); ++link) report_.known_links += links_.bytes_per_s(link) > 0 ? 1 : 0;
    if (plan != nullptr) {
      for (const Decision& d : plan->decisions)
        if (runs_now(d.action))
          add(d.job, d.shape, std::span(plan->entries).subspan(to_index(d.entry_begin), to_index(d.entry_end - d.entry_begin)));
    } else {
      for (const std::int32_t job : view_.job_order())
        if (view_.job().shape[to_index(job)] >= 0) add(job, view_.job().shape[to_index(job)], view_.jobs()[to_index(job)].entries);
    }
    add_links();
    add_speeds();
    add_pairs();
    add_priorities();
    add_rotations();
    add_clos(state, placed_, report_);
  }
  LinkReport take() { return std::move(report_); }

 private:
  void add(std::int32_t job, std::int32_t shape_index, std::span<const PlanEntry> entries) {
    const Job& description = *view_.jobs()[to_index(job)].job;
    const Shape& shape = description.shapes[to_index(shape_index)];
    std::vector<core::NodeGpus> nodes;
    core::set_nodes_at_work(shape, entries, nodes);
    placed_.push_back({job, nodes});
    if (nodes.size() < 2) return;
    if (core::placed_step(view_, description, shape_index, entries).span.one_nvlink_domain) return;
    const core::GangStep step = core::gang_step(view_, description, shape_index, entries);
    if (step.ns == 0 || (description.profile.gradient_bytes == 0 && !core::Traffic::stated(shape))) {
      report_.unknown.push_back(job);
      return;
    }
    const std::span<const core::LinkBytes> rows = traffic_.of(description, shape, entries);
    if (rows.empty()) return;
    GangOnLinks gang;
    gang.job = job;
    for (const core::NodeGpus& here : nodes) gang.gpus += here.gpus;
    gang.rows.assign(rows.begin(), rows.end());
    for (const core::LinkBytes& row : rows)
      gang.send_ns = std::max(gang.send_ns, core::mul_div(row.bytes, 1'000'000'000, links_.bytes_per_s(row.link)));
    gang.exposed_ppm = step.exposed_ppm;
    gang.step_ns = step.ns;
    if (step.included_ns != core::SharedSteps::kAlone) {
      // Communication that groups state is instead of what the profile's step has of it.
      const std::int64_t computes = gang.step_ns - core::mul_div(step.included_ns, gang.exposed_ppm, kPpm);
      const std::int64_t communicates = core::saturating_add(gang.send_ns, traffic_.latency_ns());
      gang.step_ns = std::max<std::int64_t>(1, core::saturating_add(computes, core::mul_div(communicates, gang.exposed_ppm, kPpm)));
    }
    gang.send_ns = std::clamp<std::int64_t>(gang.send_ns, 1, gang.step_ns);
    report_.gangs.push_back(std::move(gang));
  }

  void add_links() {
    std::map<std::int32_t, LoadedLink> by_link;
    for (std::size_t g = 0; g < report_.gangs.size(); ++g) {
      for (const core::LinkBytes& row : report_.gangs[g].rows) {
        LoadedLink& link = by_link[row.link];
        link.load_ppm = core::saturating_add(link.load_ppm, use_ppm(report_.gangs[g], row));
        link.gangs.push_back(static_cast<std::int32_t>(g));
      }
    }
    for (auto& [link, loaded] : by_link) {
      loaded.link = link;
      loaded.name = core::link_name(view_, link);
      loaded.bytes_per_s = links_.bytes_per_s(link);
      report_.links.push_back(std::move(loaded));
    }
    std::stable_sort(report_.links.begin(), report_.links.end(),
                     [](const LoadedLink& a, const LoadedLink& b) { return a.load_ppm > b.load_ppm; });
  }

  std::int64_t use_ppm(const GangOnLinks& gang, const core::LinkBytes& row) const {
    return nearest(Wide{row.bytes} * kPpm * 1'000'000'000, Wide{links_.bytes_per_s(row.link)} * gang.step_ns);
  }

  void add_speeds() {
    core::SharedSteps steps(links_);
    std::vector<core::MaxMinFlow> flows;
    for (std::size_t g = 0; g < report_.gangs.size(); ++g) {
      const GangOnLinks& gang = report_.gangs[g];
      steps.add(static_cast<std::int32_t>(g), gang.rows, gang.step_ns, gang.exposed_ppm);
      flows.push_back(core::flow_of(gang.rows));
    }
    steps.settle();
    capacity_.resize(to_index(links_.size()));
    for (std::int32_t link = 0; link < links_.size(); ++link)
      capacity_[to_index(link)] = std::min(links_.bytes_per_s(link), core::kMostLinkRate);
    const std::vector<std::int64_t> levels = core::max_min_levels(capacity_, flows);
    for (std::size_t g = 0; g < report_.gangs.size(); ++g) {
      report_.gangs[g].expected_ppm = steps.speed_ppm(static_cast<std::int32_t>(g));
      report_.gangs[g].max_min_ppm = speed_at(report_.gangs[g], levels[g]);
    }
  }

  void add_pairs() {
    std::map<std::pair<std::int32_t, std::int32_t>, SharingPair> pairs;
    std::map<std::int32_t, const LoadedLink*> by_link;
    for (const LoadedLink& link : report_.links) {
      for (std::size_t i = 0; i < link.gangs.size(); ++i) {
        for (std::size_t k = i + 1; k < link.gangs.size(); ++k) {
          SharingPair& pair = pairs[{link.gangs[i], link.gangs[k]}];
          ++pair.links;
          const auto use = [&](std::int32_t g) {
            const std::vector<core::LinkBytes>& rows = report_.gangs[to_index(g)].rows;
            const auto row =
                std::lower_bound(rows.begin(), rows.end(), link.link, [](const core::LinkBytes& a, std::int32_t b) { return a.link < b; });
            return use_ppm(report_.gangs[to_index(g)], *row);
          };
          pair.overlap_ppm = core::saturating_add(pair.overlap_ppm, nearest(Wide{use(link.gangs[i])} * use(link.gangs[k]), kPpm));
        }
      }
    }
    for (auto& [gangs, pair] : pairs) {
      std::tie(pair.first, pair.second) = gangs;
      report_.pairs.push_back(pair);
      sharing_.push_back(gangs);
    }
    std::stable_sort(report_.pairs.begin(), report_.pairs.end(),
                     [](const SharingPair& a, const SharingPair& b) { return a.overlap_ppm > b.overlap_ppm; });
    if (report_.pairs.size() > kMostPairs) {
      report_.pairs_left_out = static_cast<std::int64_t>(report_.pairs.size() - kMostPairs);
      report_.pairs.resize(kMostPairs);
    }
    core::SharedSteps steps(links_);
    for (SharingPair& pair : report_.pairs) add_pair_speeds(pair, steps);
  }

  void add_pair_speeds(SharingPair& pair, core::SharedSteps& steps) {
    const GangOnLinks& first = report_.gangs[to_index(pair.first)];
    const GangOnLinks& second = report_.gangs[to_index(pair.second)];
    steps.add(0, first.rows, first.step_ns, first.exposed_ppm);
    steps.add(1, second.rows, second.step_ns, second.exposed_ppm);
    steps.settle();
    pair.first_expected_ppm = steps.speed_ppm(0);
    pair.second_expected_ppm = steps.speed_ppm(1);
    steps.remove(0);
    steps.remove(1);
    steps.settle();
    // Of the links of these two alone.
    std::vector<std::int64_t> capacity;
    std::vector<core::MaxMinFlow> flows{core::flow_of(first.rows), core::flow_of(second.rows)};
    std::map<std::int32_t, std::int32_t> dense;
    for (const core::MaxMinFlow& flow : flows)
      for (const core::LinkPart& row : flow.links) dense.emplace(row.link, 0);
    for (auto& [link, index] : dense) {
      index = static_cast<std::int32_t>(capacity.size());
      capacity.push_back(capacity_[to_index(link)]);
    }
    for (core::MaxMinFlow& flow : flows)
      for (core::LinkPart& row : flow.links) row.link = dense[row.link];
    const std::vector<std::int64_t> levels = core::max_min_levels(capacity, flows);
    pair.first_max_min_ppm = speed_at(first, levels[0]);
    pair.second_max_min_ppm = speed_at(second, levels[1]);
  }

  static core::LinkJob link_job(const GangOnLinks& gang) {
    const std::int64_t exposed = core::mul_div(gang.send_ns, gang.exposed_ppm, kPpm);
    const std::int64_t compute = std::max<std::int64_t>(0, gang.step_ns - exposed);
    return {compute, gang.send_ns, std::max<std::int64_t>(0, compute - (gang.send_ns - exposed))};
  }

  // Times far beyond those of jobs are scaled, so that sums stay within 64 bits.
  static std::int64_t correction(core::LinkJob reference, core::LinkJob job) {
    const std::int64_t scale = std::max(reference.alone_ns(), job.alone_ns()) / core::kMostPeriodNs + 1;
    for (core::LinkJob* one : {&reference, &job})
      *one = {one->compute_ns / scale, std::max<std::int64_t>(1, one->send_ns / scale), one->begin_ns / scale};
    const auto [shorter, longer] = std::minmax({reference.alone_ns(), job.alone_ns()});
    const std::int64_t window = std::min(longer * kWindowSteps, core::saturating_mul(shorter, kMostWindowSteps));
    return core::correction_ppm(core::favoured_pair(reference, job, window), window);
  }

  void add_priorities() {
    std::vector<GangOnLinks>& gangs = report_.gangs;
    if (gangs.empty()) return;
    std::size_t reference = 0;
    const auto sends = [&](std::size_t g) { return core::mul_div(gangs[g].send_ns, kPpm, gangs[g].step_ns); };
    for (std::size_t g = 1; g < gangs.size(); ++g) reference = sends(g) > sends(reference) ? g : reference;
    const core::LinkJob favoured = link_job(gangs[reference]);
    std::vector<Wide> priority;
    for (std::size_t g = 0; g < gangs.size(); ++g) {
      const core::LinkJob job = link_job(gangs[g]);
      gangs[g].intensity_milli = core::saturate(Wide{gangs[g].gpus} * job.compute_ns * 1'000 / job.send_ns);
      if (g != reference) gangs[g].correction_ppm = correction(favoured, job);
      priority.push_back(Wide{gangs[g].intensity_milli} * gangs[g].correction_ppm);
    }
    std::vector<core::PriorityEdge> edges;
    for (const auto& [a, b] : sharing_) {
      const bool first = priority[to_index(a)] >= priority[to_index(b)];  // of equal ones the earlier job
      const std::int32_t high = first ? a : b;
      edges.push_back({high, first ? b : a, std::min<std::int64_t>(kPpm * kPpm, gangs[to_index(high)].intensity_milli + 1)});
    }
    const core::PriorityLevels levels = core::compressed_levels(static_cast<std::int32_t>(gangs.size()), edges, kPriorityLevels);
    for (std::size_t g = 0; g < gangs.size(); ++g) gangs[g].level = levels.level[g];
  }

  void add_rotations() {
    std::map<std::vector<std::int32_t>, SharedRotation> by_gangs;
    for (std::size_t l = 0; l < report_.links.size(); ++l) {
      const LoadedLink& link = report_.links[l];
      if (link.gangs.size() < 2) continue;
      std::vector<core::PeriodicTraffic> on;
      for (const std::int32_t g : link.gangs) {
        const GangOnLinks& gang = report_.gangs[to_index(g)];
        const auto row =
            std::find_if(gang.rows.begin(), gang.rows.end(), [&](const core::LinkBytes& one) { return one.link == link.link; });
        const std::int64_t rate = std::min(core::kMostLinkRate, core::mul_div(row->bytes, 1'000'000'000, gang.send_ns));
        on.push_back({std::min(gang.step_ns, core::kMostPeriodNs), std::min(gang.send_ns, core::kMostPeriodNs), rate});
      }
      core::BestRotations best = core::best_rotations(on, link.bytes_per_s);
      SharedRotation& shared = by_gangs[link.gangs];
      shared.gangs = link.gangs;
      shared.links.push_back(static_cast<std::int32_t>(l));
      if (shared.links.size() > 1 && best.score_ppm >= shared.best.score_ppm) continue;
      shared.best = std::move(best);
      std::rotate(shared.links.begin(), shared.links.end() - 1, shared.links.end());
    }
    std::vector<core::AffinityEdge> edges;
    for (auto& [gangs, shared] : by_gangs) {
      for (std::size_t k = 0; k < gangs.size(); ++k)
        edges.push_back({gangs[k], static_cast<std::int32_t>(report_.rotations.size()), shared.best.shift_ns[k]});
      report_.rotations.push_back(std::move(shared));
    }
    std::vector<std::int64_t> periods;
    for (const GangOnLinks& gang : report_.gangs) periods.push_back(gang.step_ns);
    report_.shifts = core::affinity_shifts(periods, static_cast<std::int32_t>(report_.rotations.size()), edges);
    std::stable_sort(report_.rotations.begin(), report_.rotations.end(),
                     [](const SharedRotation& a, const SharedRotation& b) { return a.best.score_ppm < b.best.score_ppm; });
  }

  StateView view_;
  core::NetworkLinks links_;
  core::Traffic traffic_;
  std::vector<std::int64_t> capacity_;
  std::vector<std::pair<std::int32_t, std::int32_t>> sharing_;  // gangs that share a link
  std::vector<PlacedGang> placed_;
  LinkReport report_;
};

}  // namespace

LinkReport link_report(const ClusterState& state, const Plan* plan) { return Collector(state, plan).take(); }

}  // namespace berth::report
