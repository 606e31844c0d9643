#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/backend/backends.hpp"
#include "host/core/choice/plan_search.hpp"
#include "host/core/choice/shape_problem.hpp"
#include "host/core/engine/departed_jobs.hpp"
#include "host/core/engine/last_reservations.hpp"
#include "host/core/engine/plan_builder.hpp"
#include "host/core/engine/waiting_heads.hpp"
#include "host/core/kept/kept_queue.hpp"
#include "host/core/placement/gpu_sharing.hpp"
#include "host/core/placement/lease_offers.hpp"
#include "host/core/placement/overruns.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/pass_result.hpp"
#include "host/core/placement/stuck_jobs.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/state_view.hpp"
#include "host/core/validator/plan_validator.hpp"

namespace berth {

/// Seconds between calls.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double s = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return s;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// The first of two instants of which the order may be `now`: it changes all the time. What is still to come says more then.
inline TimeUs first_change(TimeUs order, TimeUs until, TimeUs now) {
  return order <= now && until != kNever ? until : std::min(order, until);
}

/// No state has a time beyond the largest.
inline TimeUs within_time(TimeUs at) { return at > kMaxTimeUs ? kNever : at; }

/// See berth/engine.hpp. Memory is kept between decisions.
class EngineImpl {
 public:
  core::ChosenPolicy chosen;
  core::Backends backends;
  core::PassInput input;
  core::TriedOptions tried;
  core::ShapeProblem choice;
  core::TightPlaces places;
  core::PlanSearch search;
  core::PassProblem problem;
  core::LeaseOffers offers;
  core::GpuSharing sharing;
  core::KeptQueue kept;
  core::WaitingHeads heads;
  core::DepartedJobs departed;
  core::Overruns overruns;
  core::StuckJobs stuck;
  core::PlanBuilder builder;
  core::PlanValidator validator;
  core::LastReservations reservations;
  core::CertificateMemory certificates;  // a certificate needs a pass over all nodes: checked once, before and after the scheduling pass
  std::weak_ptr<const int> served;       // the state of the last decision
  std::atomic<bool> cancelled{false};

  /// Versions count the changes of one state: results kept by version are not valid for another state.
  void serve(const StateImpl& s) {
    if (served.lock() == s.identity) return;
    input = {};
    choice = {};
    builder = {};
    validator = {};
    certificates = {};
    kept.clear();
    heads = {};
    departed = {};
    reservations.forget();
    served = s.identity;
  }

  void decide(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan);

 private:
  /// One scheduling pass of a decision. A decision may try several; each result is a value, and the best becomes the plan.
  struct PassAttempt {
    core::ShapePass shape_pass;  // used where a policy chooses shapes
    std::vector<TimeUs> run;     // of the options of the pass, where a queue policy does not try all
    bool kept = false;           // the pass of the queue that is kept
    core::JobChoice choice;      // what the pass was built for, while `EngineImpl::choice` holds another one
    kernel::ProblemView visited{};
    kernel::PlaceRequest request{};
    core::PassResult result;
  };

  core::Reading read_kept(const StateImpl& s, const Request& request);
  bool decide_heads(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan);
  bool decide_changes(const StateImpl& s, PolicyState& policy_state, const Request& request, Plan& plan);
  void release_pass_memory(Plan& plan);
  void set_header(const StateImpl& s, const Request& request, Plan& plan) const;
  void check_sharing(const StateImpl& s) const;
  void require_valid(const std::vector<std::string>& violations) const;
  /// An attempt with the memory of an earlier one, so that nothing is allocated after a warm-up.
  PassAttempt take_memory();
  void keep_memory(PassAttempt&& attempt) { spare_.push_back(std::move(attempt)); }
  bool pass_kept(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request,
                 PassAttempt& attempt, Plan& plan);
  PassAttempt order_jobs(const StateImpl& s, core::PassInput& in, core::QueuePolicy& policy, std::span<const std::int32_t> of,
                         const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request, Plan& plan);
  void request_pass(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                    PassAttempt& attempt, Plan& plan);
  void ask_pass(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request, PassAttempt& attempt);
  bool repeat_pass(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                   core::StopToken& stop_token, PassAttempt& attempt, Plan& plan);
  void try_stuck_first(const StateImpl& s, core::PassInput& in, const core::PassInput::Marks& marks, const Request& request,
                       const core::StopToken& stop_token, PassAttempt& attempt, Plan& plan);
  TimeUs order_until(const StateImpl& s, core::PassInput& in, core::QueuePolicy& policy, PassAttempt& attempt);
  PassAttempt choose_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state,
                            const Request& request, core::StopToken& stop_token, Plan& plan);
  void pass_choice(const StateImpl& s, const core::PassInput::Marks& marks, const core::PassRules& rules, const Request& request,
                   PassAttempt& attempt, Plan& plan);
  /// What calls the operation `victims` on the backend of a request. The arguments must outlive it.
  auto victims_on_backend(const Request& request, Plan& plan) {
    return [this, &request, &plan](const kernel::ProblemView& p, const kernel::VictimsRequest& asked, const kernel::VictimsResult& answer) {
      plan.backend = backends.also(request.backend, request.threads, plan.backend_note,
                                   [&](core::PlacementBackend& backend) { backend.victims(p, asked, answer); });
    };
  }
  void place(const Request& request, core::StopToken* stop_token, PassAttempt& attempt, Plan& plan);
  PassAttempt place_shapes(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request,
                           PassAttempt best, core::StopToken& stop_token, Plan& plan);
  PassAttempt search_plans(const StateImpl& s, const core::PassInput::Marks& marks, const PolicyState& policy_state, const Request& request,
                           PassAttempt& begin, core::StopToken& stop_token, Plan& plan);
  void end_pass(const StateImpl& s, core::PassInput& in, PassAttempt& attempt);
  void build_plan(const StateImpl& s, core::PassInput& in, PassAttempt& attempt, Plan& plan, const core::OtherJobs* others = nullptr);
  PassAttempt better_of(const StateImpl& s, PassAttempt begin, PassAttempt found, Plan& plan);
  bool searches() const { return chosen.choice.search.population > 0; }

  std::vector<core::ObtainedShape> obtained_;     // [jobs of the choice]
  std::vector<std::int32_t> ordered_, position_;  // jobs of a pass of `kept`; [jobs of the state] where
  bool leaves_entitled_ = false;                  // the plan of the search leaves out a job that its queue is entitled to
  int quiet_ = 0;                                 // decisions in a row that the kept queue made alone
  std::vector<PassAttempt> spare_;                // of earlier attempts: only their memory counts; the last one is taken first
};

}  // namespace berth
