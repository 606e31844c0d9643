#include "host/core/engine/run_list.hpp"

#include <algorithm>
#include <bit>

#include "berth/error.hpp"
#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_view.hpp"

namespace berth::core {
namespace {

std::uint64_t held_on(const kernel::ProblemView& p, std::int32_t job, std::int32_t node) {
  std::uint64_t held = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) {
    if (p.held[h].node == node) held |= p.held[h].mask;
  }
  return held;
}

/// Whole GPUs of a node are one row, shares one each.
template <class Take>
void each_row(const RunLine& line, std::int32_t share_ppm, const Take& take) {
  std::int32_t member = 0;
  for (const NamedGpus& one : line.places) {
    if (share_ppm == kWholeGpu) {
      take({one.node, 0, 0, std::popcount(one.gpus), one.gpus, share_ppm, 0});
      continue;
    }
    for (std::uint64_t left = one.gpus; left != 0; left &= left - 1) take({one.node, 0, member++, 1, left & (~left + 1), share_ppm, 0});
  }
}

}  // namespace

std::int32_t flat_option(const StateView& view, std::int32_t job, std::int32_t gpus, std::int32_t gpu_type) {
  const StateImpl& s = impl_of(view);
  const kernel::ProblemView& p = s.problem();
  for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
    const kernel::DemandRow& demand = p.demands[p.options[o].demand];
    const kernel::GroupRow& group = p.groups[demand.group_begin];
    const bool flat = demand.group_end == demand.group_begin + 1 && group.gpus == 1;
    if (flat && group.members == gpus && (gpu_type < 0 || demand.gpu_type == gpu_type)) return o - p.option_begin[job];
  }
  return -1;
}

const std::vector<std::uint8_t>& RunList::begin(const StateView& view, Packing packing) {
  const StateImpl& s = impl_of(view);
  if (served_.lock() != s.identity) {
    // Versions count the changes of one state: results kept by version are not valid for another state.
    input_ = {};
    builder_ = {};
    validator_ = {};
    certificates_ = {};
    served_ = s.identity;
  }
  rules_.packing = packing;
  problem_.build(s, rules_);
  rejected_ = &builder_.reject(s, problem_.view(), certificates_);
  return *rejected_;
}

// Keeps its GPUs, unless an earlier job needs them.
bool RunList::stays(const StateImpl& s, std::int32_t job) const {
  const kernel::ProblemView& p = s.problem();
  const RunLine* const line = line_of(job);
  if (line == nullptr) return false;
  if (!line->places.empty()) {
    std::int32_t held = 0;
    for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h) held += std::popcount(p.held[h].mask);
    return line->gpus == held && std::all_of(line->places.begin(), line->places.end(),
                                             [&](const NamedGpus& one) { return held_on(p, job, one.node) == one.gpus; });
  }
  if (line->gpus > 0 && line->gpus != s.job.gpus[to_index(job)]) return false;
  return std::none_of(p.held + p.held_begin[job], p.held + p.held_end[job],
                      [&](const kernel::HeldRow& row) { return (named_[to_index(row.node)] & row.mask) != 0; });
}

void RunList::sort_out(const StateImpl& s) {
  line_of_.assign(s.jobs.size(), -1);
  named_.assign(s.nodes.size(), 0);
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    line_of_[to_index(lines_[i].job)] = static_cast<std::int32_t>(i);
    for (const NamedGpus& one : lines_[i].places) named_[to_index(one.node)] |= one.gpus;
  }
  left_.assign(s.jobs.size(), 0);
  gone_ = problem_.lost();
  std::vector<std::int32_t>& rest = order_;
  rest.clear();
  for (const std::int32_t job : s.job_order) {
    const bool repaired = problem_.repaired()[to_index(job)] >= 0;
    if (repaired || (*rejected_)[to_index(job)] != 0) continue;
    if (s.job.running[to_index(job)] != 0 && gone_[to_index(job)] == 0 && !stays(s, job)) left_[to_index(job)] = gone_[to_index(job)] = 1;
    if (line_of(job) == nullptr) rest.push_back(job);
  }
  visited_.clear();
  std::vector<std::int32_t> named;
  for (const RunLine& line : lines_) {
    if (line.places.empty()) {
      visited_.push_back(line.job);
    } else if (problem_.repaired()[to_index(line.job)] < 0 && (s.job.running[to_index(line.job)] == 0 || gone_[to_index(line.job)] != 0)) {
      named.push_back(line.job);
    }
  }
  n_named_ = named.size();
  n_visited_ = visited_.size();
  order_.insert(order_.begin(), visited_.begin(), visited_.end());
  order_.insert(order_.begin(), named.begin(), named.end());
}

void RunList::set_aside(const StateImpl& s) {
  const kernel::ProblemView& p = problem_.view();
  before_.begin(p);
  for (const std::int32_t job : s.job_order) {
    if (left_[to_index(job)] != 0) before_.release(job);
  }
  // The demand of a job with named GPUs is not cut into whole nodes.
  own_.assign(p.options, p.options + p.n_options);
  for (std::size_t i = 0; i < n_named_; ++i) {
    const std::int32_t job = order_[i];
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) own_[to_index(o)] = s.problem().options[o];
  }
  planned_ = before_.view();
  planned_.options = own_.data();
  visited_state_.begin(planned_);
  for (std::size_t i = 0; i < n_named_; ++i) {
    const RunLine& line = *line_of(order_[i]);
    const std::int32_t option = flat_option(s, line.job, line.gpus, s.node.type[to_index(line.places.front().node)]);
    const kernel::DemandRow& demand = p.demands[own_[to_index(p.option_begin[line.job] + option)].demand];
    each_row(line, p.groups[demand.group_begin].share_ppm, [&](const kernel::PlacedRow& row) { visited_state_.take(demand, row); });
    visited_state_.charge_queue(line.job, demand.gpu_type, demand.quota);
  }
}

void RunList::list_options(const StateImpl& s) {
  const kernel::ProblemView& p = planned_;
  begin_.assign(1, 0);
  options_.clear();
  option_.clear();
  run_.clear();
  for (std::int32_t job = 0; job < p.n_jobs; ++job) {
    const RunLine* const line = s.jobs[to_index(job)].job == nullptr ? nullptr : line_of(job);
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      if (line != nullptr && line->gpus > 0 && p.demands[own_[to_index(o)].demand].gpus != line->gpus) continue;
      options_.push_back(own_[to_index(o)]);
      option_.push_back(o - p.option_begin[job]);
      run_.push_back(request_.option_run[o]);
    }
    begin_.push_back(static_cast<std::int32_t>(options_.size()));
  }
  visited_view_ = visited_state_.view();
  kernel::set_options(visited_view_, begin_.data(), options_.data());
}

// Named GPUs follow those of the pass in the entries.
void RunList::give_named(const kernel::PlaceResult& result) const {
  for (std::size_t i = 0; i < n_named_; ++i) {
    const RunLine& line = *line_of(order_[i]);
    result.outcome[i] = kernel::Outcome::kPlaced;
    result.displaced_by[i] = kernel::kNone;
    result.entry_begin[i] = *result.n_entries;
    const kernel::DemandRow& demand = planned_.demands[own_[to_index(planned_.option_begin[line.job] + result.option[i])].demand];
    each_row(line, planned_.groups[demand.group_begin].share_ppm,
             [&](const kernel::PlacedRow& row) { result.entries[(*result.n_entries)++] = row; });
    result.entry_end[i] = *result.n_entries;
  }
}

kernel::PlaceResult RunList::pass(const StateImpl& s, const Request& request, Plan& plan) {
  PolicyEntry rule{};
  rule.preemptive = true;
  const PassInput::Marks marks{gone_, problem_.failures(), *rejected_};
  input_.look(s);
  input_.order(visited_);
  request_ = input_.request(s, rule, rules_, marks, 0);
  list_options(s);
  kernel::PlaceRequest passing = request_;
  passing.option_run = run_.data();
  passing.may_displace = input_.may_displace(s, rules_, visited_view_);

  const kernel::PlaceResult all = result_.prepare(static_cast<std::int32_t>(order_.size()), entry_bound(planned_));
  kernel::PlaceResult part = all;
  for (auto* column : {&part.option, &part.entry_begin, &part.entry_end, &part.displaced_by}) *column += n_named_;
  part.outcome += n_named_;
  backends_.use_device(request.device);
  plan.backend = backends_.run(request.backend, request.threads, plan.backend_note, [&](PlacementBackend& backend) {
    backend.place(visited_view_, {passing, {}, nullptr}, part);
  });
  for (std::size_t i = 0; i < n_visited_; ++i) {
    if (part.option[i] >= 0) part.option[i] = option_[to_index(begin_[to_index(visited_[i])] + part.option[i])];
  }
  overruns_.withdraw(s, planned_, request_, part);
  for (std::size_t i = 0; i < n_visited_; ++i) {
    if (part.displaced_by[i] >= 0) part.displaced_by[i] += static_cast<std::int32_t>(n_named_);
  }
  for (std::size_t i = 0; i < n_named_; ++i) {
    const RunLine& line = *line_of(order_[i]);
    all.option[i] = flat_option(s, line.job, line.gpus, s.node.type[to_index(line.places.front().node)]);
  }
  give_named(all);
  for (std::size_t i = n_named_ + n_visited_; i < order_.size(); ++i) {
    all.outcome[i] = kernel::Outcome::kWaits;
    all.option[i] = all.displaced_by[i] = kernel::kNone;
    all.entry_begin[i] = all.entry_end[i] = 0;
  }
  request_.n = request_.limit = static_cast<std::int32_t>(order_.size());
  request_.order = order_.data();
  return all;
}

const std::vector<std::string>& RunList::plan(const StateView& view, std::span<const RunLine> lines, const Request& request, Plan& plan) {
  const StateImpl& s = impl_of(view);
  lines_ = lines;
  sort_out(s);
  set_aside(s);
  const kernel::PlaceResult placed = pass(s, request, plan);
  plan.revision = s.revision;
  plan.now_us = s.now;
  plan.policy = request.policy;
  plan.params = request.params;
  plan.seed = request.seed;
  plan.iterations = static_cast<std::int64_t>(n_visited_);
  plan.stopped_by = "done";
  plan.tables = s.tables_hash();
  plan.order_until_us = kNever;
  plan.bound = {};
  plan.history.clear();
  plan.timing = {};
  builder_.build(s,
                 {&request_, &placed, &planned_, &problem_.lost(), &problem_.repaired(), &problem_.repairs(), &input_.remaining(), nullptr,
                  nullptr, &left_},
                 plan);
  const bool asked_for = n_named_ > 0 || std::find(left_.begin(), left_.end(), 1) != left_.end();
  for (Decision& d : plan.decisions) {
    if (line_of(d.job) != nullptr || (d.action != Action::kWait && d.action != Action::kPreempt)) continue;
    if (problem_.lost()[to_index(d.job)] != 0) continue;
    d.reason = {};
    d.reason.code = ReasonCode::kNotChosen;
  }
  ValidateOptions options;
  options.known = &certificates_;
  const std::vector<std::string>& violations = validator_.check(s.facts(), plan, options);
  if (!violations.empty() && !asked_for) throw InternalError("the plan of a list of jobs failed validation: " + violations.front());
  return violations;
}

}  // namespace berth::core
