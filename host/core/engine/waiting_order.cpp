#include "host/core/engine/waiting_order.hpp"

#include "berth/kernel/base/to_index.hpp"
#include "host/core/placement/pass_input.hpp"
#include "host/core/placement/pass_problem.hpp"
#include "host/core/placement/rejections.hpp"
#include "host/core/placement/tried_options.hpp"
#include "host/core/policy_api/chosen_policy.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth::core {

std::vector<std::int32_t> waiting_order(const ClusterState& state, const Request& request, const PolicyState& policy_state) {
  const StateImpl& s = state.impl();
  ChosenPolicy chosen;
  chosen.choose(request.policy, request.params);
  PassProblem problem;
  problem.build(s, chosen.rules);
  Rejections rejections;
  CertificateMemory certificates;
  const std::vector<std::uint8_t>& rejected = rejections.reject(s, problem.view(), certificates);
  std::vector<std::int32_t> waiting;
  const auto add = [&](std::int32_t job) {
    if (s.job.running[to_index(job)] == 0 && rejected[to_index(job)] == 0) waiting.push_back(job);
  };
  if (chosen.policy == nullptr) {
    for (const std::int32_t job : s.job_order) add(job);
    return waiting;
  }
  TriedOptions tried;
  tried.build(s, problem.view(), chosen.shape, rejections);
  const PassInput::Marks marks{problem.lost(), problem.failures(), rejected};
  PassInput input;
  input.order(s, *chosen.entry, *chosen.policy, policy_state, marks, tried, chosen.rules);
  const kernel::PlaceRequest ordered = input.request(s, *chosen.entry, chosen.rules, marks, 0, {}, &tried);
  for (std::int32_t i = 0; i < ordered.n; ++i) add(ordered.order[i]);
  return waiting;
}

}  // namespace berth::core
