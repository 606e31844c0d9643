#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/pass_result.hpp"
#include "host/core/state/state_view.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth::core {

/// GPUs of one node.
struct NamedGpus {
  std::int32_t node = -1;  ///< rank
  std::uint64_t gpus = 0;  ///< mask of GPU indices
};

/// A job that the caller asks to run.
struct RunLine {
  std::int32_t job = -1;          ///< index of the job
  std::int32_t gpus = 0;          ///< total; 0: the GPUs of its first shape that fits, or those it holds while it stays
  std::vector<NamedGpus> places;  ///< exactly these, whole or in shares as the shape says, one row per node; empty: places are found
};

/// The first of a job's options with N GPUs, or shares of N, in one flat gang, on nodes of that type (-1: any); -1:
/// there is none.
std::int32_t flat_option(const StateView& view, std::int32_t job, std::int32_t gpus, std::int32_t gpu_type);

/// Turns a list of jobs to run, most important first, into a plan, with the pass, builder and validator of
/// Engine::decide.
///
/// Named GPUs are set aside first, even if other jobs run there. The pass then follows the list like a preemptive
/// policy with discipline `greedy`: a running job stays unless an earlier job needs its GPUs. Jobs outside the list are
/// preempted or wait. Gangs that hold failed GPUs are repaired first, as always, and stay. Memory is kept between plans
/// of one state.
class RunList {
 public:
  /// What is known before the list: jobs that cannot run. @returns [jobs of the state] 1: rejected, must not be in the
  /// list.
  const std::vector<std::uint8_t>& begin(const StateView& view, Packing packing);

  /// After `begin` on the same revision.
  /// @param lines  Each job at most once; places exist and are of one GPU type for which `flat_option` has an answer.
  ///               No two lines name the same whole GPU.
  /// @returns what is invalid about the plan through named GPUs, GPU counts or omitted jobs; empty: nothing.
  /// @throws InternalError for a plan that is invalid for any other reason.
  const std::vector<std::string>& plan(const StateView& view, std::span<const RunLine> lines, const Request& request, Plan& plan);

 private:
  bool stays(const StateImpl& state, std::int32_t job) const;
  void sort_out(const StateImpl& state);
  void set_aside(const StateImpl& state);
  void list_options(const StateImpl& state);
  kernel::PlaceResult pass(const StateImpl& state, const Request& request, Plan& plan);
  void give_named(const kernel::PlaceResult& result) const;
  const RunLine* line_of(std::int32_t job) const {
    const std::int32_t line = line_of_[static_cast<std::size_t>(job)];
    return line < 0 ? nullptr : &lines_[static_cast<std::size_t>(line)];
  }

  static constexpr std::int32_t kTries = 64;  // the default of `max_tries`

  PassRules rules_{kernel::Discipline::kGreedy, Packing::kTopology, kTries};
  std::weak_ptr<const int> served_;  // the state of the last plan
  Backends backends_;
  PassProblem problem_;
  PassInput input_;
  PassResult result_;
  Overruns overruns_;
  PlanBuilder builder_;
  PlanValidator validator_;
  CertificateMemory certificates_;
  const std::vector<std::uint8_t>* rejected_ = nullptr;

  std::span<const RunLine> lines_;
  std::vector<std::int32_t> line_of_;  // [jobs of the state] -1: not in the list
  std::vector<std::uint64_t> named_;   // [nodes] GPUs that lines name
  std::vector<std::uint8_t> left_,
      gone_;                         // [jobs of the state] 1: runs, and releases what it holds; the same including jobs that lost GPUs
  std::vector<std::int32_t> order_;  // given named GPUs, then placed by the pass, then left out
  std::size_t n_named_ = 0, n_visited_ = 0;       // parts of `order_`
  std::vector<std::int32_t> visited_;             // its second part
  std::vector<kernel::OptionRow> own_, options_;  // of the jobs; of the pass, which leaves out those with other GPU counts
  std::vector<std::int32_t> begin_, option_;      // of the options of the pass, and the job's own option at each
  std::vector<TimeUs> run_;                       // of the options of the pass
  FinalState before_, visited_state_;             // without jobs that leave; and without the named GPUs
  kernel::ProblemView planned_{}, visited_view_{};
  kernel::PlaceRequest request_{};  // of all of `order_`
};

}  // namespace berth::core
