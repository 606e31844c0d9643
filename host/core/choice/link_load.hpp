#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/model/members_at_work.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Load of the links between nodes by the gangs of a plan: NICs of nodes and uplinks of switch domains, where their
/// bandwidth is stated. Ring all-reduce in the order of the domains; the shared-link model of Crux (SIGCOMM'24) without
/// its paths. Memory is kept between plans.
class LinkLoad {
 public:
  void set(const StateImpl& state, const Plan& plan);
  /// The greatest load of the links that a decision's gang uses, in millionths of the time; 0: it uses no links.
  std::int64_t of(std::size_t decision) const;

 private:
  void add(const StateImpl& state, const Plan& plan, const Decision& decision);

  std::vector<std::int64_t> load_;       // [nodes, domains]
  std::vector<std::int32_t> link_;       // of all gangs, one after another
  std::vector<std::size_t> link_begin_;  // [decisions + 1]
  std::vector<NodeGpus> nodes_;
};

}  // namespace berth::core
