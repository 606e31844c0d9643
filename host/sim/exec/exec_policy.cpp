#include "host/sim/exec/exec_policy.hpp"

#include <fmt/format.h>

#include <utility>

#include "host/core/base/decimal.hpp"
#include "host/core/state/state_view.hpp"
#include "host/sim/exec/exec_answer.hpp"

namespace berth::sim {

ExecPolicy::ExecPolicy(const std::string& command, TimeUs timeout_us, const Request& request, core::Packing packing,
                       std::function<bool()> stopped)
    : request_(request), packing_(packing), process_(command, timeout_us, std::move(stopped)) {}

void ExecPolicy::decide(const ClusterState& state, Plan& plan, std::vector<Rejected>& away) {
  const auto fail = [&](const std::string& what) {
    throw ExecPolicyError(fmt::format("policy '{}' at {}: {}", request_.policy, core::seconds_text(state.now()), what));
  };
  try {
    const std::string& text = question_.write(state, list_.begin(state, packing_));
    ExecAnswer answer = parse_exec_answer(process_.ask(text, question_.padding(), "done"), state, question_);
    const std::vector<std::string>& violations = list_.plan(state, answer.run, request_, plan);
    if (!violations.empty()) fail(fmt::format("its answer is not valid:\n  {}", fmt::join(violations, "\n  ")));
    plan.order_until_us = answer.wake_us;
    away = std::move(answer.away);
  } catch (const ProcessError& error) {
    fail(fmt::format("the program {}", error.what()));
  } catch (const ProcessStopped& stopped) {
    throw DecisionStopped(stopped.what());
  } catch (const ExecPolicyError&) {
    throw;
  } catch (const InvalidArgument& error) {
    fail(error.what());
  }
}

void ExecPolicy::finish() {
  try {
    process_.finish();
  } catch (const ProcessStopped&) {  // all is decided; its end need not be seen
  } catch (const ProcessError& error) {
    throw ExecPolicyError(fmt::format("policy '{}' at its end: the program {}", request_.policy, error.what()));
  }
}

}  // namespace berth::sim
