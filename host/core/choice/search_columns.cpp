#include "host/core/choice/search_columns.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/model/costs.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kNvlinkTopology = static_cast<std::int32_t>(TopologyKind::kNvlink);

}  // namespace

void SearchColumns::begin(const Asked& a) {
  empty_.begin(a.problem);
  const ChosenShapes choice = a.choice.chosen();
  current_.assign(choice.jobs.size(), kernel::kNone);
  for (std::size_t k = 0; k < choice.options.size(); ++k) {
    if (choice.options[k].current) current_[to_index(choice.job_of[to_index(choice.options[k].job)])] = static_cast<std::int32_t>(k);
  }
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    if (current_[j] >= 0) empty_.release(choice.jobs[j]);
  }
}

void SearchColumns::take(std::int32_t job, const kernel::DemandRow& demand, std::span<const kernel::PlacedRow> entries) {
  for (const kernel::PlacedRow& entry : entries) empty_.take(demand, entry);
  empty_.charge_queue(job, demand.gpu_type, demand.quota);
}

void SearchColumns::finish(const Asked& a) {
  const ChosenShapes choice = a.choice.chosen();
  view_ = {};
  view_.problem = empty_.view();
  view_.now = a.state.now;
  view_.packing = pass_packing(a.rules.packing);
  view_.max_tries = a.rules.max_tries;
  view_.n_jobs = static_cast<std::int32_t>(choice.jobs.size());
  view_.problem_job = choice.jobs.data();
  view_.option_begin = choice.option_begin.data();
  add_options(a, choice);
  add_placed_values(a, choice);
  add_fragments(a);
  add_rooms(view_.problem);
}

void SearchColumns::add_options(const Asked& a, const ChosenShapes& choice) {
  const kernel::ProblemView& p = a.problem;
  demand_.clear();
  run_.clear();
  for (const ChoiceOption& one : choice.options) {
    demand_.push_back(p.options[p.option_begin[one.job] + one.option].demand);
    run_.push_back(p.has_until != 0 ? a.state.option_run(one.job, to_index(one.option)) : kNever);
  }
  rank_begin_.assign(1, 0);
  ranked_.clear();
  preferred_.clear();
  best_net_.clear();
  fill_order_.clear();
  for (std::size_t j = 0; j < choice.jobs.size(); ++j) {
    const std::size_t first = ranked_.size();
    for (std::int32_t k = choice.option_begin[j]; k < choice.option_begin[j + 1]; ++k) {
      if (choice.value[to_index(k)] > 0) ranked_.push_back(k);
    }
    std::sort(ranked_.begin() + static_cast<std::ptrdiff_t>(first), ranked_.end(),
              [&](std::int32_t x, std::int32_t y) { return std::tuple(choice.net(y), x) < std::tuple(choice.net(x), y); });
    const bool some = first < ranked_.size();
    best_net_.push_back(some ? choice.net(ranked_[first]) : INT64_MIN);
    preferred_.push_back(best_net_.back() > 0 ? ranked_[first] : kernel::kNone);
    rank_begin_.push_back(static_cast<std::int32_t>(ranked_.size()));
    fill_order_.push_back(static_cast<std::int32_t>(j));
  }
  std::sort(fill_order_.begin(), fill_order_.end(),
            [&](std::int32_t x, std::int32_t y) { return std::tuple(best_net_[to_index(y)], x) < std::tuple(best_net_[to_index(x)], y); });
  view_.demand = demand_.data();
  view_.run = run_.data();
  view_.rank_begin = rank_begin_.data();
  view_.ranked = ranked_.data();
  view_.preferred = preferred_.data();
  view_.fill_order = fill_order_.data();
  view_.current = current_.data();
}

// Losses by a plan's terms of places (host/core/choice/plan_terms.cpp), for each class of locality. Moving lowers the
// value by at least one unit.
void SearchColumns::add_placed_values(const Asked& a, const ChosenShapes& choice) {
  const bool span = has_term(a.terms, kernel::PlanTerm::kSpan);
  const bool migration = has_term(a.terms, kernel::PlanTerm::kMigration);
  if (span) locality_.set(a.state);
  const std::int32_t classes = span ? locality_.classes() : 1;
  view_.n_classes = classes;
  placed_value_.clear();
  moved_value_.assign(choice.jobs.size() * to_index(classes), 0);
  for (std::size_t k = 0; k < choice.options.size(); ++k) {
    const ChoiceOption& one = choice.options[k];
    for (std::int32_t c = 0; c < classes; ++c) {
      kernel::ShapeTerms here = choice.values.shapes()[k];
      if (span) here = at_speed(here, locality_.speed(a.state, one, c, here.speed));
      placed_value_.push_back(choice.value[k] - a.choice.values().loss(k, here));
      if (!one.current) continue;
      if (migration) here.cost = migrate_cost(a.state.jobs[to_index(one.job)].job->costs);
      const std::int64_t moved = choice.value[k] - a.choice.values().loss(k, here);
      moved_value_[to_index(choice.job_of[to_index(one.job)]) * to_index(classes) + to_index(c)] =
          std::min(moved, placed_value_.back() - 1);
    }
  }
  view_.placed_value = placed_value_.data();
  view_.moved_value = moved_value_.data();
}

void SearchColumns::add_fragments(const Asked& a) {
  view_.fragment = nullptr;
  if (!has_term(a.terms, kernel::PlanTerm::kFragmentation)) return;
  view_.fragment = a.choice.fragments(a.state).data();
}

void SearchColumns::add_rooms(const kernel::ProblemView& p) {
  type_begin_.assign(to_index(p.n_types) + 1, 0);
  node_room_.clear();
  room_.assign(to_index(p.domains.n_domains), 0);
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    ++type_begin_[to_index(p.node_type[n]) + 1];
    node_room_.push_back(std::popcount(p.node_free[n]));
  }
  for (std::int32_t t = 0; t < p.n_types; ++t) type_begin_[to_index(t) + 1] += type_begin_[to_index(t)];
  type_node_.resize(to_index(p.n_nodes));
  for (std::int32_t n = 0; n < p.n_nodes; ++n) type_node_[to_index(type_begin_[to_index(p.node_type[n])]++)] = n;
  for (std::int32_t t = p.n_types; t > 0; --t) type_begin_[to_index(t)] = type_begin_[to_index(t) - 1];
  type_begin_[0] = 0;
  for (const kernel::TopologyView& topology : p.topology) {
    for (std::int32_t level = 1; level < topology.levels; ++level) {
      for (std::int32_t n = 0; n < p.n_nodes; ++n)
        room_[to_index(topology.node_domain[std::int64_t{level} * p.n_nodes + n])] += node_room_[to_index(n)];
    }
  }
  // NVLink domains where there are any, else the lowest switch domains, else nodes.
  const std::int32_t topology = p.topology[kNvlinkTopology].levels > 2 ? kNvlinkTopology : 0;
  const bool domains = p.topology[topology].levels > 2;
  block_.clear();
  for (std::int32_t n = 0; n < p.n_nodes; ++n) {
    block_.push_back(domains ? p.topology[topology].node_domain[p.n_nodes + n] - p.topology[topology].level_begin[1] : n);
  }
  view_.n_blocks = domains ? p.topology[topology].level_begin[2] - p.topology[topology].level_begin[1] : p.n_nodes;
  view_.block = block_.data();
  view_.type_begin = type_begin_.data();
  view_.type_node = type_node_.data();
  view_.room = room_.data();
  view_.node_room = node_room_.data();
}

}  // namespace berth::core
