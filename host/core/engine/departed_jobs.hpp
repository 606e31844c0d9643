#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/state/change_log.hpp"

namespace berth {
class StateImpl;
}

namespace berth::core {

/// Jobs that left a state since its last decision, so that their rows leave the policy state without a look at all rows.
class DepartedJobs {
 public:
  /// At the begin of a decision. O(changes of the state), or O(jobs) where `left` is not known then.
  /// @param policy  version of the policy
  void follow(const StateImpl& state, const PolicyState& kept, std::uint64_t policy);
  /// Ids of jobs that had rows at most until the last decision. Null: others may have rows, too.
  const std::vector<std::string>* left() const { return known_ ? &left_ : nullptr; }
  /// At the end of a decision: rows of other jobs than those of the state have left `kept`.
  void settle(const PolicyState& kept);

 private:
  const PolicyState* kept_ = nullptr;
  std::size_t rows_ = 0;
  std::uint64_t policy_ = 0;
  bool known_ = false;  // the policy state is the one that the last decision left, with as many rows
  ChangeLog::Cursor cursor_;
  std::vector<std::string> ids_, left_;  // [jobs of the state] empty: none
  std::vector<std::int32_t> jobs_, nodes_;
};

}  // namespace berth::core
