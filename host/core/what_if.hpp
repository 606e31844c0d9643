#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "berth/placement.hpp"
#include "host/core/backends.hpp"
#include "host/core/chosen_policy.hpp"
#include "host/core/overruns.hpp"
#include "host/core/plan_builder.hpp"
#include "host/core/walk_input.hpp"
#include "host/core/walk_problem.hpp"
#include "host/core/walk_result.hpp"

namespace berth::core {

/// Many scenarios over one state: compiles each to a walk, walks them in batches, reads the outcomes. Memory is kept between calls.
///
/// Scenarios share what they can. The problem is one for all of a packing, unless jobs hold failed GPUs: mending them depends on what is
/// taken. Scenarios in a row that ask for the same order share its columns.
class WhatIf {
 public:
  /// @param out  [scenarios], out.
  /// @returns who answered, with the cause in `note` when that is another than wanted.
  /// @throws InvalidArgument naming the scenario and the value.
  const char* place(const StateImpl& state, std::span<const berth::Scenario> scenarios, Backends& backends, Backend wanted, int threads,
                    std::string& note, std::vector<ScenarioOutcome>& out);

  /// Scenarios are walked in batches whose result columns take about so much: enough to keep threads and a GPU busy.
  std::int64_t batch_bytes = std::int64_t{256} << 20;

 private:
  struct Problem {
    bool consolidated = false;
    std::optional<Consolidation> close;   // jobs that the policy wants close together
    std::vector<kernel::TakenRow> taken;  // heeded when jobs were mended; else empty
    WalkProblem walk;
    std::vector<std::uint8_t> declined;
    std::int32_t bound = 0;
  };
  struct Input {
    WalkInput walk;
    kernel::PlaceRequest request{};
  };
  struct Walk {
    const berth::Scenario* asked = nullptr;
    std::int32_t problem = 0, input = 0;
    std::vector<kernel::TakenRow> taken;
    WalkResult result;
  };

  void begin(const StateImpl& state);
  void add(const StateImpl& s, const berth::Scenario& asked);
  const char* run(const StateImpl& s, Backends& backends, Backend wanted, int threads, std::string& note);
  void read(const StateImpl& state, std::int32_t i, ScenarioOutcome& out);
  std::int32_t problem_of(const StateImpl& state, const Walk& walk);
  std::int32_t input_of(const StateImpl& state, const Walk& walk);
  void order(const StateImpl& state, const PolicyEntry& entry, const berth::Scenario& asked, const WalkInput::Marks& marks,
             WalkInput& input);

  std::weak_ptr<const int> served_;  // the state of the last question
  ChosenPolicy chosen_;
  PlanBuilder builder_;
  CertificateMemory certificates_;
  Overruns overruns_;
  // Deques: what stands in them is pointed to. Only the first n of each belong to the batch; the rest keeps its memory.
  std::deque<Problem> problems_;
  std::deque<Input> inputs_;
  std::deque<Walk> walks_;
  std::int32_t n_problems_ = 0, n_inputs_ = 0, n_walks_ = 0;
  std::int64_t bytes_ = 0;  // of the batch's result columns
  bool lost_gpus_ = false;  // some job holds GPUs that failed

  std::vector<Scenario> scenarios_;
  std::vector<kernel::PlaceResult> results_;
  std::vector<std::uint8_t> skipped_;
  std::vector<std::int32_t> slots_, position_;
};

}  // namespace berth::core
