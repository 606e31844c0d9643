#include "host/reference/plan_search/value.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "berth/cluster.hpp"
#include "host/reference/place/capacity.hpp"

namespace berth::reference {
namespace {

using kernel::kNone;
using kernel::PlacedRow;
using kernel::PlanSearchView;

constexpr auto kPlanSearchSwitch = static_cast<std::int32_t>(TopologyKind::kSwitch);
constexpr auto kPlanSearchNvlink = static_cast<std::int32_t>(TopologyKind::kNvlink);

bool in_one_domain(const PlanSearchView& view, const std::vector<PlacedRow>& entries, std::int32_t topology, std::int32_t level) {
  const std::int32_t domain = domain_of(view.problem, topology, level, entries.front().node);
  return std::all_of(entries.begin(), entries.end(),
                     [&](const PlacedRow& entry) { return domain_of(view.problem, topology, level, entry.node) == domain; });
}

}  // namespace

PlanSearchHolding plan_search_home(const PlanSearchView& view, std::int32_t job) {
  PlanSearchHolding home{view.current[job], true, {}};
  const std::int32_t in_problem = view.problem_job[job];
  for (std::int32_t h = view.problem.held_begin[in_problem]; h < view.problem.held_end[in_problem]; ++h) {
    const kernel::HeldRow& held = view.problem.held[h];
    const auto index = static_cast<std::int32_t>(home.entries.size());
    home.entries.push_back({held.node, 0, index, 1, held.mask, kWholeGpu, 0});
  }
  return home;
}

std::vector<Piece> plan_search_pieces(const PlanSearchView& view, std::int32_t job, const PlanSearchHolding& holding) {
  std::vector<Piece> pieces;
  if (holding.home) {
    const std::int32_t in_problem = view.problem_job[job];
    for (std::int32_t h = view.problem.held_begin[in_problem]; h < view.problem.held_end[in_problem]; ++h) {
      pieces.push_back(piece_of(view.problem.held[h]));
    }
  } else {
    for (const PlacedRow& entry : holding.entries) {
      const kernel::DemandRow& demand = view.problem.demands[view.demand[holding.option]];
      pieces.push_back(piece_of(view.problem.groups[demand.group_begin + entry.group], entry));
    }
  }
  return pieces;
}

std::int32_t plan_search_class(const PlanSearchView& view, const std::vector<PlacedRow>& entries) {
  if (view.n_classes == 1) return 0;
  if (in_one_domain(view, entries, kPlanSearchSwitch, 0)) return 0;
  // With two levels the topology has only nodes and the cluster, and names no domain.
  if (view.problem.topology[kPlanSearchNvlink].levels > 2 && in_one_domain(view, entries, kPlanSearchNvlink, 1) &&
      view.problem.domains.named[domain_of(view.problem, kPlanSearchNvlink, 1, entries.front().node)] != 0) {
    return 1;
  }
  std::int32_t level = 1;
  while (!in_one_domain(view, entries, kPlanSearchSwitch, level)) ++level;  // the cluster contains all of them
  return level + 1;
}

std::int64_t plan_search_value(const PlanSearchView& view, std::int32_t job, const PlanSearchHolding& holding) {
  if (holding.option == kNone) return 0;
  const std::ptrdiff_t lies = plan_search_class(view, holding.entries);
  const bool moved = holding.option == view.current[job] && !holding.home;
  return moved ? view.moved_value[std::ptrdiff_t{job} * view.n_classes + lies]
               : view.placed_value[std::ptrdiff_t{holding.option} * view.n_classes + lies];
}

std::int64_t plan_search_loss(const PlanSearchView& view, const State& state, std::int32_t node) {
  if (view.fragment == nullptr) return 0;
  const std::int32_t idle = std::popcount(state.free[static_cast<std::size_t>(node)]);
  return view.fragment[std::ptrdiff_t{view.problem.node_type[node]} * (kMaxGpusPerNode + 1) + idle];
}

}  // namespace berth::reference
