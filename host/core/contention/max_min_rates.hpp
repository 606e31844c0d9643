#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "host/core/contention/max_min_flow.hpp"

namespace berth::core {

/// Max-min fair rates of flows that come and go. Levels are exactly those of `max_min_levels`; only links whose level may
/// change are looked at.
///
/// The level of a link depends on flows that freeze below it alone. So links are settled by ascending level, as in
/// LPA*: a link whose level is not what its flows say waits in a queue by the smaller of both, and everything below the
/// queue's least is final.
class MaxMinRates {
 public:
  /// @param capacity  bytes per second of each link; 0: failed, its flows get nothing
  /// @throws InvalidArgument as check_capacities.
  explicit MaxMinRates(std::vector<std::int64_t> capacity);

  /// A flow comes. `id` must not be there. O(rows of the flow).
  /// @throws InvalidArgument as check_flow.
  void add(std::int32_t id, MaxMinFlow flow);
  /// A flow leaves; nothing where it is not there. O(flows on its links).
  void remove(std::int32_t id);
  /// Finds the rates after these changes: from nothing where most flows are new, or after reading as many rows as there are.
  /// @returns the flows whose rate is another than before, ascending; valid until the next call
  std::span<const std::int32_t> settle();

  /// In 1/1024 byte per second; 0 for a flow that is not there.
  std::int64_t rate(std::int32_t id) const { return level(id) * weight(id); }
  std::int64_t level(std::int32_t id) const { return is_there(id) ? at(id).level : 0; }
  bool is_there(std::int32_t id) const { return static_cast<std::size_t>(id) < flows_.size() && at(id).is_there; }
  const MaxMinFlow& flow(std::int32_t id) const { return at(id).flow; }
  /// Links settled by the last `settle`, for measurements; all of them where it began from nothing.
  std::int64_t links_settled() const { return links_settled_; }

 private:
  struct Entry {
    MaxMinFlow flow;
    bool is_there = false, is_changed = false;
    std::int64_t level = 0, level_before = 0;
    std::int64_t least = kNoLevel, second = kNoLevel;  // of its links' levels and its demand's
    std::int32_t least_link = -1;                      // -1: the demand
  };
  struct OnLink {
    std::int32_t flow;
    std::int64_t weight;  // part x weight
  };
  struct Link {
    std::int64_t level = kNoLevel;  // at which it is saturated
    std::int64_t asked = kNoLevel;  // what its flows say
    bool is_stale = false;          // `asked` is to be computed again
    std::vector<OnLink> on;
  };
  Entry& at(std::int32_t id) { return flows_[static_cast<std::size_t>(id)]; }
  const Entry& at(std::int32_t id) const { return flows_[static_cast<std::size_t>(id)]; }
  std::int32_t weight(std::int32_t id) const { return is_there(id) ? at(id).flow.weight : 0; }
  std::int64_t level_asked(std::int32_t link);
  void bound(Entry& entry) const;
  void mark(std::int32_t id);
  void make_stale(std::int32_t link, std::int64_t key);
  void set_level(std::int32_t link, std::int64_t level, std::int64_t key);
  void fill();

  std::vector<std::int64_t> capacity_;
  std::vector<Link> links_;
  std::vector<Entry> flows_;
  using Event = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> queue_;  // (level, link); may be out of date
  std::vector<std::int32_t> changed_, reported_;
  std::int64_t n_flows_ = 0, n_new_ = 0, n_rows_ = 0, links_settled_ = 0, rows_read_ = 0;
};

}  // namespace berth::core
