#include "host/core/placement/admission.hpp"

#include <bit>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

std::int64_t held_ppm(const kernel::ProblemView& p, std::int32_t job) {
  std::int64_t sum = 0;
  for (std::int32_t h = p.held_begin[job]; h < p.held_end[job]; ++h)
    sum += std::int64_t{std::popcount(p.held[h].mask)} * p.held[h].share_ppm;
  return sum;
}

}  // namespace

std::int32_t CountedAdmission::admit(const StateImpl& s, const kernel::ProblemView& p, std::span<const kernel::TakenRow> taken,
                                     std::vector<std::int32_t>& order, std::vector<std::uint8_t>& running,
                                     std::vector<std::uint8_t>& victim_ok) {
  left_.assign(to_index(p.n_types), 0);
  for (std::int32_t n = 0; n < p.n_nodes; ++n)
    left_[to_index(p.node_type[n])] += std::int64_t{std::popcount(s.node.usable[to_index(n)])} * kWholeGpu;
  for (const kernel::TakenRow& row : taken)
    left_[to_index(p.node_type[row.node])] -= std::int64_t{std::popcount(p.node_free[row.node] & row.mask)} * kWholeGpu;
  const auto hold = [&](std::int32_t job) {
    if (p.held_type[job] >= 0) left_[to_index(p.held_type[job])] -= held_ppm(p, job);
  };
  fixed_.assign(s.jobs.size(), 0);
  for (const std::int32_t job : s.job_order) fixed_[to_index(job)] = s.job.running[to_index(job)];
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (running[i] == 0 || victim_ok[i] != 0) fixed_[to_index(order[i])] = 0;
  }
  for (const std::int32_t job : s.job_order) {
    if (fixed_[to_index(job)] != 0) hold(job);
  }
  const auto passes = [&](std::size_t i) {
    const std::int32_t job = order[i];
    if (running[i] != 0) {
      if (victim_ok[i] == 0) return true;
      if (p.held_type[job] < 0 || held_ppm(p, job) > left_[to_index(p.held_type[job])]) return false;
      hold(job);
      return true;
    }
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      const kernel::DemandRow& demand = p.demands[p.options[o].demand];
      if (demand.quota > left_[to_index(demand.gpu_type)]) continue;
      left_[to_index(demand.gpu_type)] -= demand.quota;
      return true;
    }
    return false;
  };
  std::size_t admitted = 0;
  behind_.clear();
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (!passes(i)) {
      behind_.push_back({order[i], running[i]});
      continue;
    }
    order[admitted] = order[i];
    running[admitted] = running[i];
    victim_ok[admitted++] = 0;
  }
  // Running jobs that are not admitted are victims, or they would have passed.
  for (std::size_t i = 0; i < behind_.size(); ++i) {
    order[admitted + i] = behind_[i].job;
    running[admitted + i] = victim_ok[admitted + i] = behind_[i].running;
  }
  return static_cast<std::int32_t>(admitted);
}

void CountedAdmission::settle(const kernel::PlaceRequest& request, std::int32_t admitted, const kernel::PlaceResult& r) {
  std::int32_t waits = kernel::kNone;  // the first admitted job without a place
  for (std::int32_t i = 0; i < admitted; ++i) {
    if (r.outcome[i] == Outcome::kBudget) return;  // the pass was cut off: nothing is known of the others
    const bool has_gpus = r.outcome[i] == Outcome::kKept || r.outcome[i] == Outcome::kPlaced || r.outcome[i] == Outcome::kMoved;
    if (!has_gpus && waits < 0) waits = i;
  }
  for (std::int32_t i = admitted; i < request.n; ++i) {
    if (r.outcome[i] == Outcome::kBudget) r.outcome[i] = waits < 0 ? Outcome::kWaits : Outcome::kBehind;
    if (r.outcome[i] != Outcome::kKept || waits < 0) continue;
    r.outcome[i] = Outcome::kPreempted;
    r.displaced_by[i] = waits;
  }
}

}  // namespace berth::core
