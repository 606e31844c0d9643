#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/core/work_leg.hpp"
#include "host/sim/node_pool.hpp"

namespace berth::sim {

/// A share that holds what the whole job has, rounded up.
inline std::int64_t per_gpu(std::int64_t whole, std::int32_t gpus) { return (whole + gpus - 1) / gpus; }

/// @throws InvalidArgument unless the jobs stand by (submit, id), as every importer leaves them.
void require_sorted(const Trace& trace);
/// The same of two jobs, one right after the other.
void require_order(const TraceJob& before, const TraceJob& job);

/// How a job of a trace may run on a cluster.
struct TraceForm {
  std::vector<Shape> shapes;                   ///< those with the GPU count asked for first
  const Profile* profile = nullptr;            ///< null: none, or none that knows a GPU type of this cluster
  std::vector<std::string> gpu_types() const;  ///< of the shapes that have the GPU count asked for; empty: any
};

/// Turns the jobs of a trace into alternatives on one cluster (docs/formats/trace.md, "Profiles").
///
/// A job whose profile is a table with named GPU types gets one shape for each of them that the cluster has and for which the table has a
/// point at the job's GPU count, in the table's order; an elastic job may also have one for each other point. Otherwise the job has the one
/// shape it asks for. A profile that knows none of the cluster's types is left out, for it could answer nothing there. A job with phases
/// has the alternatives that all of them were measured in, so that it can be trained to its end where it begins.
class TraceForms {
 public:
  /// @param elastic  Whether elastic jobs get alternatives beside the GPU count that they ask for.
  TraceForms(const TraceProfiles& profiles, const Snapshot& cluster, bool elastic = false);

  /// Whether the job asks for no GPU type that the cluster does not have.
  bool knows_type(const TraceJob& job) const { return job.gpu_type.empty() || has_type(job.gpu_type); }
  /// @param phase  of the job's work, core::phase_at; its shapes are the same in all of them but for the batch.
  /// @throws InvalidArgument when an elastic job has more than kMaxShapes alternatives, and where `core::phases_problem` finds something.
  TraceForm of(const TraceJob& job, std::size_t phase = 0) const;
  /// The same from the shapes of another of its phases, where the job's profile is known.
  TraceForm in_phase(std::vector<Shape> shapes, const TraceJob& job, std::size_t phase) const;

  /// How long the job runs on these GPUs: its work at the rates that its profiles have measured there, or else `run_us`.
  TimeUs run_time(const TraceJob& job, const TraceForm& form, const std::vector<TakenGpus>& gpus) const;
  /// Millionths of the profile's unit per second on these GPUs; 0: not known.
  std::int64_t rate(const TraceForm& form, const std::vector<TakenGpus>& gpus) const;
  /// Its work on these GPUs, a leg for each phase; empty where the rate of one is not known, or its work.
  std::vector<core::WorkLeg> legs(const TraceJob& job, const std::vector<TakenGpus>& gpus) const;
  /// The rate in the shape that the job asks for, at the tightest span that the cluster has for it, in each of its phases. Where none is
  /// known it is that with which its work takes `run_us`.
  std::vector<std::int64_t> asked_rates(const TraceJob& job) const;
  /// Index of the shape in which the job runs on these GPUs.
  std::size_t shape_on(const TraceForm& form, const std::vector<TakenGpus>& gpus) const;

 private:
  bool has_type(std::string_view gpu_type) const;
  const Profile* find(const std::string& profile) const;
  void keep_measured(std::vector<Shape>& shapes, const TraceJob& job) const;
  std::string_view level_of(const std::vector<TakenGpus>& gpus) const;

  std::map<std::string_view, const Profile*> profiles_;  // of the trace
  bool elastic_;
  const Snapshot& cluster_;
};

/// Work left of a job in its phase, as much of it as takes the same time at the rates that later phases will have counted at the present
/// one: what is told where the rates to come are known. @param rates  of each phase, above 0.
std::int64_t left_at_present_rate(const TraceJob& job, std::size_t phase, std::int64_t left, const std::vector<std::int64_t>& rates);

}  // namespace berth::sim
