#include "berth/io.hpp"
#include "python-free-bindings/c/src/cluster_arrays.hpp"
#include "python-free-bindings/c/src/columns.hpp"
#include "python-free-bindings/c/src/delta_arrays.hpp"
#include "python-free-bindings/c/src/guarded.hpp"
#include "python-free-bindings/c/src/handles.hpp"
#include "python-free-bindings/c/src/structs.hpp"

using berth::c::guarded;
using berth::c::required;
using berth::c::Use;

namespace berth::c {
namespace {

// Applies a batch, and counts it as applied or rejected.
template <class Apply>
void apply(State& s, std::uint64_t* revision, const Apply& apply_batch) {
  ++s.refused_batches;
  const std::uint64_t now = apply_batch();
  --s.refused_batches;
  ++s.batches;
  if (revision != nullptr) *revision = now;
}

}  // namespace
}  // namespace berth::c

berth_status berth_state_create(berth_state** out, berth_error* error) {
  return guarded(error, [&] { berth::c::give(out, [] { return new berth_state(berth::ClusterState()); }); });
}

berth_status berth_state_from_json(const char* json, size_t size, const char* name, berth_state** out, berth_error* error) {
  return guarded(error, [&] {
    berth::c::give(out, [&] {
      return new berth_state(berth::io::parse_state(berth::c::document(json, size, "json"), name == nullptr ? "snapshot" : name));
    });
  });
}

berth_status berth_state_from_arrays(const berth_cluster* cluster, berth_state** out, berth_error* error) {
  return guarded(error, [&] { berth::c::give(out, [&] { return new berth_state(berth::ClusterState(berth::c::snapshot_of(cluster))); }); });
}

berth_status berth_state_destroy(berth_state** state, berth_error* error) {
  return guarded(error, [&] { berth::c::destroy(state, "state"); });
}

berth_status berth_state_apply(berth_state* state, const berth_deltas* deltas, uint64_t* revision, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    berth::c::apply(*s, revision, [&] {
      berth::c::read_deltas(deltas, s->whole(), s->batch);
      return s->whole().apply(s->batch);
    });
  });
}

berth_status berth_state_apply_json(berth_state* state, const char* json, size_t size, const char* name, uint64_t* revision,
                                    berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    berth::c::apply(*s, revision, [&] {
      return berth::io::apply_json(s->whole(), berth::c::document(json, size, "json"), name == nullptr ? "deltas" : name);
    });
  });
}

berth_status berth_state_to_json(berth_state* state, char** json, size_t* size, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    required(json, "json");
    berth::c::give_text(berth::io::to_json(s->whole().snapshot()), json, size);
  });
}

berth_status berth_state_get_info(berth_state* state, berth_state_info* info, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    const berth::ClusterState& state_now = s->whole();
    berth_state_info now{};
    now.revision = state_now.revision();
    now.now_us = state_now.now();
    now.nodes = static_cast<std::uint64_t>(state_now.node_count());
    for (std::int32_t rank = 0; rank < state_now.node_count(); ++rank) now.gpus += static_cast<std::uint64_t>(state_now.node(rank).gpus);
    now.jobs = static_cast<std::uint64_t>(state_now.job_count());
    now.job_index_end = static_cast<std::uint64_t>(state_now.job_index_end());
    for (std::int32_t job_index = 0; job_index < state_now.job_index_end(); ++job_index) {
      const berth::Job* job = state_now.job(job_index);
      now.running_jobs += job != nullptr && job->state == berth::JobState::kRunning ? 1 : 0;
    }
    now.batches = s->batches;
    now.refused_batches = s->refused_batches;
    berth::c::fill_struct(info, now, "info");
  });
}

berth_status berth_state_find_job(berth_state* state, const char* id, int32_t* job, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    required(job, "job") = s->whole().find_job(&required(id, "id"));
  });
}

berth_status berth_state_find_node(berth_state* state, const char* id, int32_t* rank, berth_error* error) {
  return guarded(error, [&] {
    Use s(state, "state");
    required(rank, "rank") = s->whole().find_node(&required(id, "id"));
  });
}
