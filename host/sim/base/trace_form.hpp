#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "berth/snapshot.hpp"
#include "berth/trace.hpp"
#include "host/core/model/work_leg.hpp"
#include "host/sim/base/node_pool.hpp"

namespace berth::sim {

/// A share that covers the total of the job, rounded up.
inline std::int64_t per_gpu(std::int64_t whole, std::int32_t gpus) { return (whole + gpus - 1) / gpus; }

/// @throws InvalidArgument unless the jobs are sorted by (submit, id), as every importer leaves them.
void require_sorted(const Trace& trace);
/// The same for two adjacent jobs.
void require_order(const TraceJob& before, const TraceJob& job);

/// The ways in which a job of a trace may run on a cluster.
struct TraceForm {
  std::vector<Shape> shapes;                   ///< those with the requested GPU count first
  const Profile* profile = nullptr;            ///< null: none, or none with a GPU type of this cluster
  std::vector<std::string> gpu_types() const;  ///< of the shapes with the requested GPU count; empty: any
};

/// Turns the jobs of a trace into shapes on one cluster (docs/formats/trace.md, "Profiles").
///
/// A profile may be a table with named GPU types. Its job then gets one shape for each type of the cluster with a point at the job's
/// GPU count, in the order of the table. An elastic job may also have a shape for each other point.
/// A job that states its shapes has those instead, where the cluster has their GPU types and levels.
/// Otherwise the job has the one shape that it requests. A profile without any type of the cluster is ignored.
/// A job with phases has the shapes that were measured in all of them, so that it can finish where it starts.
class TraceForms {
 public:
  /// @param elastic  Whether elastic jobs get shapes besides the requested GPU count.
  TraceForms(const TraceProfiles& profiles, const Snapshot& cluster, bool elastic = false);

  /// Why no node of the cluster can ever be meant by the job: it lacks the GPU type, or a level that the job names. Empty: it does not.
  std::string missing_on_cluster(const TraceJob& job) const;
  /// @param phase  Phase of the job's work (core::phase_at). Its shapes differ between phases only by their batch.
  /// @throws InvalidArgument when an elastic job has more than kMaxShapes shapes, or `core::phases_problem` finds a problem.
  TraceForm of(const TraceJob& job, std::size_t phase = 0) const;
  /// The same from the shapes of another phase of the job, whose profile must be known.
  TraceForm in_phase(std::vector<Shape> shapes, const TraceJob& job, std::size_t phase) const;

  /// Run time of the job on these GPUs: its work at the measured rates of its profiles, or else `run_us`.
  TimeUs run_time(const TraceJob& job, const TraceForm& form, const std::vector<PooledGpus>& gpus) const;
  /// Millionths of the profile's unit per second on these GPUs; 0: not known.
  std::int64_t rate(const TraceForm& form, const std::vector<PooledGpus>& gpus) const;
  /// The job's work on these GPUs, one leg per phase. Empty where the rate of a phase or the work is not known.
  std::vector<core::WorkLeg> legs(const TraceJob& job, const std::vector<PooledGpus>& gpus) const;
  /// The rate of each phase in the requested shape, at the tightest span that the cluster has for it.
  /// Where no rate is known, it is the one at which the work takes `run_us`.
  std::vector<std::int64_t> asked_rates(const TraceJob& job) const;
  /// Index of the shape in which the job runs on these GPUs.
  std::size_t shape_on(const TraceForm& form, const std::vector<PooledGpus>& gpus) const;

 private:
  bool has_type(std::string_view gpu_type) const;
  const Profile* find(const std::string& profile) const;
  TraceForm of_stated(const TraceJob& job, const Profile* profile) const;
  void keep_measured(std::vector<Shape>& shapes, const TraceJob& job) const;
  std::string_view level_of(const std::vector<PooledGpus>& gpus) const;

  std::map<std::string_view, const Profile*> profiles_;  // profiles of the trace
  bool elastic_;
  const Snapshot& cluster_;
};

/// Remaining work, with the work of later phases scaled so that it takes the same time at the present rate.
/// This is what is reported where future rates are known.
/// @param rates  of each phase, above 0.
std::int64_t left_at_present_rate(const TraceJob& job, std::size_t phase, std::int64_t left, const std::vector<std::int64_t>& rates);

}  // namespace berth::sim
