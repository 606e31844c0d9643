#pragma once

#include "berth/job.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/base/job_source.hpp"
#include "host/sim/base/trace_form.hpp"

namespace berth::sim {

/// Demands besides GPUs that a job takes over from its trace.
struct Demanded {
  bool cpu = true, memory = true;
  bool queue = false;  ///< the cluster has queues; otherwise the name of a queue means nothing

  static Demanded all(const Snapshot& cluster) { return {true, true, !cluster.queues.empty()}; }
  /// A placement that ignored cores and memory may exceed them, so they are left out on nodes that model them.
  static Demanded not_modelled(const Snapshot& cluster);
};

/// @throws InvalidArgument where the cluster has queues, but not one that a job names.
void require_queues(const TraceFacts& facts, const Snapshot& cluster);

/// @throws InvalidArgument for a job whose iterations cannot be followed: with phases, or not a flat gang.
void require_iterable(const TraceJob& job);

/// What is known of a job of a trace on submission: no run time and no estimate.
Job submitted_job(const TraceJob& from, const TraceForm& form, const Demanded& demanded);
/// Sets the shapes and the profile of one phase of the job.
void set_form(Job& job, const TraceJob& from, const TraceForm& form);

}  // namespace berth::sim
