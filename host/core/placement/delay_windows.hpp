#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/engine.hpp"
#include "host/core/policy_api/delay_rule.hpp"

namespace berth::core {

/// The timer of a level for gangs that waited so long for a domain of it, in leases: docs/dally.md, "The tuner".
/// @param rung  of `rungs` levels, 0: the node
std::int64_t tuned_leases(std::span<const TimeUs> waits, TimeUs lease_us, std::int64_t history, std::int32_t rung, std::int32_t rungs);

/// How long gangs waited for a domain of each level until they got one, by their GPUs: a moving window for each level and number of
/// GPUs, in the policy state. Times are whole microseconds.
class DelayWindows {
 public:
  static constexpr std::size_t kMostWaits = 4096;  ///< of a window; the oldest leave

  /// O(rows), and cheap where they are those that the last decision left.
  /// @param kept    null: no gang has waited yet
  /// @param levels  name of each, from the node up
  /// @throws InvalidArgument for a row that no window has
  void load(const PolicyState* kept, const std::vector<std::string>& levels, const DelayRule& rule);
  /// Changes with the windows.
  std::uint64_t version() const { return version_; }
  /// Numbers of GPUs of which `add` changed the windows, one for each version since that of the last other change.
  const std::vector<std::int64_t>& added() const { return added_; }
  /// The timer of gangs with this number of GPUs, in leases. O(1) from the second time on.
  std::int64_t leases(const DelayRule& rule, std::int32_t rung, std::int64_t gpus);
  /// A gang got GPUs in one domain of that level. Waits below a lease do not count, and what is older than the history leaves its
  /// window.
  void add(const DelayRule& rule, std::int32_t rung, std::int64_t gpus, TimeUs now, TimeUs wait);
  void store(PolicyState& kept);
  /// Whether `load` reads this column of a policy state.
  static bool is_column(std::string_view name);

 private:
  static constexpr std::size_t kMostAdded = 1024;

  struct Wait {
    TimeUs at, us;
    std::string row;  // in the column; empty: not there yet
  };
  using Window = std::vector<Wait>;
  struct Level {
    std::string name, column;
    std::map<std::int64_t, Window> windows;                  // by GPUs
    std::vector<std::pair<std::string, std::int64_t>> rows;  // of the column that `windows` are of
    std::map<std::int64_t, std::int64_t> leases;
    std::vector<std::string> gone;
    bool grew = false;
  };

  bool are_of(const PolicyState* kept, const std::vector<std::string>& levels, const DelayRule& rule) const;
  void drop_other_levels(PolicyState& kept) const;
  static void read(const std::map<std::string, std::int64_t>& column, Level& level);

  std::vector<Level> levels_;
  DelayRule rule_;
  bool changed_ = true;  // the windows are not those of `rows`
  std::uint64_t version_ = 0;
  std::vector<std::int64_t> added_;
  std::vector<TimeUs> waits_;
};

}  // namespace berth::core
