#include <cstdint>
#include <span>
#include <vector>

#include "berth/error.hpp"
#include "berth/state.hpp"
#include "host/core/placement/rejections.hpp"
#include "host/core/quota/queue_standing.hpp"
#include "host/core/state/state_impl.hpp"

namespace berth {

std::vector<QueueStanding> queue_standings(const ClusterState& state, const Plan* plan) {
  if (plan != nullptr && plan->revision != state.revision()) throw InvalidArgument("the plan is of another revision of the state");
  const StateView view(state);
  if (plan != nullptr && !plan->changes_only) return core::queue_standings(view, plan);
  core::Rejections rejections;
  core::CertificateMemory certificates;
  return core::queue_standings(view, plan, rejections.reject(view, state.impl().problem(), certificates));
}

}  // namespace berth
