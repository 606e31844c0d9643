#pragma once

#include <cstdint>
#include <span>

#include "berth/job.hpp"
#include "berth/plan.hpp"
#include "host/core/model/profile.hpp"
#include "host/core/state/state_view.hpp"

/// Rates of jobs in the current state, in millionths of the profile's unit per second; 0: not known.
namespace berth::core {

/// Of one shape on one GPU type, at its tightest span: how alternatives are compared before placement.
/// `at_work`: GPUs counted as in Shape::gpus, without spares; fewer in the smallest form of an elastic gang.
std::int64_t option_rate(const StateImpl& state, const Job& job, const Shape& shape, std::int32_t gpu_type, std::int32_t at_work);
/// Of the job's first shape, which an estimate of run time refers to.
std::int64_t requested_rate(const StateImpl& state, const Job& job);
/// Of the same without communication.
std::int64_t ideal_rate(const StateImpl& state, const Job& job);
std::int64_t ideal_rate(const StateView& view, const Job& job);
/// Run time that the work done so far would have taken at that rate; kNever: not known.
TimeUs ideal_run_now(const StateImpl& state, std::int32_t job_index);
/// The same. @param rate  ideal_rate of the job
TimeUs ideal_run_at(const StateImpl& state, std::int32_t job_index, std::int64_t rate);
/// Of a placed gang, by its members at their places.
std::int64_t placed_rate(const StateView& view, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries);

/// Locality of a gang, and the time of one step there.
struct PlacedStep {
  SpanInfo span;
  std::int64_t ns;  // 0: not known
};
PlacedStep placed_step(const StateView& view, const Job& job, std::int32_t shape, std::span<const PlanEntry> entries);

}  // namespace berth::core
