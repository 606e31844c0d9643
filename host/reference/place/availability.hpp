#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "host/reference/place/reservation.hpp"

namespace berth::reference {

/// A job that is to start later.
struct Reserved {
  std::int32_t job;
  const kernel::DemandRow* demand;
  std::vector<kernel::PlacedRow> entries;
  TimeUs from, to;  // kNever: not known
};

/// What is free over time: section 7 of docs/placement.md, "Conservative backfill".
class Availability {
 public:
  /// All arguments must outlive it.
  Availability(const kernel::ProblemView& p, TimeUs at_now, const State& now, const std::vector<TimedRelease>& events,
               const std::vector<Reserved>& reserved);

  /// Instants at which something is released, in ascending order.
  std::vector<TimeUs> releases() const;
  /// The least of what is free from `start` to `end`, and the usage of queues at the start. Without a start, from now, before anything
  /// is released.
  State window(std::optional<TimeUs> start, TimeUs end) const;
  /// Whether the queue has room for the demand at each instant of that time.
  bool has_quota(std::optional<TimeUs> start, TimeUs end, std::int32_t queue, const kernel::DemandRow& demand) const;

 private:
  struct Instant {
    std::vector<const TimedRelease*> released;
    std::vector<const Reserved*> ends, begins;
  };
  void pass(State& s, const Instant& instant) const;
  void each_state(std::optional<TimeUs> start, TimeUs end, const std::function<void(const State&)>& visit) const;

  const kernel::ProblemView& p_;
  const State& now_;
  std::map<TimeUs, Instant> instants_;
};

}  // namespace berth::reference
