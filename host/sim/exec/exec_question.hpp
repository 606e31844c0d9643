#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/state.hpp"

namespace berth::sim {

/// Writes the question for an external policy (docs/policy-exec.md): the cluster once and on changes, and at each
/// decision every job with the information available to policies. A state does not contain the truth of a trace, so the
/// question cannot either.
class ExecQuestion {
 public:
  /// The next question, from `hello` or `now` to `decide` and the padding after it.
  /// @param rejected  [jobs of the state] 1: the engine rejects it; not sent.
  const std::string& write(const ClusterState& state, const std::vector<std::uint8_t>& rejected);

  std::size_t padding() const { return padding_; }  ///< bytes of padding at the end, without information
  /// Whether the last question contained a job.
  bool reported(std::int32_t job) const { return !reported_[static_cast<std::size_t>(job)].empty(); }

 private:
  void nodes(const ClusterState& state);
  void ended(const ClusterState& state, const std::vector<std::uint8_t>& rejected);
  void add_job(const ClusterState& state, std::int32_t job);
  void pad();

  std::string text_;
  std::size_t padding_ = 0;
  std::size_t longest_line_ = 0;  // of all questions
  bool greeted_ = false;
  std::vector<std::uint64_t> reported_open_;  // [nodes]
  std::vector<std::string> reported_;         // [jobs of the state] id, empty: not sent
};

}  // namespace berth::sim
