#include "bench/support/passes.hpp"

#include "host/core/state/state_view.hpp"

namespace berth::bench {

PassColumns::PassColumns(const ClusterState& state) {
  const StateImpl& s = state.impl();
  const kernel::ProblemView& p = s.problem();
  for (const std::int32_t job : s.job_order) {
    if (s.job.running[static_cast<std::size_t>(job)] == 0) waiting.push_back(job);
  }
  option_run.assign(static_cast<std::size_t>(p.n_options), kNever);
  for (const std::int32_t job : waiting) {
    for (std::int32_t o = p.option_begin[job]; o < p.option_end[job]; ++o) {
      option_run[static_cast<std::size_t>(o)] = s.option_run(job, static_cast<std::size_t>(o - p.option_begin[job]));
    }
  }
  none.assign(waiting.size(), 0);
  preemption_class.assign(static_cast<std::size_t>(p.n_jobs), 0);
}

kernel::PlaceRequest PassColumns::request(TimeUs now, const std::vector<std::int32_t>& order) const {
  kernel::PlaceRequest r{};
  r.now = now;
  r.n = static_cast<std::int32_t>(order.size());
  r.order = order.data();
  r.running = none.data();
  r.victim_ok = none.data();
  r.preemption_class = preemption_class.data();
  r.job_rank = preemption_class.data();  // only read where reservations are made
  r.option_run = option_run.data();
  r.discipline = kernel::Discipline::kGreedy;
  r.packing = kernel::Packing::kTopology;
  r.max_tries = 64;  // the default of every policy
  r.limit = r.n;
  return r;
}

OwnedPlaceResult::OwnedPlaceResult(std::size_t n, std::int32_t max)
    : outcome(n),
      option(n),
      entry_begin(n),
      entry_end(n),
      displaced_by(n),
      reserve_at(n),
      entries(new kernel::PlacedRow[static_cast<std::size_t>(max)]),
      max_entries(max) {}

kernel::PlaceResult OwnedPlaceResult::view() {
  return {outcome.data(), option.data(), entry_begin.data(), entry_end.data(), displaced_by.data(),
          entries.get(),  max_entries,   &n_entries,         reserve_at.data()};
}

bool same_pass(const OwnedPlaceResult& a, const OwnedPlaceResult& b) {
  if (a.outcome != b.outcome || a.option != b.option || a.entry_begin != b.entry_begin || a.entry_end != b.entry_end) return false;
  if (a.n_entries != b.n_entries) return false;
  for (std::int32_t i = 0; i < a.n_entries; ++i) {
    const kernel::PlacedRow& x = a.entries[static_cast<std::size_t>(i)];
    const kernel::PlacedRow& y = b.entries[static_cast<std::size_t>(i)];
    if (x.node != y.node || x.group != y.group || x.member != y.member || x.members != y.members || x.mask != y.mask) return false;
    if (x.share_ppm != y.share_ppm) return false;
  }
  return true;
}

}  // namespace berth::bench
