#include "berth/queues.hpp"

#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"
#include "python-free-bindings/c/src/structs.hpp"

using berth::c::guarded;
using berth::c::required;
using berth::c::Use;

berth_status berth_state_find_queue(berth_state* state, const char* id, int32_t* queue, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    required(queue, "queue") = berth::find_queue(s->whole(), &required(id, "id"));
  });
}

berth_status berth_state_queue_standings(berth_state* state, berth_plan* plan, uint64_t* n_rows, uint64_t first, uint64_t count,
                                         const berth_queue_standings* columns, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    std::vector<berth::QueueStanding> all;
    if (plan == nullptr) {
      all = berth::queue_standings(s->whole());
    } else {
      Use p(plan, "plan");
      all = berth::queue_standings(s->whole(), &berth::c::of_state(*p, *s));
    }
    if (n_rows != nullptr) *n_rows = all.size();
    const std::size_t from = berth::c::checked_rows(first, count, all.size());
    if (count == 0 && columns == nullptr) return;
    const berth_queue_standings to = berth::c::get_struct(columns, "columns");
    const auto fill = [&](auto* column, auto member) {
      for (std::size_t i = 0; column != nullptr && i < count; ++i) column[i] = all[from + i].*member;
    };
    using Q = berth::QueueStanding;
    fill(to.queue, &Q::queue);
    fill(to.gpu_type, &Q::gpu_type);
    fill(to.guarantee, &Q::guarantee);
    fill(to.limit, &Q::limit);
    fill(to.entitled, &Q::entitled);
    fill(to.fair_share, &Q::fair_share);
    fill(to.has, &Q::has);
    fill(to.waiting, &Q::waiting);
    fill(to.starved_since_us, &Q::starved_since);
    fill(to.keeps, &Q::keeps);
    fill(to.dominant_share, &Q::dominant_share);
    fill(to.fair_dominant_share, &Q::fair_dominant_share);
  });
}
