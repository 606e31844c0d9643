#include "host/core/placement/overruns.hpp"

#include <algorithm>

#include "berth/kernel/base/to_index.hpp"
#include "host/core/placement/plan_rows.hpp"
#include "host/core/state/job_rates.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {
namespace {

using kernel::Outcome;

bool starts(Outcome outcome) { return outcome == Outcome::kPlaced || outcome == Outcome::kMoved; }

}  // namespace

TimeUs Overruns::finish(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceResult& r, std::int32_t job, std::int32_t i,
                        TimeUs start) {
  const kernel::OptionRow& option = p.options[p.option_begin[job] + r.option[i]];
  const Job& description = *s.jobs[to_index(job)].job;
  entries_.clear();
  append_placed(s, p.demands[option.demand], description.shapes[to_index(option.shape)],
                {r.entries + r.entry_begin[i], r.entries + r.entry_end[i]}, entries_);
  std::int64_t rate = description.profile.kind == ProfileKind::kOpaque ? 0 : placed_rate(s, description, option.shape, entries_);
  if (rate <= 0) rate = s.jobs[to_index(job)].option_rate[to_index(r.option[i])];
  const TimeUs run = s.run_or_limit(job, rate);
  return run == kNever || run > kNever - 1 - start ? kNever : start + run;
}

bool Overruns::reservation_holds(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                                 const kernel::PlaceResult& r, std::int32_t reserved) {
  reserved_gpus_.assign(s.nodes.size(), 0);
  for (std::int32_t e = r.entry_begin[reserved]; e < r.entry_end[reserved]; ++e)
    reserved_gpus_[to_index(r.entries[e].node)] |= r.entries[e].mask;
  for (std::int32_t i = 0; i < request.n; ++i) {
    if (!starts(r.outcome[i])) continue;
    bool shared = false;
    for (std::int32_t e = r.entry_begin[i]; e < r.entry_end[i]; ++e) {
      shared = shared || (r.entries[e].mask & reserved_gpus_[to_index(r.entries[e].node)]) != 0;
    }
    if (shared && finish(s, p, r, request.order[i], i, s.now) > *r.reserve_at) return false;
  }
  return true;
}

void Overruns::withdraw(const StateImpl& s, const kernel::ProblemView& p, const kernel::PlaceRequest& request,
                        const kernel::PlaceResult& r) {
  const auto wait = [&](std::int32_t i) {
    r.outcome[i] = request.running[i] != 0 ? Outcome::kPreempted : Outcome::kWaits;
    r.option[i] = kernel::kNone;
    r.entry_begin[i] = r.entry_end[i] = 0;
  };
  std::int32_t reserved = kernel::kNone;
  for (std::int32_t i = 0; i < request.n; ++i) {
    const bool later = r.outcome[i] == Outcome::kReserved;
    if (later) reserved = i;
    if (p.has_until == 0 || !(starts(r.outcome[i]) || later)) continue;
    TimeUs until = kNever;
    for (std::int32_t e = r.entry_begin[i]; e < r.entry_end[i]; ++e) until = std::min(until, p.node_until[r.entries[e].node]);
    if (until == kNever || finish(s, p, r, request.order[i], i, later ? *r.reserve_at : s.now) <= until) continue;
    wait(i);
    if (later) reserved = kernel::kNone;
  }
  if (reserved != kernel::kNone && !reservation_holds(s, p, request, r, reserved)) wait(reserved);
}

}  // namespace berth::core
