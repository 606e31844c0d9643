#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"
#include "python-free-bindings/c/src/structs.hpp"

using berth::c::guarded;
using berth::c::Use;

namespace berth::c {
namespace {

template <class T, class Row, class Get>
void fill(T* column, const Row* rows, std::uint64_t count, const Get& get) {
  if (column == nullptr) return;
  for (std::uint64_t i = 0; i < count; ++i) column[i] = static_cast<T>(get(rows[i]));
}

std::uint64_t whole(std::int64_t count) { return static_cast<std::uint64_t>(count); }

}  // namespace
}  // namespace berth::c

berth_status berth_plan_create(berth_plan** out, berth_error* error) {
  return guarded(error, [&] { berth::c::give(out, [] { return new berth_plan(); }); });
}

berth_status berth_plan_destroy(berth_plan** plan, berth_error* error) {
  return guarded(error, [&] { berth::c::destroy(plan, "plan"); });
}

berth_status berth_plan_get_info(berth_plan* plan, berth_plan_info* info, berth_error* error) {
  return guarded(error, [&] {
    Use p(plan, "plan");
    const berth::Plan& from = berth::c::decided(*p);
    const auto whole = berth::c::whole;
    berth_plan_info now{};
    now.proof = static_cast<std::int32_t>(from.proof);
    now.revision = from.revision;
    now.now_us = from.now_us;
    now.n_decisions = from.decisions.size();
    now.n_entries = from.entries.size();
    now.policy = from.policy.c_str();
    now.backend = from.backend.c_str();
    now.backend_note = from.backend_note.c_str();
    now.stopped_by = from.stopped_by.c_str();
    now.seed = from.seed;
    now.iterations = whole(from.iterations);
    now.order_until_us = from.order_until_us;
    now.gpus = whole(from.totals.gpus);
    now.gpus_used = whole(from.totals.gpus_used);
    now.starts = whole(from.totals.starts);
    now.keeps = whole(from.totals.keeps);
    now.moves = whole(from.totals.moves);
    now.preempts = whole(from.totals.preempts);
    now.waits = whole(from.totals.waits);
    now.rejects = whole(from.totals.rejects);
    now.replaces = whole(from.totals.replaces);
    now.reserves = whole(from.totals.reserves);
    now.decide_s = from.timing.decide_s;
    now.device = from.device.c_str();
    now.changes_only = from.changes_only ? 1 : 0;
    now.reservations_since = from.reservations_since;
    now.n_reservations_dropped = from.reservations_dropped.size();
    berth::c::fill_struct(info, now, "info");
  });
}

berth_status berth_plan_decisions(berth_plan* plan, uint64_t first, uint64_t count, const berth_decisions* columns, berth_error* error) {
  return guarded(error, [&] {
    Use p(plan, "plan");
    const std::vector<berth::Decision>& all = berth::c::decided(*p).decisions;
    const berth_decisions to = berth::c::get_struct(columns, "columns");
    const berth::Decision* rows = all.data() + berth::c::checked_rows(first, count, all.size());
    const auto fill = [&](auto* column, const auto& get) { berth::c::fill(column, rows, count, get); };
    using D = berth::Decision;
    fill(to.job, [](const D& d) { return d.job; });
    fill(to.action, [](const D& d) { return d.action; });
    fill(to.shape, [](const D& d) { return d.shape; });
    fill(to.entry_begin, [](const D& d) { return d.entry_begin; });
    fill(to.entry_end, [](const D& d) { return d.entry_end; });
    fill(to.local_batch, [](const D& d) { return d.local_batch; });
    fill(to.rate, [](const D& d) { return d.rate; });
    fill(to.start_us, [](const D& d) { return d.start_us; });
    fill(to.finish_us, [](const D& d) { return d.finish_us; });
    fill(to.cost_us, [](const D& d) { return d.cost_us; });
    fill(to.reason, [](const D& d) { return d.reason.code; });
    fill(to.certified, [](const D& d) { return d.reason.certified; });
    fill(to.asked, [](const D& d) { return d.reason.asked; });
    fill(to.best, [](const D& d) { return d.reason.best; });
    fill(to.missing, [](const D& d) { return d.reason.missing; });
    fill(to.until_us, [](const D& d) { return d.reason.until_us; });
    fill(to.other_job, [](const D& d) { return d.reason.other_job; });
    fill(to.drained, [](const D& d) { return d.reason.drained; });
    fill(to.failed, [](const D& d) { return d.reason.failed; });
    fill(to.unavailable_nodes, [](const D& d) { return d.reason.unavailable_nodes; });
    for (std::size_t i = 0; to.unavailable_on != nullptr && i < count; ++i) {
      const auto& on = rows[i].reason.unavailable_on;
      std::copy(on.begin(), on.end(), to.unavailable_on + on.size() * i);
    }
  });
}

berth_status berth_plan_get_entries(berth_plan* plan, uint64_t first, uint64_t count, const berth_plan_entries* columns,
                                    berth_error* error) {
  return guarded(error, [&] {
    Use p(plan, "plan");
    const std::vector<berth::PlanEntry>& all = berth::c::decided(*p).entries;
    const berth_plan_entries to = berth::c::get_struct(columns, "columns");
    const berth::PlanEntry* rows = all.data() + berth::c::checked_rows(first, count, all.size());
    const auto fill = [&](auto* column, const auto& get) { berth::c::fill(column, rows, count, get); };
    using E = berth::PlanEntry;
    fill(to.node, [](const E& e) { return e.node; });
    fill(to.gpus, [](const E& e) { return e.gpus; });
    fill(to.group, [](const E& e) { return e.group; });
    fill(to.member, [](const E& e) { return e.member; });
    fill(to.members, [](const E& e) { return e.members; });
    fill(to.share_ppm, [](const E& e) { return e.share_ppm; });
    fill(to.time_shared, [](const E& e) { return e.time_shared; });
  });
}

berth_status berth_plan_reservations_dropped(berth_plan* plan, uint64_t first, uint64_t count, int32_t* job, berth_error* error) {
  return guarded(error, [&] {
    Use p(plan, "plan");
    const std::vector<std::int32_t>& all = berth::c::decided(*p).reservations_dropped;
    const std::size_t from = berth::c::checked_rows(first, count, all.size());
    if (count > 0) std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(from), count, &berth::c::required(job, "job"));
  });
}

berth_status berth_commit(berth_state* state, berth_plan* plan, uint64_t* revision, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    Use p(plan, "plan");
    const berth::Plan& from = berth::c::of_state(*p, *s);
    if (p->read) {
      const std::vector<std::string> violations = berth::validate_plan(s->whole(), from, 1);
      if (!violations.empty()) throw berth::InputError("plan", "", 0, violations.front());
    }
    const std::uint64_t now = berth::commit(s->whole(), from);
    ++s->batches;
    if (revision != nullptr) *revision = now;
  });
}
