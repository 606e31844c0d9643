#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/placement.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/placement/lease_offers.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/pass_result.hpp"
#include "host/core/policy_api/chosen_policy.hpp"

namespace berth::core {

/// Many scenarios over one state: compiles each to a scheduling pass, runs the passes in batches, reads the outcomes.
/// Memory is kept between calls.
///
/// All scenarios of a packing share one problem, unless jobs hold failed GPUs: their repair depends on what is taken.
/// Consecutive scenarios with the same order share its columns.
class WhatIf {
 public:
  /// @param out  [scenarios], out.
  /// @returns the backend that ran, with the cause in `note` when it is not the requested one.
  /// @throws InvalidArgument naming the scenario and the value.
  const char* place(const StateImpl& state, std::span<const berth::Scenario> scenarios, Backends& backends, Backend wanted, int threads,
                    std::string& note, std::vector<ScenarioOutcome>& out);

  /// Size of the result columns of one batch: enough to keep threads and a GPU busy.
  std::int64_t batch_bytes = std::int64_t{256} << 20;

 private:
  struct Problem {
    bool consolidated = false;
    std::optional<Consolidation> close;  // jobs that the policy consolidates
    std::optional<DelayRule> delays;     // how long it lets gangs wait for domains
    ShapeRule shape{};
    std::vector<kernel::TakenRow> taken;  // applies when jobs were repaired; else empty
    PassProblem pass;
    LeaseOffers offers;  // then the problem is that of one scenario
    TriedOptions tried;
    std::vector<std::uint8_t> rejected;
    std::int32_t bound = 0;
  };
  struct Input {
    PassInput pass;
    kernel::PlaceRequest request{};
    std::vector<TimeUs> run;  // of the options of the pass, where it does not try all
    // Where jobs have given up their GPUs, for another pass.
    PolicyEntry entry;
    PassRules rules{};
    bool arranged = false;
    std::vector<std::uint8_t> skipped;
  };
  struct Pass {
    const berth::Scenario* asked = nullptr;
    std::int32_t problem = 0, input = 0;
    std::vector<kernel::TakenRow> taken;
    PassResult result;
  };

  void begin(const StateImpl& state);
  void add(const StateImpl& s, const berth::Scenario& asked);
  const char* run(const StateImpl& s, Backends& backends, Backend wanted, int threads, std::string& note);
  void read(const StateImpl& state, std::int32_t i, ScenarioOutcome& out);
  std::int32_t problem_of(const StateImpl& state, const Pass& pass);
  std::int32_t input_of(const StateImpl& state, const Pass& pass);
  void arrange(const StateImpl& state, const Pass& pass, Input& input);
  void settle(const StateImpl& state, Pass& pass, PlacementBackend& backend);
  static bool may_stick(const Input& input) { return input.entry.preemptive && input.pass.reclaims() && !input.rules.admits_by_count; }
  template <class Place>
  void try_stuck_first(const StateImpl& state, Pass& pass, const Place& place);
  void order(const StateImpl& state, const PolicyEntry& entry, const berth::Scenario& asked, const PassInput::Marks& marks,
             const TriedOptions& tried, PassInput& input);

  std::weak_ptr<const int> served_;  // the state of the last question
  ChosenPolicy chosen_;
  PlanBuilder builder_;
  CertificateMemory certificates_;
  Overruns overruns_;
  StuckJobs stuck_;
  // Deques, because their elements are pointed to. Only the first n of each belong to the batch; the rest keeps its
  // memory.
  std::deque<Problem> problems_;
  std::deque<Input> inputs_;
  std::deque<Pass> passes_;
  std::int32_t n_problems_ = 0, n_inputs_ = 0, n_passes_ = 0;
  std::int64_t bytes_ = 0;  // of the batch's result columns
  bool lost_gpus_ = false;  // some job holds GPUs that failed

  FindVictims find_;  // of the question
  std::vector<PlaceTask> scenarios_;
  std::vector<kernel::PlaceResult> results_;
  std::vector<std::int32_t> of_pass_;  // [results] index in `inputs_`
  std::vector<std::uint8_t> skipped_;
  std::vector<std::int32_t> jobs_, position_;
  PassResult with_first_;  // of a pass with a stuck job first
};

}  // namespace berth::core
