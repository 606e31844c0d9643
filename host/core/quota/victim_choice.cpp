#include "host/core/quota/victim_choice.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "berth/kernel/base/to_index.hpp"
#include "berth/kernel/place/releases.hpp"
#include "host/core/base/wide.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

// More are not priced: see `price`.
constexpr std::ptrdiff_t kMostCandidates = 400'000;
// No sum of prices is above it.
constexpr Wide kMostSum = Wide{1} << 62;

bool is_simple(const kernel::ProblemView& p, const kernel::DemandRow& demand) {
  if (demand.exact == 0 || demand.group_end != demand.group_begin + 1) return false;
  const kernel::GroupRow& row = p.groups[demand.group_begin];
  return row.share_ppm == kWholeGpu && row.segment_size == 0 && row.spread_most == 0 && row.members > 0;
}

bool has_room_in_quotas(const kernel::ProblemView& p, std::int32_t job, const kernel::DemandRow& demand) {
  const kernel::QueueColumnsOf<const std::int64_t> queues{p.queue_parent, p.queue_cap, p.queue_kept, p.queue_used, p.n_types};
  return kernel::queues_have_room(queues, p.job_queue[job], demand.gpu_type, demand.quota);
}

}  // namespace

bool is_flat_gang(const kernel::ProblemView& p, std::int32_t job) {
  return p.has_until == 0 && std::all_of(p.options + p.option_begin[job], p.options + p.option_end[job],
                                         [&](const kernel::OptionRow& option) { return is_simple(p, p.demands[option.demand]); });
}

void VictimChoice::add_question(std::int32_t row, std::int32_t topology, std::int32_t domain, std::int32_t begin, std::int32_t end) {
  demand_.push_back(row);
  topology_.push_back(topology);
  domain_.push_back(domain);
  begin_.push_back(begin);
  end_.push_back(end);
  out_begin_.push_back(static_cast<std::int32_t>(out_.size()));
  out_.resize(out_.size() + to_index(end - begin));
}

// Cost first, then the number of jobs, then how far behind they are in order: one sum for all three. Costs are divided by what they have
// in common. Where they are too many even so, they are rounded down to steps.
void VictimChoice::price(std::int64_t most_victims) {
  const auto n = std::ssize(open_);
  const std::int64_t job = n * n;  // more than all positions together
  std::int64_t step = 0, most = 0;
  for (const VictimCandidate& one : open_) {
    step = std::gcd(step, one.cost);
    most = std::max(most, one.cost);
  }
  const Wide unit = Wide{job} * (n + 1);  // more than all jobs and positions together
  const auto levels =
      static_cast<std::int64_t>(std::max<Wide>(1, std::min(Wide{kernel::kMostVictimCost} / (2 * unit), kMostSum / (unit * most_victims))));
  step = std::max({std::int64_t{1}, step, most / levels + (most % levels > 0 ? 1 : 0)});
  prices_.resize(open_.size());
  for (std::int64_t i = 0; i < n; ++i) {
    prices_[to_index(i)] = open_[to_index(i)].cost / step * static_cast<std::int64_t>(unit) + job + i;
  }
}

void VictimChoice::list_candidates() {
  for (const VictimCandidate& one : open_) {
    job_.push_back(one.job);
    rank_.push_back(one.rank);
  }
  cost_ = prices_;
}

// A question for each node that holds some candidate, with its own candidates, and for each that may have room without any.
void VictimChoice::ask_nodes(const kernel::ProblemView& p, std::int32_t row) {
  on_node_.clear();
  for (std::size_t i = 0; i < open_.size(); ++i) {
    for (std::int32_t h = p.held_begin[open_[i].job]; h < p.held_end[open_[i].job]; ++h) {
      on_node_.emplace_back(p.held[h].node, static_cast<std::int32_t>(i));
    }
  }
  std::sort(on_node_.begin(), on_node_.end());
  on_node_.erase(std::unique(on_node_.begin(), on_node_.end()), on_node_.end());
  for (std::size_t i = 0; i < on_node_.size();) {
    const std::int32_t node = on_node_[i].first;
    const auto begin = static_cast<std::int32_t>(job_.size());
    for (; i < on_node_.size() && on_node_[i].first == node; ++i) {
      const VictimCandidate& one = open_[to_index(on_node_[i].second)];
      job_.push_back(one.job);
      rank_.push_back(one.rank);
      cost_.push_back(prices_[to_index(on_node_[i].second)]);
    }
    add_question(row, kernel::kNone, node, begin, static_cast<std::int32_t>(job_.size()));
  }
  for (std::int32_t node = 0; node < p.n_nodes; ++node) {
    if (std::popcount(p.node_free[node]) >= p.demands[row].gpus) add_question(row, kernel::kNone, node, 0, 0);
  }
}

kernel::VictimsOutcome VictimChoice::choose(const kernel::ProblemView& p, const FindVictims& find, const kernel::DemandRow& demand,
                                            std::int32_t row) {
  for (std::vector<std::int32_t>* column : {&demand_, &topology_, &domain_, &begin_, &end_, &out_begin_, &job_, &rank_}) column->clear();
  cost_.clear();
  out_.clear();
  const kernel::GroupRow& group = p.groups[demand.group_begin];
  price(std::min<std::int64_t>(std::ssize(open_), demand.gpus));
  if (group.require_level == 0) {
    ask_nodes(p, row);
  } else {
    list_candidates();
    const auto n = static_cast<std::int32_t>(job_.size());
    if (group.require_level < 0 || group.require_level >= p.topology[group.require_topology].levels - 1) {
      add_question(row, 0, kernel::kNone, 0, n);
    } else {
      const kernel::TopologyView& tree = p.topology[group.require_topology];
      const std::int32_t* const level = tree.level_begin + group.require_level;
      for (std::int32_t domain = level[0]; domain < level[1]; ++domain) {
        if (p.domains.named[domain] != 0) add_question(row, group.require_topology, domain, 0, n);
      }
    }
  }
  const std::size_t questions = demand_.size();
  ends_.assign(questions, kNever);
  outcome_.assign(questions, {});
  highest_.assign(questions, 0);
  sum_.assign(questions, 0);
  count_.assign(questions, 0);
  members_.assign(questions, 0);
  const kernel::VictimsRequest request{static_cast<std::int32_t>(questions),
                                       static_cast<std::int32_t>(job_.size()),
                                       static_cast<std::int32_t>(out_.size()),
                                       demand_.data(),
                                       topology_.data(),
                                       domain_.data(),
                                       ends_.data(),
                                       begin_.data(),
                                       end_.data(),
                                       out_begin_.data(),
                                       job_.data(),
                                       rank_.data(),
                                       cost_.data()};
  find(p, request, {outcome_.data(), highest_.data(), sum_.data(), count_.data(), members_.data(), out_.data()});
  std::size_t best = questions;
  for (std::size_t q = 0; q < questions; ++q) {
    if (outcome_[q] == kernel::VictimsOutcome::kFits) return outcome_[q];
    if (outcome_[q] != kernel::VictimsOutcome::kChosen) continue;
    if (best == questions || std::tuple(highest_[q], sum_[q], count_[q]) < std::tuple(highest_[best], sum_[best], count_[best])) best = q;
  }
  chosen_.clear();
  if (best == questions) return kernel::VictimsOutcome::kNoRoom;
  for (std::int32_t i = begin_[best]; i < end_[best]; ++i) {
    if (out_[to_index(out_begin_[best] + i - begin_[best])] != 0) chosen_.push_back(job_[to_index(i)]);
  }
  return kernel::VictimsOutcome::kChosen;
}

void VictimChoice::arrange(const StateImpl& s, const kernel::ProblemView& p, const FindVictims& find, std::span<const std::int32_t> jobs,
                           const std::uint8_t* may_displace, std::span<const std::uint8_t> standing,
                           std::vector<VictimCandidate>& candidates) {
  without_room_.clear();
  is_chosen_.assign(s.jobs.size(), 0);
  const auto holds_shares = [&](const VictimCandidate& one) {
    return std::any_of(p.held + p.held_begin[one.job], p.held + p.held_end[one.job],
                       [](const kernel::HeldRow& row) { return row.share_ppm != kWholeGpu; });
  };
  if (std::ssize(candidates) > kMostCandidates || s.node.sharing_nodes != 0 || p.has_until != 0 ||
      std::any_of(candidates.begin(), candidates.end(), holds_shares))
    return;
  left_ = candidates;
  front_.clear();
  int looked_at = 0;
  for (const std::int32_t job : jobs) {
    if (left_.empty() || looked_at == kMostJobs) break;
    open_.clear();
    std::copy_if(left_.begin(), left_.end(), std::back_inserter(open_),
                 [&](const VictimCandidate& one) { return standing[to_index(one.job)] > standing[to_index(job)]; });
    if (open_.empty()) continue;
    kernel::VictimsOutcome outcome = kernel::VictimsOutcome::kNoRoom;
    bool asked = false;
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job] && outcome == kernel::VictimsOutcome::kNoRoom; ++o) {
      const std::int32_t row = p.options[o].demand;
      const kernel::DemandRow& demand = p.demands[row];
      if ((may_displace != nullptr && may_displace[o] == 0) || !is_simple(p, demand) || !has_room_in_quotas(p, job, demand)) continue;
      asked = true;
      outcome = choose(p, find, demand, row);
    }
    if (!asked) continue;
    ++looked_at;
    // What a victim of another job leaves over might do.
    if (outcome == kernel::VictimsOutcome::kNoRoom && front_.empty()) without_room_.push_back(job);
    if (outcome != kernel::VictimsOutcome::kChosen) continue;
    for (const std::int32_t victim : chosen_) is_chosen_[to_index(victim)] = 1;
    const auto is_open = [&](const VictimCandidate& one) { return is_chosen_[to_index(one.job)] == 0; };
    for (const VictimCandidate& one : open_) {
      if (!is_open(one)) front_.push_back(one);
    }
    std::erase_if(left_, [&](const VictimCandidate& one) { return !is_open(one); });
  }
  candidates = front_;
  candidates.insert(candidates.end(), left_.begin(), left_.end());
}

}  // namespace berth::core
