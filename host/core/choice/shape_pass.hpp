#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "host/core/choice/tight_places.hpp"
#include "host/core/placement/final_state.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/policy_api/objective.hpp"
#include "host/core/quota/lowered_limits.hpp"
#include "host/core/quota/quota_order.hpp"

namespace berth::core {

/// A choice of options as the placement code sees it. Columns of the choice's jobs and options.
struct ChosenShapes {
  const std::vector<std::int32_t>& jobs;          // [jobs]
  const std::vector<std::int32_t>& job_of;        // [jobs of the state] index in `jobs`, -1
  const std::vector<std::int32_t>& option_begin;  // [jobs + 1]
  const std::vector<ChoiceOption>& options;
  const std::vector<std::int64_t>& value;   // [options]
  const std::vector<std::int64_t>& price;   // [types]
  const std::vector<std::int32_t>& chosen;  // [jobs] relative to the job's first, -1: none
  bool by_price;                            // options of value 0 are not tried; otherwise options without a speed
  bool chosen_only;                         // only the chosen option is tried, or fewer GPUs of its type
  const ShapeValues& values;                // of the options
  std::span<const std::uint8_t> moved;      // [jobs] 1: continues as it runs, elsewhere; empty: none does
  const std::vector<std::uint8_t>& wide;    // [options] 1: counted on in wide places, as tight ones were not found

  std::int64_t net(std::int32_t k) const {
    const ChoiceOption& one = options[static_cast<std::size_t>(k)];
    return value[static_cast<std::size_t>(k)] - price[static_cast<std::size_t>(one.type)] * one.gpus;
  }
  /// The option in which a running job runs. It is there.
  std::int32_t current(std::size_t job) const {
    std::int32_t k = option_begin[job];
    while (!options[static_cast<std::size_t>(k)].current) ++k;
    return k;
  }
  /// Whether an option may be tried where there is room. @param wanted  row of what was chosen for its job, -1: nothing
  bool may_try(std::int32_t k, std::int32_t wanted) const {
    const auto i = static_cast<std::size_t>(k);
    if (k == wanted) return true;
    if (chosen_only) {
      const ChoiceOption* const most = wanted < 0 ? nullptr : &options[static_cast<std::size_t>(wanted)];
      return most != nullptr && options[i].type == most->type && options[i].gpus < most->gpus && values.shapes()[i].speed > 0;
    }
    return by_price ? value[i] > 0 : values.shapes()[i].speed > 0;
  }
};

/// What a job of a choice has after the pass.
struct ObtainedShape {
  std::int32_t option = -1;             // of the job; -1: none
  bool wide = false;                    // in places in which it is slower than in tight ones
  std::int64_t value = 0;               // there
  std::int64_t chosen_wide_value = -1;  // of the chosen option in such places; -1: it is nowhere slower
};

/// The scheduling pass that finds places for a choice. Memory is kept between passes.
class ShapePass {
 public:
  /// @param problem  that the choice was made for; must stay until the plan is built.
  /// @param places  begun with the state
  /// @param find    chooses victims together where queues get GPUs back
  void build(const StateImpl& state, const kernel::ProblemView& problem, const PassInput::Marks& marks, const ChosenShapes& choice,
             const PassRules& rules, TightPlaces& places, const FindVictims& find);

  /// The problem of the pass: running jobs that are not to stay as they are have left, and options are in the order to
  /// be tried.
  const kernel::ProblemView& problem() const { return view_; }
  const kernel::PlaceRequest& request() const { return request_; }
  /// After the pass: what each job of the choice has, whether it stays or was placed.
  /// @param obtained  [jobs of the choice] out
  void obtained(const StateImpl& state, const ChosenShapes& choice, const kernel::PlaceResult& result,
                std::vector<ObtainedShape>& obtained);
  /// The job's own option at a row of the pass.
  std::int32_t option_of(std::int32_t job, std::int32_t row) const {
    return option_[static_cast<std::size_t>(begin_[static_cast<std::size_t>(job)] + row)];
  }
  /// After the pass: converts problem, request and result to the jobs' own options, in their own order.
  void translate(const kernel::ProblemView& own, kernel::ProblemView& visited, kernel::PlaceRequest& request,
                 const kernel::PlaceResult& result) const;
  /// [jobs of the state] 1: runs, and has left for the pass.
  const std::vector<std::uint8_t>& left() const { return left_; }
  /// [options of the problem] 1: of the choice, and not tried
  const std::uint8_t* left_out() const { return left_out_.data(); }
  /// Where a queue is entitled to a job that is not chosen, so that jobs may be displaced: their order; else null.
  const QuotaOrder* quotas() const { return reclaims_ ? &quotas_ : nullptr; }
  /// Whether a queue uses more than a limit, as that was lowered.
  bool is_limited() const { return lowered_.any(); }

 private:
  struct OrderKey {
    std::uint8_t outbid;
    std::int32_t gpus;  // of the chosen option
    std::int64_t net;   // of the best option left to an outbid job
    std::int32_t rank, job;
  };
  /// A running job of a queue above a limit that was lowered, which the choice leaves out.
  struct Outbid {
    std::int64_t net;
    std::int32_t rank, job;
  };
  void keep_outbid(const StateImpl& state, const ChosenShapes& choice);
  void order_jobs(const StateImpl& state, const PassInput::Marks& marks, const ChosenShapes& choice);
  void list_options(const StateImpl& state, const kernel::ProblemView& problem, const ChosenShapes& choice, TightPlaces* places);
  std::int64_t value_at(const StateImpl& state, const ChosenShapes& choice, std::int32_t k, std::span<const kernel::PlacedRow> entries);
  void reclaim(const StateImpl& state, const kernel::ProblemView& problem, const PassInput::Marks& marks, const ChosenShapes& choice,
               Quotas quotas, TightPlaces* places, const FindVictims& find);
  void set_problem(const StateImpl& state);
  bool may_try(const kernel::ProblemView& problem, std::int32_t job, std::int32_t option) const {
    return narrowed_[static_cast<std::size_t>(job)] == 0 || within_[static_cast<std::size_t>(problem.option_begin[job] + option)] != 0;
  }
  void rank_rows(const StateImpl& state, const kernel::ProblemView& problem, const ChosenShapes& choice, std::size_t j,
                 TightPlaces* places);

  std::vector<OrderKey> order_keys_;
  std::vector<std::uint8_t> left_, passes_, running_, kept_, chosen_, left_out_;
  std::vector<std::int32_t> stay_;      // jobs that run on
  std::vector<std::uint8_t> narrowed_;  // [jobs of the state] 1: only options within what its queue is entitled to are tried
  std::vector<std::uint8_t> within_;    // [options of the problem] 1: within that
  LoweredLimits lowered_;
  std::vector<Outbid> outbid_;
  std::vector<std::int32_t> class_;         // [jobs of the state] where limits were lowered
  std::vector<std::uint8_t> may_displace_;  // [options of the pass] the same
  QuotaOrder quotas_;
  bool reclaims_ = false;
  bool all_options_ = false;  // of the choice are listed, also those that the policy does not try
  /// An option of the current job, in the places that its demand allows.
  struct Row {
    std::int64_t net;  // value there, less the price of its GPUs
    std::int32_t k;    // of the choice
    bool wide;         // in places in which it is slower
    std::int32_t demand;
  };
  std::vector<Row> rows_;
  std::vector<std::int32_t> order_, begin_, option_;  // option_: of the job, at each row
  std::vector<std::uint8_t> wide_;                    // of the rows
  std::vector<std::int64_t> chosen_wide_value_;       // [jobs of the choice] see ObtainedShape
  std::vector<PlanEntry> entries_;
  std::vector<kernel::OptionRow> options_;
  std::vector<TimeUs> run_, own_run_;  // of the rows of the pass, of the jobs' options
  FinalState after_;
  kernel::ProblemView view_{};
  kernel::PlaceRequest request_{};
};

}  // namespace berth::core
