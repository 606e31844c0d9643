#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/state.hpp"
#include "host/forecast/futures.hpp"

namespace berth::sim {

/// A state as futures begin with it.
class PresentOf {
 public:
  /// @param rows  waiting jobs of the answer, by index in the state
  PresentOf(const ClusterState& state, const std::vector<std::int32_t>& rows, PolicyState policy_state);
  PresentOf(const PresentOf&) = delete;
  PresentOf& operator=(const PresentOf&) = delete;

  const Present& present() const { return present_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  void count_gpus();

  Snapshot begin_, counted_;
  Present present_;
  std::vector<std::string> notes_;
};

}  // namespace berth::sim
