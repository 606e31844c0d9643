#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/state.hpp"

namespace berth::sim {

/// Writes what a policy in another language is asked (docs/policy-exec.md): the cluster once and where it changes, and at each decision
/// every job with what a policy may know. The truth of a trace is not in a state, so it cannot be told.
class ExecQuestion {
 public:
  /// The next question, from `hello` or `now` to `decide` and the padding behind it.
  /// @param declined  [slots] 1: the engine declines it; not told.
  const std::string& write(const ClusterState& state, const std::vector<std::uint8_t>& declined);

  std::size_t padding() const { return padding_; }  ///< bytes at the end that say nothing
  /// Whether the last question told of a job.
  bool told(std::int32_t slot) const { return !told_[static_cast<std::size_t>(slot)].empty(); }

 private:
  void nodes(const ClusterState& state);
  void ended(const ClusterState& state, const std::vector<std::uint8_t>& declined);
  void job(const ClusterState& state, std::int32_t slot);
  void pad();

  std::string text_;
  std::size_t padding_ = 0;
  std::size_t longest_line_ = 0;  // of all questions
  bool greeted_ = false;
  std::vector<std::uint64_t> told_open_;  // [nodes]
  std::vector<std::string> told_;         // [slots] id, empty: not told
};

}  // namespace berth::sim
