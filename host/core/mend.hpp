#pragma once

#include <cstdint>
#include <vector>

#include "berth/plan.hpp"
#include "host/core/final_state.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Mends gangs after node or GPU failures without evicting them: docs/placement.md section 8.
class Mender {
 public:
  /// Places the lost members of a running job again. On success `out` gets the whole gang in rank order and `now` is charged with
  /// what is new; on failure both are as before.
  bool mend(const StateImpl& state, std::int32_t slot, FinalState& now, std::vector<PlanEntry>& out);

 private:
  struct Member {
    std::int32_t row, member, node;  // row of the demand; node kNone while lost
    std::uint64_t mask;
    bool is_new;
  };
  bool place_lost(const StateImpl& state, const kernel::DemandRow& demand, TimeUs end, FinalState& now, bool spares_only);
  bool allowed(const StateImpl& state, const kernel::DemandRow& demand, const Member& lost, std::int32_t node) const;

  std::vector<Member> members_, trial_;
};

}  // namespace berth::core
