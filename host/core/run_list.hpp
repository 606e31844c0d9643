#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/backends.hpp"
#include "host/core/final_state.hpp"
#include "host/core/overruns.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/plan_validator.hpp"
#include "host/core/walk_input.hpp"
#include "host/core/walk_problem.hpp"
#include "host/core/walk_result.hpp"

namespace berth::core {

/// GPUs of one node.
struct NamedGpus {
  std::int32_t node = -1;  ///< rank
  std::uint64_t gpus = 0;  ///< mask of GPU indices
};

/// A job that somebody outside wants to run.
struct RunLine {
  std::int32_t job = -1;          ///< slot
  std::int32_t gpus = 0;          ///< in all; 0: what the first of its shapes that fits has, or what it has while it stays
  std::vector<NamedGpus> places;  ///< exactly these, whole or in shares as the shape says, a row a node; empty: places are found
};

/// The first of a job's options with so many GPUs, or shares of as many, in one flat gang, on nodes of that type (-1: any); -1: it has
/// none.
std::int32_t flat_option(const StateImpl& state, std::int32_t slot, std::int32_t gpus, std::int32_t gpu_type);

/// Turns a list of jobs to run, the most important first, into a plan, by the same walk, builder and validator as Engine::decide.
///
/// Named GPUs are set aside first, whoever runs there. Then the list is walked as a preemptive policy with discipline `skip` walks its
/// order: who runs stays unless an earlier job needs its GPUs. Who runs and is not in the list is preempted, who waits and is not in it
/// waits. Gangs that hold failed GPUs are mended first, as always, and stay. Memory is kept between plans of one state.
class RunList {
 public:
  /// What is known before the list: jobs that cannot be run. @returns [slots] 1: declined, must not be in the list.
  const std::vector<std::uint8_t>& begin(const StateImpl& state, Placement placement);

  /// After `begin` on the same revision.
  /// @param lines  Each job at most once; places exist, are of one GPU type for which `flat_option` has an answer, and whole
  ///               GPUs of no two lines.
  /// @returns what is invalid about the plan, through GPUs or GPU counts that were named and jobs that were left out; empty: nothing.
  /// @throws InternalError for a plan that is invalid although nothing of that kind was asked for.
  const std::vector<std::string>& plan(const StateImpl& state, std::span<const RunLine> lines, const Request& request, Plan& plan);

 private:
  bool stays(const StateImpl& state, std::int32_t slot) const;
  void sort_out(const StateImpl& state);
  void set_aside(const StateImpl& state);
  void list_options(const StateImpl& state);
  kernel::PlaceResult walk(const StateImpl& state, const Request& request, Plan& plan);
  void give_named(const kernel::PlaceResult& result) const;
  const RunLine* line_of(std::int32_t slot) const {
    const std::int32_t line = line_of_[static_cast<std::size_t>(slot)];
    return line < 0 ? nullptr : &lines_[static_cast<std::size_t>(line)];
  }

  static constexpr std::int32_t kTries = 64;  // the default of `max_tries`

  WalkRules rules_{kernel::Discipline::kSkip, Placement::kTopology, kTries};
  std::weak_ptr<const int> served_;  // the state of the last plan
  Backends backends_;
  WalkProblem problem_;
  WalkInput input_;
  WalkResult result_;
  Overruns overruns_;
  PlanBuilder builder_;
  PlanValidator validator_;
  CertificateMemory certificates_;
  const std::vector<std::uint8_t>* declined_ = nullptr;

  std::span<const RunLine> lines_;
  std::vector<std::int32_t> line_of_;             // [slots] -1: not in the list
  std::vector<std::uint64_t> named_;              // [nodes] GPUs that lines name
  std::vector<std::uint8_t> left_, gone_;         // [slots] 1: runs, and gives back what it holds; the same with those that lost GPUs
  std::vector<std::int32_t> order_;               // given named GPUs, then walked, then left out
  std::size_t n_named_ = 0, n_walked_ = 0;        // parts of `order_`
  std::vector<std::int32_t> walked_;              // the second of them
  std::vector<kernel::OptionRow> own_, options_;  // of the jobs; of the walk, of which those with other GPU counts are left out
  std::vector<std::int32_t> begin_, option_;      // of the walk's options, and the job's own option at each
  std::vector<TimeUs> run_;                       // of the walk's options
  FinalState before_, beside_;                    // without those who leave; and without the named GPUs
  kernel::ProblemView planned_{}, walked_view_{};
  kernel::PlaceRequest request_{};  // of all of `order_`
};

}  // namespace berth::core
