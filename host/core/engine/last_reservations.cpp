#include "host/core/engine/last_reservations.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

constexpr std::int32_t kNoRow = -1;

/// The job's index now; -1: it left the state.
std::int32_t index_of(const StateImpl& s, std::int32_t before, const std::string& id) {
  const bool same = to_index(before) < s.jobs.size() && s.jobs[to_index(before)].job != nullptr && s.jobs[to_index(before)].job->id == id;
  if (same) return before;
  const auto found = s.index_of_job.find(id);
  return found == s.index_of_job.end() ? -1 : found->second;
}

}  // namespace

void LastReservations::Reservations::read(const StateImpl& s, const Plan& plan) {
  rows.clear();
  entries.clear();
  for (const Decision& d : plan.decisions) {
    if (d.action != Action::kReserve) continue;
    const auto begin = static_cast<std::int32_t>(entries.size());
    entries.insert(entries.end(), plan.entries.begin() + d.entry_begin, plan.entries.begin() + d.entry_end);
    const auto end = static_cast<std::int32_t>(entries.size());
    rows.push_back({d.job, d.shape, s.job.version[to_index(d.job)], d.start_us, d.finish_us, d.rate, begin, end});
    if (ids.size() < rows.size()) ids.emplace_back();
    ids[rows.size() - 1] = s.jobs[to_index(d.job)].job->id;
  }
}

std::span<const PlanEntry> LastReservations::Reservations::entries_of(const Row& row) const {
  return std::span(entries).subspan(to_index(row.entry_begin), to_index(row.entry_end - row.entry_begin));
}

bool LastReservations::same(const Reservations& a, const Row& of_a, const Reservations& b, const Row& of_b) {
  if (of_a.version != of_b.version || of_a.shape != of_b.shape || of_a.start != of_b.start) return false;
  if (of_a.finish != of_b.finish || of_a.rate != of_b.rate) return false;
  const std::span<const PlanEntry> one = a.entries_of(of_a), other = b.entries_of(of_b);
  return std::equal(one.begin(), one.end(), other.begin(), other.end());
}

bool LastReservations::is_base_of(const StateImpl& s, const Request& request) const {
  return revision_ > 0 && cluster_ == s.cluster_version() && policy_ == request.policy && params_ == request.params &&
         seed_ == request.seed && max_iterations_ == request.max_iterations;
}

// Leaves `next_.rows` as it is. Decisions about reservations that stand become kWait, which a plan of changes leaves out.
void LastReservations::list_differences(const StateImpl& s, Plan& plan) {
  position_.assign(s.jobs.size(), kNoRow);
  std::vector<std::int32_t>& dropped = plan.reservations_dropped;
  for (std::size_t i = 0; i < last_.rows.size(); ++i) {
    const std::int32_t job = index_of(s, last_.rows[i].job, last_.ids[i]);
    if (job < 0) continue;
    position_[to_index(job)] = static_cast<std::int32_t>(i);
  }
  std::size_t row = 0;
  for (Decision& d : plan.decisions) {
    const std::int32_t position = position_[to_index(d.job)];
    if (d.action == Action::kReserve) {
      const Row& now = next_.rows[row++];
      const bool stands = position >= 0 && same(last_, last_.rows[to_index(position)], next_, now);
      if (stands) d.action = Action::kWait;
    } else if (position >= 0 && (d.action == Action::kWait || d.action == Action::kKeep)) {
      dropped.push_back(d.job);
    }
  }
}

void LastReservations::follow(const StateImpl& s, const Request& request, Plan& plan) {
  if (plan.totals.reserves > 0) {
    next_.read(s, plan);
  } else {
    next_.rows.clear();
  }
  if (request.changes_only) {
    if (is_base_of(s, request)) {
      plan.reservations_since = revision_;
      list_differences(s, plan);
    }
    leave_out_unchanged(plan);
  }
  std::swap(last_, next_);
  // Where the plan was cut short by the clock, no other decision says what it reserved.
  const bool repeats = plan.stopped_by == "done" || plan.stopped_by == "iterations";
  revision_ = repeats && !last_.rows.empty() ? s.revision : 0;
  if (revision_ == 0) return;
  cluster_ = s.cluster_version();
  policy_ = request.policy;
  params_ = request.params;
  seed_ = request.seed;
  max_iterations_ = request.max_iterations;
}

}  // namespace berth::core
