#include "host/sim/exec_policy.hpp"

#include <fmt/format.h>

#include "host/core/decimal.hpp"
#include "host/core/state_impl.hpp"
#include "host/sim/exec_answer.hpp"

namespace berth::sim {

ExecPolicy::ExecPolicy(const std::string& command, TimeUs patience_us, const Request& request, core::Placement placement)
    : request_(request), placement_(placement), process_(command, patience_us) {}

void ExecPolicy::decide(const ClusterState& state, Plan& plan, std::vector<TurnedAway>& away) {
  const auto fail = [&](const std::string& what) {
    throw ExecPolicyError(fmt::format("policy '{}' at {}: {}", request_.policy, core::seconds_text(state.now()), what));
  };
  try {
    const std::string& text = question_.write(state, list_.begin(state.impl(), placement_));
    ExecAnswer answer = parse_exec_answer(process_.ask(text, question_.padding(), "done"), state, question_);
    const std::vector<std::string>& violations = list_.plan(state.impl(), answer.run, request_, plan);
    if (!violations.empty()) fail(fmt::format("its answer is not valid:\n  {}", fmt::join(violations, "\n  ")));
    plan.order_until_us = answer.wake_us;
    away = std::move(answer.away);
  } catch (const ProcessError& error) {
    fail(fmt::format("the program {}", error.what()));
  } catch (const ExecPolicyError&) {
    throw;
  } catch (const InvalidArgument& error) {
    fail(error.what());
  }
}

void ExecPolicy::finish() {
  try {
    process_.finish();
  } catch (const ProcessError& error) {
    throw ExecPolicyError(fmt::format("policy '{}' at its end: the program {}", request_.policy, error.what()));
  }
}

}  // namespace berth::sim
