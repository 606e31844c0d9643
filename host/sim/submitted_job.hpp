#pragma once

#include "berth/job.hpp"
#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/sim/job_source.hpp"
#include "host/sim/trace_form.hpp"

namespace berth::sim {

/// What beside GPUs a job takes over from its trace.
struct Demanded {
  bool cpu = true, memory = true;
  bool queue = false;  ///< the cluster has some; where it has none the name of one says nothing

  static Demanded all(const Snapshot& cluster) { return {true, true, !cluster.queues.empty()}; }
  /// What was placed without counting cores and memory might hold more of them than there is: on nodes that model them they are left out.
  static Demanded not_modelled(const Snapshot& cluster);
};

/// @throws InvalidArgument where the cluster has queues, and not one that a job names.
void require_queues(const TraceFacts& facts, const Snapshot& cluster);

/// What is known of a job of a trace when it is submitted: no run time, no estimate.
Job submitted_job(const TraceJob& from, const TraceForm& form, const Demanded& demanded);
/// Gives it the shapes and the profile that it has in one of its phases.
void set_form(Job& job, const TraceJob& from, const TraceForm& form);

}  // namespace berth::sim
